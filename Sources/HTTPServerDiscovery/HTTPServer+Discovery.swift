public import HTTPServerCore

extension HTTPServer {
    /// Calls `start` with the port when the server listens, now or later, and `stop` when it no
    /// longer listens, until the task is cancelled. It retains the server until then.
    fileprivate func whileListening(
        start: (UInt16) -> Void, stop: () async -> Void
    ) async {
        // The stream is created first, so that no event after reading the addresses is missed.
        let events = self.events
        if let port = addresses.compactMap(\.port).first { start(port) }
        for await event in events {
            switch event {
            case .started(let addresses), .resumed(let addresses), .rebound(let addresses):
                if let port = addresses.compactMap(\.port).first { start(port) }
            case .suspended, .stopped, .failed: await stop()
            case .connected, .disconnected: break
            }
        }
        await stop()
    }
}

extension BonjourAdvertisement {
    /// Announces a server while it listens: the announcement is withdrawn when the server is
    /// suspended or stops, and made again when it is resumed or started. When the task is
    /// cancelled, withdraws the announcement and returns.
    @concurrent
    public func follow(_ server: HTTPServer) async {
        await server.whileListening {
            start(port: $0)
        } stop: {
            await stop()
        }
    }
}

extension NATPortMapper {
    /// Keeps a mapping to a server while it listens: the mapping is removed when the server is
    /// suspended or stops, and requested again when it is resumed or started. When the task is
    /// cancelled, removes the mapping and returns.
    @concurrent
    public func follow(_ server: HTTPServer) async {
        await server.whileListening {
            start(port: $0)
        } stop: {
            await stop()
        }
    }
}

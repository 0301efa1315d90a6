public import HTTPServerCore

extension HTTPServer {
    /// Calls `start` with the port when the server listens, now or later, and `stop` when it
    /// does not any more, until the task is cancelled. It holds the server until then.
    fileprivate func whileListening(
        start: (UInt16) -> Void, stop: () async -> Void
    ) async {
        // The stream first: what happens after the look at the addresses must not be missed.
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
    /// Announces a server while it listens: the announcement is taken back when it is suspended
    /// or stops, and made again when it is resumed or started. Returns when the task is
    /// cancelled, with the announcement taken back.
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
    /// Keeps a mapping to a server while it listens: it is taken back when the server is
    /// suspended or stops, and asked for again when it is resumed or started. Returns when the
    /// task is cancelled, with the mapping taken back.
    @concurrent
    public func follow(_ server: HTTPServer) async {
        await server.whileListening {
            start(port: $0)
        } stop: {
            await stop()
        }
    }
}

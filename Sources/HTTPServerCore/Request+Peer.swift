internal import Synchronization

extension Request {
    /// Whether the client still waits for the answer, as far as is known now: it has not closed the
    /// connection.
    ///
    /// A client that has ended its stream counts as gone. It may still read (RFC 9293 section
    /// 3.6), but TCP does not tell that from a program that was killed, so this is to be asked
    /// only before something that no client may miss is done late.
    package func isAwaited() async -> Bool {
        let info = storage.connection
        let isAwaited: @Sendable () -> Bool = {
            let client = info.loop.client(info.token.load(ordering: .relaxed))
            guard let connection = client as? Connection, connection.info === info else {
                return false
            }
            return unsafe !connection.state.peerHasEnded
        }
        if info.loop.isCurrent { return isAwaited() }
        return await withCheckedContinuation { continuation in
            info.loop.execute { continuation.resume(returning: isAwaited()) }
        }
    }
}

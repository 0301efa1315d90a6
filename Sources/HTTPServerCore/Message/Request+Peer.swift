extension Request {
    /// Whether the client still waits for the answer, as far as is known now: it has not closed the
    /// connection.
    ///
    /// A client that has ended its stream counts as gone. It may still read (RFC 9293 section 3.6),
    /// but TCP cannot distinguish that from a killed program, so check this only before late work
    /// that no client may miss.
    package func isAwaited() async -> Bool {
        await ask { connection in unsafe !connection.state.peerHasEnded }
    }

    /// Whether an endless answer may continue: the client still waits, as far as is known, and the
    /// server is not about to stop.
    package func isServed() async -> Bool {
        await ask { connection in
            unsafe !connection.state.peerHasEnded && !connection.state.isShuttingDown
        }
    }

    /// Asks the connection on its loop; `false` when it is closed.
    private func ask(_ question: @escaping @Sendable (Connection) -> Bool) async -> Bool {
        let loop = storage.connection.loop
        let answer: @Sendable () -> Bool = { openConnection.map(question) ?? false }
        if loop.isCurrent { return answer() }
        return await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: answer()) }
        }
    }
}

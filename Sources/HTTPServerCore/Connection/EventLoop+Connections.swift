internal import ToolkitSystem

/// The connections of a loop. Confined to the loop.
extension EventLoop {
    package func forEachConnection(_ body: (Connection) -> Void) {
        forEachClient { client in
            if let connection = client as? Connection { body(connection) }
        }
    }

    /// Closes the connection that has been idle for longest. When none is idle, the next search
    /// waits 100 ms: otherwise a flood of new connections would scan all connections once for each
    /// of them. A connection that becomes idle in that time is found without a search.
    /// - Returns: `false` when none is idle.
    func closeLongestIdle() -> Bool {
        var hasLooked = false
        while true {
            while let oldest = idle.found.popLast() {
                guard let connection = client(oldest.token) as? Connection,
                    connection.idleSince == oldest.since
                else { continue }
                if connection.giveWay() { return true }
            }
            if hasLooked { idle.busyUntil = now &+ IdleConnections.busyTime }
            guard now >= idle.busyUntil else { return false }
            hasLooked = true
            findIdle()
        }
    }

    /// Finds up to `IdleConnections.batch` idle connections, which saves a scan for each of them.
    private func findIdle() {
        forEachConnection { connection in
            if let since = connection.idleSince { idle.found.append((since, connection.token)) }
        }
        idle.found.sort { $0.since > $1.since }
        idle.found.removeFirst(max(idle.found.count - IdleConnections.batch, 0))
    }
}

/// The idle connections of a loop. Confined to the loop.
struct IdleConnections {
    /// Some of those that were idle for long when it was looked last, the oldest at the end.
    var found: [(since: UInt64, token: UInt64)] = []
    /// Until when it is taken for granted that none is idle.
    var busyUntil: UInt64 = 0

    static let batch = 64
    static let busyTime: UInt64 = 100_000_000
}

extension EventLoop {
    /// Closes the connection that has been idle for longest. When none is idle, the next search
    /// waits 100 ms: otherwise a flood of new connections would scan all connections once for each
    /// of them.
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

    /// Finds some at a time: a scan of all connections for each new one would take long.
    private func findIdle() {
        forEachConnection { connection in
            if let since = connection.idleSince { idle.found.append((since, connection.token)) }
        }
        idle.found.sort { $0.since > $1.since }
        idle.found.removeFirst(max(idle.found.count - IdleConnections.batch, 0))
    }
}

/// The idle connections of a loop. Confined to the loop.
package struct IdleConnections {
    /// Up to `batch` connections: the longest idle ones at the last scan, or those that became idle
    /// after a scan that found none. The connection that is idle for longest is the last element.
    package var found: [(since: UInt64, token: UInt64)] = []
    /// The time before which no new scan starts, because the last scan found no idle connection.
    package var busyUntil: UInt64 = 0

    package static let batch = 64
    package static let busyTime: UInt64 = 100_000_000

    package init() {}

    package mutating func add(_ token: UInt64, at since: UInt64) {
        found.removeAll { $0.token == token }
        // More are idle than fit, so the next scan finds those that are idle for longest.
        guard found.count < Self.batch else {
            busyUntil = 0
            return
        }
        found.insert((since, token), at: 0)
    }
}

/// The idle connections of a loop. Confined to the loop.
package struct IdleConnections {
    /// Up to `batch` connections that were idle longest at the last scan, or have become idle since
    /// one that found none; the oldest at the end.
    package var found: [(since: UInt64, token: UInt64)] = []
    /// The time before which no new scan starts, because the last one found no idle connection.
    package var busyUntil: UInt64 = 0

    package static let batch = 64
    package static let busyTime: UInt64 = 100_000_000

    package init() {}

    package mutating func add(_ token: UInt64, at since: UInt64) {
        found.removeAll { $0.token == token }
        // There are more than fit: the next search finds those that are idle for longest.
        guard found.count < Self.batch else {
            busyUntil = 0
            return
        }
        found.insert((since, token), at: 0)
    }
}

internal import HTTPParser

/// How often logins from which networks failed lately. It slows guessing down: after some failures
/// one more try a second is taken, and those that would have to wait too long are refused.
///
/// What is remembered as right is not asked about, so who is logged in is not held up by a guesser
/// behind the same address.
package struct FailureTable: Sendable {
    /// What a try has to do.
    package enum Wait: Equatable, Sendable {
        case none
        /// Nanoseconds.
        case time(UInt64)
        /// Give up: too many wait already.
        case refused
    }

    private struct Entry: Sendable {
        var failures = 0
        var last: UInt64 = 0
        /// The earliest time of the next try.
        var next: UInt64 = 0
    }

    /// Failures that cost nothing: people mistype.
    package static let allowance = 10
    /// The time between tries after that.
    package static let spacing: UInt64 = 1_000_000_000
    /// Tries that would have to wait longer are refused.
    package static let longestWait: UInt64 = 10_000_000_000
    /// How long failures are remembered after the last of them.
    package static let memory: UInt64 = 300_000_000_000

    private var entries: [PeerNetwork: Entry] = [:]
    private let limit: Int

    /// - Parameter limit: how many networks are remembered at most; above it the one whose failure
    ///   is the longest ago is forgotten.
    package init(limit: Int = 4_096) {
        self.limit = max(limit, 1)
    }

    package var count: Int { entries.count }

    /// Whether a try from there has to wait.
    package func isHeldUp(_ network: PeerNetwork, now: UInt64) -> Bool {
        guard let entry = entries[network] else { return false }
        return entry.failures >= Self.allowance && now &- entry.last < Self.memory
    }

    /// Takes a place in the row of tries from there.
    package mutating func wait(_ network: PeerNetwork, now: UInt64) -> Wait {
        guard isHeldUp(network, now: now), var entry = entries[network] else { return .none }
        let turn = max(entry.next, now)
        guard turn - now <= Self.longestWait else { return .refused }
        entry.next = turn + Self.spacing
        entries[network] = entry
        return turn > now ? .time(turn - now) : .none
    }

    /// A try from there has failed.
    package mutating func failed(_ network: PeerNetwork, now: UInt64) {
        var entry = entries[network] ?? Entry()
        if now &- entry.last >= Self.memory { entry.failures = 0 }
        entry.failures = min(entry.failures + 1, Self.allowance)
        entry.last = now
        if entries[network] == nil, entries.count >= limit { forget(now) }
        entries[network] = entry
    }

    private mutating func forget(_ now: UInt64) {
        entries = entries.filter { now &- $0.value.last < Self.memory }
        guard entries.count >= limit else { return }
        let times = entries.values.map(\.last).sorted()
        let newest = times[(entries.count - 1) / 4]
        entries = entries.filter { $0.value.last > newest }
    }
}

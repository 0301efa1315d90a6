internal import HTTPParser
package import ToolkitSystem

/// Counts recent failed logins by network and user, to slow guessing. After some failures it allows
/// one try a second, and refuses a try that would have to wait too long.
///
/// A whole office may share one address, so failures delay logins of the user that they named, and
/// of other users only after many more. A user who has logged in from the network before is not
/// delayed with the cached password (`admitsKnown`). Such an immediate answer reveals whether a
/// guess was right, so guesses are limited: one a second on average, with a burst of as many as
/// `memory` has seconds. Above that, the user waits like others.
package struct FailureTable: Sendable {
    /// The decision on an attempt to log in.
    package enum Wait: Equatable, Sendable {
        case none
        /// Wait for this many nanoseconds.
        case time(UInt64)
        /// Refuse: the wait would be longer than `longestWait`.
        case refused
    }

    private struct Entry: Sendable {
        var failures = 0
        var last: UInt64 = 0
        /// The earliest time of the next try.
        var next: UInt64 = 0
    }

    /// A user name, in logins from one network.
    private struct Place: Hashable, Sendable {
        var network: PeerNetwork
        var user: UInt64
    }

    /// The failures of a user before logins are delayed: people mistype.
    package static let allowance = 10
    /// The failures of all users of a network before all its logins are delayed.
    package static let networkAllowance = 100
    /// The time between tries after that, in nanoseconds.
    package static let spacing: UInt64 = 1_000_000_000
    /// The longest delay, in nanoseconds. Tries that would have to wait longer are refused.
    package static let longestWait: UInt64 = 10_000_000_000
    /// How long failures are remembered after the last one, in nanoseconds. Divided by `spacing`,
    /// it is also the most guesses at a known user's password in one burst.
    package static let memory: UInt64 = 300_000_000_000

    private var users: [Place: Entry] = [:]
    private var networks: [PeerNetwork: Entry] = [:]
    /// The users who have logged in, each with the time up to which guesses have used the allowed
    /// rate: each guess that was compared with the cached password adds a second.
    private var known: [Place: UInt64] = [:]
    private let limit: Int

    /// - Parameter limit: the most users, the most networks and the most known users that are
    ///   remembered; above it the oldest entries are forgotten.
    package init(limit: Int = 4_096) {
        self.limit = max(limit, 1)
    }

    package var count: Int { max(users.count, networks.count, known.count) }

    /// Whether a login of a user from a network is subject to delays.
    package func isHeldUp(_ network: PeerNetwork, user: UInt64, now: UInt64) -> Bool {
        holds(users[Place(network: network, user: user)], Self.allowance, now)
            || holds(networks[network], Self.networkAllowance, now)
    }

    private func holds(_ entry: Entry?, _ allowance: Int, _ now: UInt64) -> Bool {
        guard let entry else { return false }
        return entry.failures >= allowance && Self.age(of: entry, now) < Self.memory
    }

    /// The nanoseconds since the last failure. The clock is read before the lock is taken, so
    /// another loop may have stored a later time; then the result is 0.
    private static func age(of entry: Entry, _ now: UInt64) -> UInt64 {
        now > entry.last ? now - entry.last : 0
    }

    /// Whether cached credentials may be accepted without a delay.
    package func admitsKnown(_ network: PeerNetwork, user: UInt64, now: UInt64) -> Bool {
        guard isHeldUp(network, user: user, now: now) else { return true }
        guard let end = known[Place(network: network, user: user)] else { return false }
        return end <= now || end - now <= Self.memory
    }

    /// Counts a guess that was compared with the cached password and differs from it. A guess that
    /// is refused without this comparison reveals nothing, and is not counted.
    package mutating func missed(_ network: PeerNetwork, user: UInt64, now: UInt64) {
        let place = Place(network: network, user: user)
        guard let end = known[place] else { return }
        known[place] = min(max(end, now) + Self.spacing, now + Self.memory + Self.spacing)
    }

    /// Reserves the next time for a try.
    package mutating func wait(_ network: PeerNetwork, user: UInt64, now: UInt64) -> Wait {
        let place = Place(network: network, user: user)
        let isUserHeld = holds(users[place], Self.allowance, now)
        let isNetworkHeld = holds(networks[network], Self.networkAllowance, now)
        guard isUserHeld || isNetworkHeld else { return .none }
        var turn = now
        if isUserHeld { turn = max(turn, users[place]?.next ?? now) }
        if isNetworkHeld { turn = max(turn, networks[network]?.next ?? now) }
        guard turn - now <= Self.longestWait else { return .refused }
        if isUserHeld { users[place]?.next = turn + Self.spacing }
        if isNetworkHeld { networks[network]?.next = turn + Self.spacing }
        return turn > now ? .time(turn - now) : .none
    }

    /// Records a failed login.
    package mutating func failed(_ network: PeerNetwork, user: UInt64, now: UInt64) {
        let place = Place(network: network, user: user)
        Self.note(&users, place, Self.allowance, now, limit)
        Self.note(&networks, network, Self.networkAllowance, now, limit)
    }

    /// Records a login. It was not a guess, so a second of the used rate is given back.
    package mutating func succeeded(_ network: PeerNetwork, user: UInt64, now: UInt64) {
        let place = Place(network: network, user: user)
        if let end = known[place] {
            known[place] = end > now + Self.spacing ? end - Self.spacing : now
            return
        }
        if known.count >= limit { known = Self.newer(known, limit) { $0 } }
        known[place] = now
    }

    private static func note<Key: Hashable>(
        _ entries: inout [Key: Entry], _ key: Key, _ allowance: Int, _ now: UInt64, _ limit: Int
    ) {
        var entry = entries[key] ?? Entry()
        if age(of: entry, now) >= memory { entry.failures = 0 }
        entry.failures = min(entry.failures + 1, allowance)
        entry.last = max(entry.last, now)
        if entries[key] == nil, entries.count >= limit {
            entries = entries.filter { age(of: $0.value, now) < memory }
            if entries.count >= limit { entries = newer(entries, limit) { $0.last } }
        }
        entries[key] = entry
    }

    /// The entries without the oldest quarter; none if too many have the same time.
    private static func newer<Key: Hashable, Value>(
        _ entries: [Key: Value], _ limit: Int, _ time: (Value) -> UInt64
    ) -> [Key: Value] {
        let times = entries.values.map(time).sorted()
        let oldest = times[(entries.count - 1) / 4]
        let kept = entries.filter { time($0.value) > oldest }
        return kept.count < limit ? kept : [:]
    }
}

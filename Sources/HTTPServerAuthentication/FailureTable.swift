internal import HTTPParser
package import ToolkitSystem

/// Counts recent failed logins by the network that they came from and the user that they named. It
/// slows guessing: after some failures it lets one try a second pass, and refuses a try that would
/// have to wait too long.
///
/// A whole office may share one address: a guesser delays the user whose password is guessed, and
/// the others only after many more failures. A user who has logged in from there before passes at
/// once with the cached password (`admitsKnown`). An immediate answer reveals a right guess, so it
/// has a limit: one guess a second, and as many at once as `memory` has seconds. Above it, that
/// user waits like others.
package struct FailureTable: Sendable {
    /// The decision on an attempt to log in.
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

    /// A user as seen from a network.
    private struct Place: Hashable, Sendable {
        var network: PeerNetwork
        var user: UInt64
    }

    /// Failures of a user that cost nothing: people mistype.
    package static let allowance = 10
    /// Failures of all users of a network that cost nothing.
    package static let networkAllowance = 100
    /// The time between tries after that.
    package static let spacing: UInt64 = 1_000_000_000
    /// Tries that would have to wait longer are refused.
    package static let longestWait: UInt64 = 10_000_000_000
    /// How long failures are remembered after the last one. Divided by `spacing`, it is also the
    /// number of guesses at a known user's password that may come at once.
    package static let memory: UInt64 = 300_000_000_000

    private var users: [Place: Entry] = [:]
    private var networks: [PeerNetwork: Entry] = [:]
    /// Users who have logged in. The time is the end of the seconds that guesses have used up: each
    /// guess that was compared with the cached password takes one.
    private var known: [Place: UInt64] = [:]
    private let limit: Int

    /// - Parameter limit: how many users, networks and known users are remembered at most; above it
    ///   the oldest entries are forgotten.
    package init(limit: Int = 4_096) {
        self.limit = max(limit, 1)
    }

    package var count: Int { max(users.count, networks.count, known.count) }

    /// Whether a try for a user from there has to wait.
    package func isHeldUp(_ network: PeerNetwork, user: UInt64, now: UInt64) -> Bool {
        holds(users[Place(network: network, user: user)], Self.allowance, now)
            || holds(networks[network], Self.networkAllowance, now)
    }

    private func holds(_ entry: Entry?, _ allowance: Int, _ now: UInt64) -> Bool {
        guard let entry else { return false }
        return entry.failures >= allowance && Self.age(of: entry, now) < Self.memory
    }

    /// How long ago the last failure was. The clock is read before the lock is taken, so another
    /// loop may have stored a later time; the result is 0 then.
    private static func age(of entry: Entry, _ now: UInt64) -> UInt64 {
        now > entry.last ? now - entry.last : 0
    }

    /// Whether credentials that are known to be right are let through at once.
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

    /// Takes the next turn in the queue of tries from there.
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

    /// A try from there has failed.
    package mutating func failed(_ network: PeerNetwork, user: UInt64, now: UInt64) {
        let place = Place(network: network, user: user)
        Self.note(&users, place, Self.allowance, now, limit)
        Self.note(&networks, network, Self.networkAllowance, now, limit)
    }

    /// A user has logged in from there: that was no guess.
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

    /// All but the oldest quarter.
    private static func newer<Key: Hashable, Value>(
        _ entries: [Key: Value], _ limit: Int, _ time: (Value) -> UInt64
    ) -> [Key: Value] {
        let times = entries.values.map(time).sorted()
        let oldest = times[(entries.count - 1) / 4]
        let kept = entries.filter { time($0.value) > oldest }
        return kept.count < limit ? kept : [:]
    }
}

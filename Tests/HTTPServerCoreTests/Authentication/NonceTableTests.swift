import HTTPServerAuthentication
import HTTPServerCore
import Testing
import ToolkitSystem

@Suite("RFC 7616, 3.4: Counts of nonces")
struct NonceTableTests {
    private var table = NonceTable(limit: 8, lifetime: 1_000)

    @Test("Each count is accepted once; late counts are accepted within a window")
    mutating func counts() {
        var uses: [NonceTable.Use] = []
        for count: UInt32 in [1, 1, 2, 5, 4, 4, 3, 5, 0, 70, 7, 6, 69, 69, 1_000, 1_000, 936, 937] {
            uses.append(table.use(id: 7, issued: 100, count: count, now: 200))
        }
        #expect(
            uses == [
                .first, .repeated, .first, .first, .first, .repeated, .first, .repeated, .repeated,
                .first, .first, .repeated, .first, .repeated, .first, .repeated, .repeated, .first,
            ])
        #expect(table.use(id: 7, issued: 100, count: .max, now: 200) == .first)
        #expect(table.use(id: 7, issued: 100, count: .max, now: 200) == .repeated)
        #expect(table.use(id: 7, issued: 100, count: .max - 63, now: 200) == .first)
        #expect(table.use(id: 7, issued: 100, count: .max - 64, now: 200) == .repeated)
    }

    @Test("A clock reading older than a nonce's issue drops no nonce in use")
    mutating func earlierClock() {
        for id: UInt64 in 1...8 {
            #expect(table.use(id: id, issued: 1_000, count: 1, now: 1_000) == .first)
        }
        _ = table.use(id: 9, issued: 850, count: 1, now: 900)
        #expect(table.use(id: 8, issued: 1_000, count: 1, now: 1_000) != .first)
    }

    @Test("Every count of a long dialogue is accepted once, in steps of any width")
    mutating func steps() {
        var count: UInt32 = 0
        for step: UInt32 in 1..<200 {
            count += step
            #expect(table.use(id: 1, issued: 1, count: count, now: 2) == .first)
            #expect(table.use(id: 1, issued: 1, count: count, now: 2) == .repeated)
        }
    }

    @Test("A nonce expires after its lifetime, and each nonce has its own counts")
    mutating func time() {
        #expect(table.use(id: 1, issued: 100, count: 1, now: 1_099) == .first)
        #expect(table.use(id: 2, issued: 100, count: 1, now: 1_099) == .first)
        #expect(table.use(id: 1, issued: 100, count: 2, now: 1_100) == .expired)
        #expect(!table.contains(1) && table.contains(2))
        #expect(table.use(id: 3, issued: 2_000, count: 1, now: 1_100) == .expired)
    }

    @Test("The table is bounded, and a dropped nonce is never accepted again")
    mutating func limit() {
        for id: UInt64 in 1...1_000 {
            let use = table.use(id: id, issued: 100 + id / 4, count: 1, now: 400)
            #expect(use == .first || use == .expired)
            #expect(table.count <= 8)
        }
        var taken = 0
        for id: UInt64 in 1...1_000 {
            if table.use(id: id, issued: 100 + id / 4, count: 1, now: 400) == .first { taken += 1 }
        }
        #expect(taken == 0)
    }

    @Test("Of a user's unused nonces the last one is kept")
    mutating func expected() {
        table.expect(id: 1, issued: 100, user: 5, now: 200)
        table.expect(id: 2, issued: 100, user: 5, now: 200)
        table.expect(id: 3, issued: 100, user: 6, now: 200)
        #expect(!table.contains(1, by: 5))
        #expect(table.contains(2, by: 5) && table.contains(3, by: 6))
        #expect(table.use(id: 2, issued: 100, count: 1, user: 5, now: 200) == .first)
        table.expect(id: 4, issued: 100, user: 5, now: 200)
        #expect(table.use(id: 2, issued: 100, count: 1, user: 5, now: 200) == .repeated)
        #expect(table.contains(4, by: 5) && table.count == 3)
    }

    @Test("A full table drops expired nonces first")
    mutating func room() {
        for id: UInt64 in 1...7 { _ = table.use(id: id, issued: 100, count: 1, now: 200) }
        _ = table.use(id: 8, issued: 900, count: 1, now: 1_000)
        #expect(table.use(id: 9, issued: 1_400, count: 1, now: 1_500) == .first)
        #expect(table.count == 2)
        #expect(table.use(id: 8, issued: 900, count: 2, now: 1_500) == .first)
    }
}

@Suite("Failed logins")
struct FailureTableTests {
    private var table = FailureTable(limit: 8)
    private let one = PeerNetwork(bits: 1, isIPv6: false)
    private let second: UInt64 = 1_000_000_000

    private mutating func fail(
        _ network: PeerNetwork, _ times: Int, _ now: UInt64, user: UInt64 = 1
    ) {
        for _ in 0..<times { table.failed(network, user: user, now: now) }
    }

    @Test("A few failures are free, then tries are one second apart, then refused")
    mutating func row() {
        fail(one, FailureTable.allowance - 1, second)
        #expect(!table.isHeldUp(one, user: 1, now: second))
        #expect(table.wait(one, user: 1, now: second) == .none)
        fail(one, 1, second)
        #expect(table.isHeldUp(one, user: 1, now: second))
        var waits: [FailureTable.Wait] = []
        for _ in 0..<13 { waits.append(table.wait(one, user: 1, now: second)) }
        let expected: [FailureTable.Wait] =
            [.none] + (1...10).map { .time($0 * second) } + [.refused, .refused]
        #expect(waits == expected)
        #expect(table.wait(one, user: 1, now: 5 * second) == .time(7 * second))
        #expect(table.wait(one, user: 1, now: 100 * second) == .none)
    }

    @Test("Other users and networks are not delayed, and failures expire")
    mutating func others() {
        fail(one, 99, second)
        let (two, other) = (PeerNetwork(bits: 2, isIPv6: false), PeerNetwork(bits: 1, isIPv6: true))
        #expect(!table.isHeldUp(two, user: 1, now: second))
        #expect(!table.isHeldUp(other, user: 1, now: second))
        // Another user with the same address.
        #expect(!table.isHeldUp(one, user: 2, now: second))
        #expect(table.wait(one, user: 2, now: second) == .none)
        #expect(table.isHeldUp(one, user: 1, now: FailureTable.memory))
        #expect(!table.isHeldUp(one, user: 1, now: FailureTable.memory + second))
        fail(one, 1, FailureTable.memory + second)
        #expect(!table.isHeldUp(one, user: 1, now: FailureTable.memory + second))
    }

    @Test("A clock reading older than the last failure drops no failures")
    mutating func lateClock() {
        let (last, earlier) = (1_000 * second, 1_000 * second - 1)
        fail(one, FailureTable.allowance, last)
        #expect(table.isHeldUp(one, user: 1, now: earlier))
        fail(one, 1, earlier)
        #expect(table.isHeldUp(one, user: 1, now: earlier))
        // The entry keeps the later of the two times.
        #expect(table.isHeldUp(one, user: 1, now: earlier + FailureTable.memory))
        // A full table drops expired entries, and none of these has expired.
        for bits: UInt64 in 2...9 {
            fail(PeerNetwork(bits: bits, isIPv6: false), FailureTable.allowance, last + bits)
        }
        for bits: UInt64 in 10...11 { fail(PeerNetwork(bits: bits, isIPv6: false), 1, earlier) }
        let ninth = PeerNetwork(bits: 9, isIPv6: false)
        #expect(table.isHeldUp(ninth, user: 1, now: last + 9))
    }

    @Test("Failures of many users delay all users of their network")
    mutating func spraying() {
        for user: UInt64 in 0..<100 { fail(one, 1, second, user: user) }
        #expect(table.isHeldUp(one, user: 1_000, now: second))
        let waits = (0..<12).map { table.wait(one, user: 1_000 + UInt64($0), now: second) }
        #expect(waits.first == FailureTable.Wait.none && waits.last == .refused)
    }

    @Test("A user who has logged in from a network is admitted until guesses come too fast")
    mutating func known() {
        table.succeeded(one, user: 1, now: second)
        fail(one, 100, second)
        #expect(table.admitsKnown(one, user: 1, now: second))
        #expect(!table.admitsKnown(one, user: 2, now: second))
        for _ in 0..<300 { table.missed(one, user: 1, now: second) }
        #expect(table.admitsKnown(one, user: 1, now: second))
        table.missed(one, user: 1, now: second)
        #expect(!table.admitsKnown(one, user: 1, now: second))
        #expect(table.admitsKnown(one, user: 1, now: 2 * second))
    }

    @Test("A flood of refused guesses delays a known user for one second only")
    mutating func flood() {
        table.succeeded(one, user: 1, now: second)
        fail(one, FailureTable.allowance, second)
        var (compared, refused) = (0, 0)
        for _ in 0..<10_000 {
            if table.admitsKnown(one, user: 1, now: second) {
                table.missed(one, user: 1, now: second)
                compared += 1
            }
            if table.wait(one, user: 1, now: second) == .refused { refused += 1 }
        }
        #expect(compared == 301 && refused == 9_989)
        #expect(!table.admitsKnown(one, user: 1, now: second))
        #expect(table.admitsKnown(one, user: 1, now: 2 * second))
        // Guesses stay limited, and a right password does not count as a guess.
        table.missed(one, user: 1, now: 2 * second)
        #expect(!table.admitsKnown(one, user: 1, now: 2 * second))
        table.succeeded(one, user: 1, now: 2 * second)
        #expect(table.admitsKnown(one, user: 1, now: 2 * second))
        for _ in 0..<10_000 { table.missed(one, user: 1, now: 2 * second) }
        #expect(!table.admitsKnown(one, user: 1, now: 2 * second))
        #expect(table.admitsKnown(one, user: 1, now: 3 * second))
    }

    @Test("The table is bounded")
    mutating func limit() {
        for bits: UInt64 in 0..<1_000 {
            let network = PeerNetwork(bits: bits, isIPv6: true)
            fail(network, 20, second + bits)
            table.succeeded(network, user: bits, now: second + bits)
            #expect(table.count <= 8)
        }
        let last = PeerNetwork(bits: 999, isIPv6: true)
        #expect(table.isHeldUp(last, user: 1, now: second + 999))
    }
}

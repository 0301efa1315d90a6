import HTTPServerCore
import Testing

@Suite("RFC 7616, 3.4: Counts of nonces")
struct NonceTableTests {
    private var table = NonceTable(limit: 8, lifetime: 1_000)

    @Test("A count is taken once, and late ones are, within a window")
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

    @Test("Every count of a long dialogue is taken once, in steps of any width")
    mutating func steps() {
        var count: UInt32 = 0
        for step: UInt32 in 1..<200 {
            count += step
            #expect(table.use(id: 1, issued: 1, count: count, now: 2) == .first)
            #expect(table.use(id: 1, issued: 1, count: count, now: 2) == .repeated)
        }
    }

    @Test("A nonce serves for its time, and counts of one say nothing of another")
    mutating func time() {
        #expect(table.use(id: 1, issued: 100, count: 1, now: 1_099) == .first)
        #expect(table.use(id: 2, issued: 100, count: 1, now: 1_099) == .first)
        #expect(table.use(id: 1, issued: 100, count: 2, now: 1_100) == .expired)
        #expect(!table.contains(1) && table.contains(2))
        #expect(table.use(id: 3, issued: 2_000, count: 1, now: 1_100) == .expired)
    }

    @Test("The table is bounded, and what it forgets is never taken again")
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

    @Test("Those that have expired make room first")
    mutating func room() {
        for id: UInt64 in 1...7 { _ = table.use(id: id, issued: 100, count: 1, now: 200) }
        _ = table.use(id: 8, issued: 900, count: 1, now: 1_000)
        #expect(table.use(id: 9, issued: 1_400, count: 1, now: 1_500) == .first)
        #expect(table.count == 2)
        #expect(table.use(id: 8, issued: 900, count: 2, now: 1_500) == .first)
    }
}

@Suite("Logins that fail")
struct FailureTableTests {
    private var table = FailureTable(limit: 8)
    private let one = PeerNetwork(bits: 1, isIPv6: false)
    private let second: UInt64 = 1_000_000_000

    private mutating func fail(_ network: PeerNetwork, _ times: Int, _ now: UInt64) {
        for _ in 0..<times { table.failed(network, now: now) }
    }

    @Test("Some failures cost nothing, then there is one try a second, then none")
    mutating func row() {
        fail(one, FailureTable.allowance - 1, second)
        #expect(!table.isHeldUp(one, now: second))
        #expect(table.wait(one, now: second) == .none)
        fail(one, 1, second)
        #expect(table.isHeldUp(one, now: second))
        var waits: [FailureTable.Wait] = []
        for _ in 0..<13 { waits.append(table.wait(one, now: second)) }
        let expected: [FailureTable.Wait] =
            [.none] + (1...10).map { .time($0 * second) } + [.refused, .refused]
        #expect(waits == expected)
        #expect(table.wait(one, now: 5 * second) == .time(7 * second))
        #expect(table.wait(one, now: 100 * second) == .none)
    }

    @Test("Others are not held up, and failures are forgotten")
    mutating func others() {
        fail(one, 100, second)
        #expect(!table.isHeldUp(PeerNetwork(bits: 2, isIPv6: false), now: second))
        #expect(!table.isHeldUp(PeerNetwork(bits: 1, isIPv6: true), now: second))
        #expect(table.isHeldUp(one, now: FailureTable.memory))
        #expect(!table.isHeldUp(one, now: FailureTable.memory + second))
        fail(one, 1, FailureTable.memory + second)
        #expect(!table.isHeldUp(one, now: FailureTable.memory + second))
    }

    @Test("The table is bounded")
    mutating func limit() {
        for bits: UInt64 in 0..<1_000 {
            fail(PeerNetwork(bits: bits, isIPv6: true), 20, second + bits)
            #expect(table.count <= 8)
        }
        #expect(table.isHeldUp(PeerNetwork(bits: 999, isIPv6: true), now: second + 999))
    }
}

import Testing
import URLClient

/// The tests are asynchronous, because the main thread never waits.
@Suite("When a thread waits for a response itself")
struct InlineWaitPolicyTests {
    private static func waits(
        _ microseconds: Int64, limit: Duration = .microseconds(200), blocks: Bool = false
    ) async -> Bool {
        var policy = InlineWaitPolicy(limit, blocks: blocks)
        policy.note(answer: microseconds * 1_000)
        return policy.isWorthwhile
    }

    private static func asks(_ policy: inout InlineWaitPolicy) -> Bool { policy.isWorthwhile }

    @Test("A thread waits if recent responses were quick; polling allows twice the limit")
    func limits() async {
        var policy = InlineWaitPolicy(.microseconds(200), blocks: false)
        #expect(!Self.asks(&policy))
        #expect(await Self.waits(50))
        #expect(await Self.waits(399))
        #expect(await !Self.waits(400))
        #expect(await Self.waits(199, blocks: true))
        #expect(await !Self.waits(200, blocks: true))
        #expect(await !Self.waits(0, limit: .zero))
        #expect(await Self.waits(19_999, limit: .seconds(1)))
        #expect(await !Self.waits(20_000, limit: .seconds(1)))
    }

    @Test("After each useless wait more waits are skipped, and after a useful one none")
    func backOff() async {
        var policy = InlineWaitPolicy(.microseconds(200), blocks: false)
        policy.note(answer: 300_000)
        for left in [8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 4_096] {
            #expect(Self.asks(&policy))
            policy.note(isRewarded: false)
            for _ in 0..<left { #expect(!Self.asks(&policy)) }
        }
        #expect(Self.asks(&policy))
        policy.note(isRewarded: true)
        #expect(Self.asks(&policy))
    }

    @Test("The average follows the responses, and starts with the first one")
    func average() async {
        var policy = InlineWaitPolicy(.microseconds(200), blocks: true)
        policy.note(answer: 1_000_000)
        policy.note(answer: 100_000)
        #expect(!Self.asks(&policy))
        for _ in 0..<10 { policy.note(answer: 100_000) }
        #expect(Self.asks(&policy))
    }
}

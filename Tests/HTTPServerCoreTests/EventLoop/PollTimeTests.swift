import HTTPServerCore
import Testing
import ToolkitSystem

@Suite("Timeouts for kevent")
struct PollTimeTests {
    @Test(
        "Milliseconds are split into seconds and nanoseconds",
        arguments: [(0, 0, 0), (10, 0, 10_000_000), (999, 0, 999_000_000), (1_000, 1, 0)]
            + [(61_005, 61, 5_000_000), (Int(CInt.max), 2_147_483, 647_000_000)])
    func parts(milliseconds: Int, seconds: Int, nanoseconds: Int) throws {
        let time = try #require(PollTime(milliseconds: CInt(milliseconds)))
        #expect(time.seconds == seconds)
        #expect(time.nanoseconds == nanoseconds)
    }

    @Test("A negative time is no limit")
    func endless() {
        #expect(PollTime(milliseconds: -1) == nil)
    }
}

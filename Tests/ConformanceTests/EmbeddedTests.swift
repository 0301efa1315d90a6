import TestSupport
import Testing

#if os(Linux)
    @Suite("Embedded Swift", .fewAtOnce, .timeLimit(.minutes(3)))
    struct EmbeddedTests {
        @Test("HTTPParser builds for a microcontroller, and runs without the Swift runtime")
        func parser() async throws {
            let result = try await Program.run(Program.script("check-embedded"), [])
            #expect(result.status == 0, "\(result.text)\(result.complaints)")
        }
    }
#endif

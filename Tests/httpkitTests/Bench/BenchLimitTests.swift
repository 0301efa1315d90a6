import TestSupport
import Testing

@Suite("httpkit bench: the limit of descriptors")
struct BenchLimitTests {
    /// Measures a server that does not exist, with a limit that the shell sets.
    private func bench(_ limit: String, connections: Int) async throws -> Program.Result {
        try await Program.run(
            "sh",
            [
                "-c", "ulimit \(limit) && exec \"$0\" bench -c \(connections) http://127.0.0.1:1/",
                Program.httpkit,
            ])
    }

    @Test("More connections than the limit allows give one error line and no output")
    func tooMany() async throws {
        let result = try await bench("-n 256", connections: 1_000)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.complaints.split(separator: "\n").count == 1)
        #expect(
            result.complaints.hasPrefix(
                "httpkit: --connections 1000 is too many for the limit of 256 descriptors: "))
    }

    @Test("A soft limit is raised")
    func raised() async throws {
        // Status 7 is that of a refused connection.
        #expect(try await bench("-S -n 64", connections: 100).status == 7)
    }
}

import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("httpkit bench: the first request", .fewAtOnce, .timeLimit(.minutes(3)))
struct BenchFirstRequestTests {
    @Test("A response without an end is aborted with the exit status of curl for a timeout")
    func endless() async throws {
        let handler = SyncHandler { _ in
            Response(
                .ok,
                body: .stream { writer in
                    while true {
                        try await writer.write("more\n")
                        try await Task.sleep(for: .milliseconds(50))
                    }
                })
        }
        let server = HTTPServer(ServerConfiguration(host: "127.0.0.1", port: 0), handler: handler)
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        let result = try await Program.run(
            Program.httpkit, ["bench", "-z", "1", "-c", "1", "http://127.0.0.1:\(port)/"])
        #expect(result.status == 28 && result.output.isEmpty)
        #expect(result.complaints.split(separator: "\n").count == 1, "\(result.complaints)")
        await server.shutdown(grace: .zero)
    }
}

import HTTPServerCore
import TestSupport
import Testing

@Suite("httpkit serve at a network interface", .fewAtOnce)
struct InterfaceTests {
    @Test("Its name stands for its addresses; the URL has one of them")
    func interface() async throws {
        let loopback = try #require(
            try NetworkInterface.all().first { $0.flags.contains(.loopback) })
        let directory = try ServerDirectory()
        try directory.write("file", "content\n")
        let server = try await ServeProcess(
            path: directory.path, ["--host", loopback.name])
        #expect(
            server.output == "Serving \(directory.path) at http://127.0.0.1:\(server.port)/\n")
        #expect(try await server.get("/file").text == "content\n")
    }
}

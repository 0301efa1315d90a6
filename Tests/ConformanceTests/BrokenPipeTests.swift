import HTTPServerCore
import HTTPServerKit
import Testing

/// Here the server runs inside of the tests: nobody has told the process to ignore SIGPIPE, as
/// `httpkit` does, so a library that lets it be raised ends them all.
@Suite("Clients that vanish: the library raises no signal", .fewAtOnce)
struct BrokenPipeTests {
    @Test func resetsAndHalfReadAnswersRaiseNoSignal() async throws {
        let folder = try Folder()
        try folder.write(.noise(8 << 20, seed: 8), to: "large.bin")
        let server = HTTPServer(
            ServerConfiguration(host: "127.0.0.1", port: 0),
            handler: FileHandler(root: folder.path))
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        for round in 0..<200 {
            let socket = try PlainSocket(port: port)
            if round % 2 == 0 { socket.resetOnClose() }
            try await socket.send("GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if round % 3 == 0 { _ = try await socket.receive() }
        }
        let last = try PlainSocket(port: port)
        try await last.send("HEAD /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try await last.receive(through: "\r\n\r\n").contains(" 200 "))
        await server.shutdown()
    }
}

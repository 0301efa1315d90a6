import HTTPParser
import HTTPServerCore
import Testing

@Suite("Limit of connections", .fewAtOnce)
struct ConnectionLimitTests {
    @Test("A connection above the limit waits until another one is closed, and is answered then")
    func waits() async throws {
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.connectionLimit = 1
        configuration.loops = 1
        let server = HTTPServer(
            configuration,
            handler: SyncHandler { request in Response(.ok, body: .text(request.path)) })
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        var first: PlainSocket? = try PlainSocket(port: port)
        try await first?.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await first?.receive(through: "/first")
        let second = try PlainSocket(port: port)
        try await second.send("GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
        for number in 0..<20 {
            try await first?.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await first?.receive(through: "\r\n\r\n/\(number)")
            #expect(server.connectionCount == 1)
        }
        first = nil
        _ = try await second.receive(through: "/second")
        #expect(server.connectionCount == 1)
        await server.shutdown(grace: .zero)
    }
}

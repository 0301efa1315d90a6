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

    @Test(
        "One address has no more connections than it may, and gets a place back",
        .timeLimit(.minutes(2)))
    func perAddress() async throws {
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.connectionLimitPerAddress = 2
        configuration.connectionOverflow = .unavailable(retryAfter: .seconds(1))
        let server = HTTPServer(
            configuration,
            handler: SyncHandler { request in Response(.ok, body: .text(request.path)) })
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        var open: [PlainSocket] = []
        for number in 0..<2 {
            let socket = try PlainSocket(port: port)
            try await socket.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await socket.receive(through: "/\(number)")
            open.append(socket)
        }
        let third = try PlainSocket(port: port)
        try await third.send("GET /third HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await third.receive(through: "HTTP/1.1 503 ")
        open.removeFirst()
        while server.connectionCount > 1 { try await Task.sleep(for: .milliseconds(5)) }
        let fourth = try PlainSocket(port: port)
        try await fourth.send("GET /fourth HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await fourth.receive(through: "\r\n\r\n/fourth")
        await server.shutdown(grace: .zero)
    }
}

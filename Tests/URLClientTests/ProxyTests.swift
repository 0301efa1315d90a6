import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Proxies", .timeLimit(.minutes(2)))
struct ProxyTests {
    /// A proxy that records the heads of its requests, and is also the origin.
    private func proxy(_ heads: Locked<[String]>) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                if head.hasPrefix("CONNECT") {
                    connection.send("HTTP/1.1 200 Go\r\nX-Proxy: 1\r\n\r\n")
                } else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
    }

    @Test("S: HTTP: Requests to a proxy have the absolute form and credentials; a bypass works")
    func absoluteForm() async throws {
        let heads = Locked([String]())
        let peer = try proxy(heads)
        var configuration = ClientConfiguration()
        configuration.proxy = .proxy(
            ClientProxy(host: "127.0.0.1", port: peer.port, user: "me", password: "pass"),
            bypass: [.local])
        let session = ClientSession(configuration)
        let (content, _) = try await session.data(for: ClientRequest(.get, "http://a.test/x?y"))
        #expect(content == Array("ok".utf8))
        let head = try #require(heads.withLock { $0.first })
        #expect(head.hasPrefix("GET http://a.test/x?y HTTP/1.1\r\nHost: a.test\r\n"))
        #expect(head.contains("Proxy-Authorization: Basic bWU6cGFzcw==\r\n"))
        let server = try await TestServer()
        _ = try await session.data(for: ClientRequest(.get, server.url("/hello")))
        var direct = ClientRequest(.get, "http://b.test:\(server.port)/hello")
        direct.proxy = .direct
        direct.connectTo = ConnectTarget(host: "127.0.0.1")
        _ = try await session.data(for: direct)
        #expect(heads.withLock { $0.count } == 1)
        // An address of another network, written as a number, is not a local name.
        _ = try await session.data(for: ClientRequest(.get, "http://3221225991/z"))
        #expect(
            heads.withLock { $0.last }?.hasPrefix("GET http://192.0.2.7/z HTTP/1.1\r\n") == true)
    }

    @Test(
        "A response to CONNECT that is not HTTP is an error",
        arguments: ["a 200\n\n", "a 200\r\n\r\n", " 200\n\n", "HTTP/ 200\n\n", "\n\n", "x\n\n"])
    func noHead(_ answer: String) async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(answer)
        }
        var request = ClientRequest(.get, "https://a.test/x")
        request.proxy = .proxy(ClientProxy(host: "127.0.0.1", port: peer.port))
        let error = await failure { try await ClientSession(.ephemeral).data(for: request) }
        #expect(error != nil)
    }

    @Test("A second status line in a proxy's response to CONNECT is an error")
    func secondStatusLine() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 403 No\r\nHTTP/1.1: 404 x\r\nContent-Length: 0\r\n\r\n")
        }
        var request = ClientRequest(.get, "https://a.test/x")
        request.proxy = .proxy(ClientProxy(host: "127.0.0.1", port: peer.port))
        let error = await failure { try await ClientSession(.ephemeral).data(for: request) }
        #expect(error?.kind == .badResponse, "\(error?.description ?? "-")")
    }

    @Test("A tunnel leads to the connect target, and the request keeps its Host")
    func tunnel() async throws {
        let heads = Locked([String]())
        let peer = try proxy(heads)
        var request = ClientRequest(.get, "http://a.test/x")
        request.proxy = .proxy(ClientProxy(host: "127.0.0.1", port: peer.port))
        request.connectTo = ConnectTarget(host: "192.0.2.7", port: 81)
        let (content, response) = try await ClientSession().data(for: request)
        #expect(content == Array("ok".utf8))
        #expect(response.fields["X-Proxy"] == nil)
        let seen = heads.withLock { $0 }
        #expect(seen.count == 2)
        #expect(seen.first?.hasPrefix("CONNECT 192.0.2.7:81 HTTP/1.1\r\n") == true)
        #expect(seen.last?.hasPrefix("GET /x HTTP/1.1\r\nHost: a.test\r\n") == true)
    }

    @Test("Flushed connections are not used again")
    func flush() async throws {
        let heads = Locked([String]())
        let peer = try proxy(heads)
        let session = ClientSession()
        for _ in 0..<3 {
            _ = try await session.data(for: ClientRequest(.get, peer.url()))
            _ = try await session.data(for: ClientRequest(.get, peer.url()))
            await session.flush()
        }
        #expect(peer.connectionCount == 3)
        #expect(heads.withLock { $0.count } == 6)
    }
}

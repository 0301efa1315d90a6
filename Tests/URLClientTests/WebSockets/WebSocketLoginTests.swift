import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import HTTPServerWebSocket
import TestSupport
import Testing
import ToolkitSystem
import URLClient
import WebSocketFrames

/// A server whose WebSockets require a login.
private final class GuardedServer: Sendable {
    static let user = ClientCredential.password(user: "ann", password: "secret")
    let port: UInt16
    private let server: HTTPServer

    init(_ scheme: AuthenticationScheme) async throws {
        let accounts = MemoryAccountStore(realm: "guarded", rounds: 1_000)
        try accounts.add("ann", password: "secret")
        var options = Authenticator.Options()
        options.schemes = [scheme]
        let echo = AsyncHandler { request in
            try request.webSocket { socket in
                for try await message in socket { try await socket.send(message) }
            }
        }
        server = HTTPServer(
            ServerConfiguration(endpoints: [.tcp(host: "127.0.0.1", port: 0)]),
            handler: AuthenticationHandler(
                echo, by: Authenticator(accounts: accounts, options: options)))
        try await server.start()
        port = try #require(server.addresses.first?.port)
    }

    deinit {
        let server = server
        Task { await server.shutdown(grace: .zero) }
    }

    func request(_ user: String = "") -> ClientRequest {
        ClientRequest(.get, "ws://\(user)127.0.0.1:\(port)/")
    }
}

@Suite("RFC 9110, 11: logging in with the handshake of a WebSocket", .timeLimit(.minutes(3)))
struct WebSocketLoginTests {
    private func echoes(_ socket: WebSocketTask) async throws {
        try await socket.send("hello")
        #expect(try await socket.receive() == .text("hello"))
        socket.cancel(with: .normal)
    }

    @Test(
        "Challenges are answered with a credential of the URL, the storage or the application",
        arguments: [AuthenticationScheme.basic, .digest], [0, 1, 2])
    func challenges(_ scheme: AuthenticationScheme, _ way: Int) async throws {
        let server = try await GuardedServer(scheme)
        var configuration = ClientConfiguration.ephemeral
        if way == 1 {
            configuration.authentication.credentials.set(
                GuardedServer.user,
                for: ProtectionSpace(
                    origin: Origin(scheme: "http", host: "127.0.0.1", port: server.port),
                    realm: "guarded", scheme: scheme == .basic ? .basic : .digest))
        }
        let asked = Locked(0)
        if way == 2 {
            configuration.authentication.challenge = { challenge in
                asked.withLock { $0 += 1 }
                return challenge.failureCount == 0
                    ? .use(.password(user: "ann", password: "wrong"))
                    : .use(GuardedServer.user)
            }
        }
        let session = ClientSession(configuration)
        for _ in 0..<2 {
            let request = server.request(way == 0 ? "ann:secret@" : "")
            try await echoes(session.webSocketTask(with: request))
        }
        // The second handshake sends the credential without a challenge.
        #expect(asked.withLock { $0 } == (way == 2 ? 2 : 0))
    }

    @Test("Without a credential, the handshake fails with the status 401")
    func refused() async throws {
        let server = try await GuardedServer(.digest)
        let socket = ClientSession(.ephemeral).webSocketTask(with: server.request())
        let error = await #expect(throws: ClientError.self) { try await socket.opened() }
        #expect(error?.kind == .webSocketRefused(.unauthorized))
        #expect(socket.response?.fields[.wwwAuthenticate] != nil)
    }

    @Test("A server that always challenges gets 4 requests; a cancelled challenge ends the task")
    func limit() async throws {
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            let isAgain = head.contains("Authorization: Basic")
            connection.send(
                "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n"
                    + "WWW-Authenticate: Basic realm=\"\(isAgain ? "b" : "a")\"\r\n\r\n")
            connection.waitForEnd()
        }
        var configuration = ClientConfiguration.ephemeral
        let isCancelled = Locked(false)
        configuration.authentication.challenge = { challenge in
            if isCancelled.withLock({ $0 }) { return .cancel }
            return .use(.password(user: "u\(challenge.failureCount)", password: "p"))
        }
        let session = ClientSession(configuration)
        let request = ClientRequest(.get, peer.url())
        let socket = session.webSocketTask(with: request)
        let error = await #expect(throws: ClientError.self) { try await socket.opened() }
        #expect(error?.kind == .webSocketRefused(.unauthorized))
        #expect(peer.connectionCount == 4)
        isCancelled.withLock { $0 = true }
        let other = ClientSession(configuration).webSocketTask(with: request)
        let end = await #expect(throws: ClientError.self) { try await other.opened() }
        #expect(end?.kind == .cancelled)
    }

    @Test("RFC 6750: a token is fetched first, and renewed once when it is refused")
    func tokens() async throws {
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            guard head.contains("Authorization: Bearer t2\r\n") else {
                connection.send(
                    "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n"
                        + "WWW-Authenticate: Bearer\r\n\r\n")
                return connection.waitForEnd()
            }
            connection.send(WebSocketPeer.response(head))
            connection.waitForEnd()
        }
        let asked = Locked([String?]())
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.bearer = BearerAuthentication(
            origins: [Origin(scheme: "http", host: "127.0.0.1", port: peer.port)]
        ) { refused in
            asked.withLock { $0.append(refused) }
            return refused == nil ? "t1" : "t2"
        }
        let socket = ClientSession(configuration).webSocketTask(
            with: ClientRequest(.get, peer.url()))
        try await socket.opened()
        #expect(asked.withLock { $0 } == [nil, "t1"])
        #expect(peer.connectionCount == 2)
    }

    @Test("RFC 6797, 8.3: a host of strict transport gets the token of its https origin")
    func strictToken() async throws {
        let peer = try ScriptedPeer { _ in }
        let store = StrictTransportStore()
        store.receive(
            [.strictTransportSecurity: "max-age=1000"],
            from: Origin(scheme: "https", host: "a.test"),
            now: HTTPDate(secondsSinceEpoch: 4_000_000_000))
        let asked = Locked(0)
        var configuration = ClientConfiguration.ephemeral
        configuration.strictTransport = store
        configuration.authentication.bearer = BearerAuthentication(
            origins: [Origin(scheme: "https", host: "a.test", port: peer.port)]
        ) { _ in
            asked.withLock { $0 += 1 }
            return "t"
        }
        var request = ClientRequest(.get, "ws://a.test:\(peer.port)/")
        request.connectTo = ConnectTarget(host: "127.0.0.1", port: peer.port)
        let socket = ClientSession(configuration).webSocketTask(with: request)
        // The peer does not speak TLS.
        await #expect(throws: ClientError.self) { try await socket.opened() }
        #expect(asked.withLock { $0 } == 1)
    }

    @Test(
        "RFC 9110, 9.3.6: a proxy makes a tunnel, also a proxy that requires a login",
        arguments: [nil] + PeerServer.ProxyLogin.allCases.map { $0 })
    func proxies(_ login: PeerServer.ProxyLogin?) async throws {
        let server = try await GuardedServer(.digest)
        let peer = try await PeerServer.apache(proxyLogin: login)
        var proxy = ClientProxy(host: "127.0.0.1", port: peer.secondPort)
        if login != nil { (proxy.user, proxy.password) = PeerServer.user }
        if login == .digest { proxy.scheme = .digest }
        var configuration = ClientConfiguration.ephemeral
        configuration.proxy = .proxy(proxy)
        let session = ClientSession(configuration)
        try await echoes(session.webSocketTask(with: server.request("ann:secret@")))
        guard login != nil else { return }
        proxy.password = "wrong"
        configuration.proxy = .proxy(proxy)
        let wrong = ClientSession(configuration).webSocketTask(with: server.request())
        let error = await #expect(throws: ClientError.self) { try await wrong.opened() }
        #expect(error?.kind == .authenticationRequired)
    }

    @Test("A 407 through the tunnel is the server's, and is not answered with the proxy's login")
    func throughTunnel() async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer.askingThroughTunnel(heads)
        var configuration = ClientConfiguration.ephemeral
        configuration.proxy = .proxy(
            ClientProxy(
                host: "127.0.0.1", port: peer.port, user: "u", password: "p", scheme: .digest))
        let socket = ClientSession(configuration).webSocketTask(
            with: ClientRequest(.get, "ws://name.test/"))
        let error = await #expect(throws: ClientError.self) { try await socket.opened() }
        #expect(error?.kind == .webSocketRefused(.proxyAuthenticationRequired))
        #expect(heads.withLock { $0.allSatisfy { !$0.contains("Proxy-Authorization") } })
        #expect(peer.connectionCount == 1)
    }

    @Test("RFC 6265: cookies of the handshake's response are stored")
    func setCookie() async throws {
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            connection.send(WebSocketPeer.response(head, "Set-Cookie: a=b; HttpOnly\r\n"))
            connection.waitForEnd()
        }
        var configuration = ClientConfiguration.ephemeral
        let cookies = CookieStorage()
        configuration.cookies = cookies
        let session = ClientSession(configuration)
        try await session.webSocketTask(with: ClientRequest(.get, peer.url())).opened()
        let stored = cookies.cookies
        #expect(stored.map(\.name) == ["a"] && stored.first?.value == "b")
    }
}

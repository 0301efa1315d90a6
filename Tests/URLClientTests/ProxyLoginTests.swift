import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9110, 11.7: Authentication at proxies", .timeLimit(.minutes(3)))
struct ProxyLoginTests {
    /// How the client gets its credential.
    enum Way: CaseIterable { case given, challenge, delegate, stored }

    private final class Answerer: ClientSessionDelegate {
        let spaces = Locked([ProtectionSpace]())

        func task(
            _ task: TransferTask, didReceiveChallenge challenge: ClientChallenge
        ) async -> ChallengeAnswer {
            spaces.withLock { $0.append(challenge.space) }
            return ProxyLoginTests.answer(challenge)
        }
    }

    private static func answer(_ challenge: ClientChallenge) -> ChallengeAnswer {
        guard challenge.space.isProxy, challenge.failureCount == 0 else { return .reject }
        return .use(.password(user: PeerServer.user.name, password: PeerServer.user.password))
    }

    @Test(
        "Basic and Digest work at Apache, with and without tunnels; the origin gets no login",
        arguments: PeerServer.ProxyLogin.allCases, Way.allCases)
    func logins(_ login: PeerServer.ProxyLogin, _ way: Way) async throws {
        let origin = try await TestServer()
        let server = try await PeerServer.apache(proxyLogin: login)
        let answerer = Answerer()
        var configuration = ClientConfiguration.ephemeral
        var proxy = ClientProxy(host: "127.0.0.1", port: server.secondPort)
        let place = Origin(scheme: "http", host: "127.0.0.1", port: server.secondPort)
        let (user, password) = PeerServer.user
        switch way {
        case .given:
            (proxy.user, proxy.password) = (user, password)
            proxy.scheme = login == .basic ? .basic : .digest
        case .challenge: configuration.authentication.challenge = { Self.answer($0) }
        case .delegate: break
        case .stored:
            configuration.authentication.credentials.set(
                .password(user: user, password: password),
                for: ProtectionSpace(
                    origin: place, realm: "tests", scheme: login == .basic ? .basic : .digest,
                    isProxy: true))
        }
        for tunnels in [false, true] {
            proxy.tunnels = tunnels
            configuration.proxy = .proxy(proxy)
            let session = ClientSession(configuration)
            for count in 1...3 {
                var request = ClientRequest(
                    .post, origin.url("/echo"), fields: ["X-Tunnel": "\(tunnels)"],
                    body: .text("content \(count)"))
                request.fields[.authorization] = "Bearer origin"
                let (content, response) = try await session.upload(
                    for: request, from: request.body, delegate: way == .delegate ? answerer : nil)
                #expect(response.status == .ok)
                #expect(content == Array("content \(count)".utf8))
            }
        }
        let seen = origin.seen("/echo")
        #expect(seen.count == 6)
        #expect(seen.allSatisfy { $0.fields[.proxyAuthorization] == nil })
        #expect(seen.allSatisfy { $0.fields[.authorization] == "Bearer origin" })
        // Apache adds Via to a forwarded request; a request in a tunnel arrives unchanged.
        #expect(seen.filter { $0.fields[.via] == nil }.count == 3)
        if way == .delegate {
            let spaces = answerer.spaces.withLock { $0 }
            // Once for each session, which remembers the credential.
            #expect(spaces.count == 2)
            #expect(spaces.allSatisfy { $0.isProxy && $0.origin == place && $0.realm == "tests" })
        }
    }

    @Test(
        "CONNECT names the endpoint of a policy, and the login at the proxy works",
        arguments: PeerServer.ProxyLogin.allCases)
    func policy(_ login: PeerServer.ProxyLogin) async throws {
        let certificates = try await TestCertificates()
        let secure = try await PeerServer.nginx(
            .init(at: "127.0.0.2", identity: try await certificates.identity(for: "a.test")))
        let plain = try await TestServer()
        let server = try await PeerServer.apache(proxyLogin: login)
        var configuration = ClientConfiguration.ephemeral
        configuration.tls.authorities = .file(certificates.authority.certificate)
        configuration.proxy = .proxy(
            ClientProxy(
                host: "127.0.0.1", port: server.secondPort, user: PeerServer.user.name,
                password: PeerServer.user.password, scheme: login == .basic ? .basic : .digest))
        let dead = ConnectTarget(host: "127.0.0.1", port: PeerServer.deadPort)
        configuration.endpoints = EndpointPolicy { origin, _ in
            origin.isSecure
                ? [dead, ConnectTarget(host: "127.0.0.2")]
                : [ConnectTarget(host: "127.0.0.1", port: plain.port)]
        }
        let session = ClientSession(configuration)
        for _ in 1...2 {
            let (who, _) = try await session.data(
                for: ClientRequest(.get, secure.url("/who", scheme: "https", host: "a.test")))
            #expect(String(decoding: who, as: UTF8.self).contains("sni=a.test\n"))
            let (hello, _) = try await session.data(
                for: ClientRequest(.get, "http://b.test/hello"))
            #expect(hello == Array("hello".utf8))
            await session.flush()
        }
        session.invalidateAndCancel()
        #expect(await server.waitForLog("CONNECT 127.0.0.2:\(secure.port)"))
        #expect(await server.waitForLog("CONNECT 127.0.0.1:\(plain.port)"))
    }

    @Test("Without a correct login, 407 is the response, or an error of the tunnel")
    func refused() async throws {
        let origin = try await TestServer()
        let server = try await PeerServer.apache(proxyLogin: .basic)
        for user in [nil, "nobody"] {
            var configuration = ClientConfiguration.ephemeral
            var proxy = ClientProxy(
                host: "127.0.0.1", port: server.secondPort, user: user, password: user)
            configuration.proxy = .proxy(proxy)
            let request = ClientRequest(.get, origin.url("/hello"))
            let (_, response) = try await ClientSession(configuration).data(for: request)
            #expect(response.status == .proxyAuthenticationRequired)
            proxy.tunnels = true
            configuration.proxy = .proxy(proxy)
            let session = ClientSession(configuration)
            let error = await failure { try await session.data(for: request) }
            #expect(error?.kind == .authenticationRequired, "\(error?.description ?? "-")")
            #expect(error?.exitCode == 56 && error?.isSafeToRetry == true)
        }
    }

    @Test("Cookies and redirects in a proxy's response to CONNECT are ignored")
    func noCookies() async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            heads.withLock { $0.append(head) }
            connection.send(
                "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nSet-Cookie: a=b\r\n"
                    + "Location: http://evil.test/\r\nContent-Length: 4\r\n\r\nevil")
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.proxy = .proxy(
            ClientProxy(host: "127.0.0.1", port: peer.port, tunnels: true))
        let session = ClientSession(configuration)
        let error = await failure {
            try await session.data(for: ClientRequest(.get, "http://name.test/"))
        }
        #expect(error?.kind == .authenticationRequired)
        #expect(
            configuration.cookies?.cookies(for: ClientRequest(.get, "http://name.test/").url)
                .isEmpty
                == true)
        // The redirect is not followed, and the request is not repeated.
        #expect(heads.withLock { $0.count } == 1)
    }

    @Test(
        "A tunnel that a proxy refuses by 403 or 502 is reported as proxyRefused",
        arguments: [403, 502])
    func otherwise(_ status: Int) async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
        }
        var request = ClientRequest(.get, "http://name.test/")
        request.proxy = .proxy(ClientProxy(host: "127.0.0.1", port: peer.port, tunnels: true))
        let error = await failure { [request] in try await ClientSession().data(for: request) }
        #expect(error?.kind == .proxyRefused, "\(error?.description ?? "-")")
    }

    @Test("RFC 9110, 9.3.6: A 407 through a tunnel is the server's, and gets no login")
    func throughTunnel() async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer.askingThroughTunnel(heads)
        var configuration = ClientConfiguration.ephemeral
        configuration.proxy = .proxy(
            ClientProxy(
                host: "127.0.0.1", port: peer.port, user: "u", password: "p", scheme: .digest,
                tunnels: true))
        let (content, response) = try await ClientSession(configuration).data(
            for: ClientRequest(.get, "http://name.test/"))
        #expect(response.status == .proxyAuthenticationRequired)
        #expect(content == Array("no".utf8))
        let seen = heads.withLock { $0 }
        #expect(seen.map { String($0.prefix { $0 != " " }) } == ["CONNECT", "GET"])
        #expect(seen.allSatisfy { !$0.contains("Proxy-Authorization") })
    }

    @Test("HTTPS: The connection to the proxy is encrypted, and its certificate is checked")
    func https() async throws {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.apache(
            proxyLogin: .basic,
            proxyIdentity: try await certificates.identity(for: "127.0.0.1"))
        let origin = try await PeerServer.nginx(
            .init(at: "127.0.0.2", identity: try await certificates.identity(for: "a.test")))
        let plain = try await TestServer()
        var proxy = ClientProxy(
            .https, host: "127.0.0.1", port: server.secondPort, user: PeerServer.user.name,
            password: PeerServer.user.password)
        var configuration = ClientConfiguration.ephemeral
        let authorities = TLSOptions.Source.file(certificates.authority.certificate)
        configuration.tls.authorities = authorities
        configuration.proxy = .proxy(proxy)
        let session = ClientSession(configuration)
        let (content, _) = try await session.data(for: ClientRequest(.get, plain.url("/hello")))
        #expect(content == Array("hello".utf8))
        var request = ClientRequest(.get, origin.url("/who", scheme: "https", host: "a.test"))
        request.connectTo = ConnectTarget(host: "127.0.0.2")
        let (who, _) = try await session.data(for: request)
        #expect(String(decoding: who, as: UTF8.self).contains("sni=a.test\n"))
        // Apache logs a tunnel when it closes.
        session.invalidateAndCancel()
        #expect(await server.waitForLog("CONNECT 127.0.0.2:\(origin.port)"))
        // The system's authorities do not trust the proxy; its own options can.
        configuration.tls.authorities = nil
        let http = ClientRequest(.get, plain.url("/hello"))
        let strict = ClientSession(configuration)
        let error = await failure { try await strict.data(for: http) }
        #expect(error?.kind == .certificateUntrusted, "\(error?.description ?? "-")")
        // A trust policy applies only to origins.
        var lenient = configuration
        lenient.trust = TrustPolicy { _ in true }
        let lenientSession = ClientSession(lenient)
        let refused = await failure { try await lenientSession.data(for: http) }
        #expect(refused?.kind == .certificateUntrusted, "\(refused?.description ?? "-")")
        // So does the option not to check servers.
        var unchecked = configuration
        unchecked.tls.verifiesServer = false
        let uncheckedSession = ClientSession(unchecked)
        let stillRefused = await failure { try await uncheckedSession.data(for: http) }
        #expect(stillRefused?.kind == .certificateUntrusted, "\(stillRefused?.description ?? "-")")
        for own in [TLSOptions(verifiesServer: false), TLSOptions(authorities: authorities)] {
            proxy.tls = own
            configuration.proxy = .proxy(proxy)
            let (content, _) = try await ClientSession(configuration).data(for: http)
            #expect(content == Array("hello".utf8))
        }
    }

    @Test("Tunnels that two users request at the same time serve only their own user")
    func tunnelsAtOnce() async throws {
        let gate = Gate()
        let (asked, seen) = (Locked(0), Locked([String]()))
        // The proxy is also the server. It responds after both users have requested a tunnel, and
        // to later requests after all of a turn have arrived.
        let turns = [Gate(), Gate(), Gate()]
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            let line = head.split(separator: "\r\n").first { $0.hasPrefix("Proxy-Authorization") }
            let user = line.flatMap { Base64.decode(Array($0.dropFirst(27).utf8)) }
                .map { String(decoding: $0, as: UTF8.self) }
            asked.withLock { $0 += 1 }
            gate.wait()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while let head = connection.head() {
                let path = head.split(separator: " ")[1]
                seen.withLock { $0.append("\(user ?? "-") \(path)") }
                turns[Int(String(path.suffix(1))) ?? 0].wait()
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let session = ClientSession(.ephemeral)
        let port = peer.port
        @Sendable func task(_ user: String, _ turn: Int) -> DataTask {
            var request = ClientRequest(.get, "http://h.test/\(user)/\(turn)")
            request.proxy = .proxy(
                ClientProxy(
                    host: "127.0.0.1", port: port, user: user, password: "p", tunnels: true))
            let task = session.dataTask(for: request)
            task.resume()
            return task
        }
        for (turn, users) in [["ada", "bob"], ["ada", "ada"], ["bob", "bob"]].enumerated() {
            let tasks = users.map { task($0, turn) }
            if turn == 0 {
                try await waitUntil { asked.withLock { $0 } == 2 }
                gate.open()
            }
            try await waitUntil { seen.withLock { $0.count } == 2 * (turn + 1) }
            turns[turn].open()
            for task in tasks { try await task.finished() }
        }
        #expect(
            seen.withLock { $0 }.sorted() == [
                "ada:p /ada/0", "ada:p /ada/1", "ada:p /ada/1", "bob:p /bob/0", "bob:p /bob/2",
                "bob:p /bob/2",
            ])
    }

    @Test("A tunnel is used only by its own user, and by no user after logging out")
    func tunnelsOfUsers() async throws {
        let seen = Locked([String]())
        // The proxy is also the server.
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            let line = head.split(separator: "\r\n").first { $0.hasPrefix("Proxy-Authorization") }
            let user = line.flatMap { Base64.decode(Array($0.dropFirst(27).utf8)) }
                .map { String(decoding: $0, as: UTF8.self) }
            guard let user else {
                seen.withLock { $0.append("-") }
                connection.send(
                    "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=r\r\n"
                        + "Content-Length: 0\r\n\r\n")
                return
            }
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.head() != nil {
                seen.withLock { $0.append(user) }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let credentials = CredentialStorage()
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.credentials = credentials
        configuration.proxy = .proxy(ClientProxy(host: "127.0.0.1", port: peer.port, tunnels: true))
        let session = ClientSession(configuration)
        let space = ProtectionSpace(
            origin: Origin(scheme: "http", host: "127.0.0.1", port: peer.port), realm: "r",
            scheme: .basic, isProxy: true)
        let request = ClientRequest(.get, "http://h.test/")
        for user in ["ada", "ada", "bob", "bob"] {
            credentials.set(.password(user: user, password: "p"), for: space)
            #expect(try await session.data(for: request).1.status == .ok)
        }
        credentials.removeAll()
        let error = await failure { try await session.data(for: request) }
        #expect(error?.kind == .authenticationRequired)
        let users = seen.withLock { $0 }
        #expect(users.filter { $0 != "-" } == ["ada:p", "ada:p", "bob:p", "bob:p"])
        #expect(users.last == "-")
    }
}

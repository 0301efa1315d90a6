import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import HTTPServerProxies
import Synchronization
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit

@Suite("Handlers behind a trusted proxy")
struct ForwardedHandlerTests {
    private static let proxy = PeerAddress(ipv4: (10, 0, 0, 1), port: 9)
    private static let stranger = PeerAddress(ipv4: (203, 0, 113, 1), port: 9)
    private static let forwarded =
        "X-Forwarded-For: 192.0.2.43\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: a.example\r\n"

    private func behindProxy(_ handler: some Handler) throws -> ForwardedHandler {
        ForwardedHandler(
            handler, proxies: try TrustedProxies(["10.0.0.0/8"]),
            fields: [.forwarded, .xForwarded])
    }

    private func answer(
        _ handler: some Handler, _ fields: String, from peer: PeerAddress = Self.proxy,
        _ line: String = "GET /a%20b?q=1", configuration: ServerConfiguration = .test
    ) async throws -> ServerAnswer {
        let client = MemoryConnection(handler, configuration: configuration, address: peer)
        client.send(
            "\(line) HTTP/1.1\r\nHost: inner:8080\r\n\(fields)Connection: close\r\n\r\n")
        client.end()
        let output = try await client.closed().output
        await client.settle()
        return try #require(ServerAnswer.all(output).first)
    }

    private static let facts = SyncHandler { request in
        let url = request.url ?? "-"
        return .text("\(request.peer) \(request.connection.peer) \(url) \(request.host ?? "-")")
    }

    @Test("Handlers see the client, and the connection keeps its peer")
    func client() async throws {
        let answer = try await answer(behindProxy(Self.facts), Self.forwarded)
        #expect(
            answer.text == "192.0.2.43:0 10.0.0.1:9 https://a.example/a%20b?q=1 a.example")
    }

    @Test("A field of a peer that is not a proxy changes nothing")
    func spoofed() async throws {
        for fields in [Self.forwarded, "", "Forwarded: for=\"broken\r\n"] {
            let answer = try await answer(behindProxy(Self.facts), fields, from: Self.stranger)
            #expect(
                answer.text
                    == "203.0.113.1:9 203.0.113.1:9 http://inner:8080/a%20b?q=1 inner:8080")
        }
    }

    @Test("A proxy that sends no forwarding fields is the client")
    func nothing() async throws {
        let answer = try await answer(behindProxy(Self.facts), "")
        #expect(
            answer.text == "10.0.0.1:9 10.0.0.1:9 http://inner:8080/a%20b?q=1 inner:8080")
    }

    @Test("Invalid fields of a proxy get 400, and no handler is called")
    func malformed() async throws {
        let handler = SyncHandler { _ in
            Issue.record("a handler was called")
            return Response(.ok)
        }
        for fields in [
            "X-Forwarded-For: nobody\r\n", "Forwarded: for=\"\r\n",
            "Forwarded: for=192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n",
        ] {
            #expect(try await answer(behindProxy(handler), fields).status == 400)
        }
    }

    @Test("Requests on one connection of a proxy have separate clients")
    func oneConnection() async throws {
        let client = MemoryConnection(
            try behindProxy(SyncHandler { .text($0.peer.host) }), address: Self.proxy)
        for last in 1...3 {
            client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.\(last)\r\n\r\n")
        }
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        client.end()
        let answers = ServerAnswer.all(try await client.closed().output)
        #expect(answers.map(\.text) == ["192.0.2.1", "192.0.2.2", "192.0.2.3", "10.0.0.1"])
    }

    @Test("A scheme of 200,000 combining marks is refused in less than 5 seconds")
    func longScheme() async throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
        let isQuick = try await takesLess(than: .seconds(5)) {
            let elements = ForwardedElement.list("for=192.0.2.1;proto=\"\(marks)\"")
            #expect(elements?.map(\.isValid) == [false])
        }
        #expect(isQuick)
    }

    @Test("Rate limits count the clients, not the proxy")
    func rateLimit() async throws {
        let limited = RateLimitHandler(Self.facts, requests: 1, per: .seconds(3_600))
        let handler = try behindProxy(limited)
        for last in 1...3 {
            let fields = "X-Forwarded-For: 192.0.2.\(last)\r\n"
            #expect(try await answer(handler, fields).status == 200)
            #expect(try await answer(handler, fields).status == 429)
        }
        // A peer that is not a proxy cannot choose the client that is counted.
        let own = "X-Forwarded-For: 192.0.2.9\r\n"
        #expect(try await answer(handler, own, from: Self.stranger).status == 200)
        #expect(
            try await answer(handler, "X-Forwarded-For: 192.0.2.10\r\n", from: Self.stranger).status
                == 429)
    }

    private static let loopback = PeerAddress(ipv4: (127, 0, 0, 1), port: 9)

    /// The fields of a proxy's request for a client that logs in as ann.
    private func login(_ client: String, isRight: Bool = false) -> String {
        let token = isRight ? "YW5uOnJpZ2h0" : "YW5uOndyb25n"
        return "X-Forwarded-For: \(client)\r\nAuthorization: Basic \(token)\r\n"
    }

    /// A handler behind a proxy, through which a client has guessed passwords. The clock stands
    /// still: after the allowance one guess is checked at once, and ten wait on the connections.
    private func guessed(
        by client: String
    ) async throws -> (handler: ForwardedHandler, waiting: [MemoryConnection]) {
        let accounts = MemoryAccountStore(realm: "r", rounds: 3)
        try accounts.add("ann", password: "right")
        let authenticator = Authenticator(accounts: accounts, clock: { 5_000_000_000_000 })
        let handler = ForwardedHandler(
            AuthenticationHandler(Self.facts, by: authenticator),
            proxies: try TrustedProxies(["loopback"]), fields: .xForwardedFor)
        let wrong = login(client)
        for _ in 0..<FailureTable.allowance {
            #expect(try await answer(handler, wrong, from: Self.loopback).status == 401)
        }
        let waiting = (0..<11).map { _ in
            let connection = MemoryConnection(handler, address: Self.loopback)
            connection.send("GET / HTTP/1.1\r\nHost: a\r\n\(wrong)\r\n")
            return connection
        }
        #expect(try await answer(handler, wrong, from: Self.loopback).status == 429)
        return (handler, waiting)
    }

    private func end(_ connections: [MemoryConnection]) async throws {
        for connection in connections {
            connection.hangUp()
            try await connection.closed()
        }
    }

    @Test("Failed logins slow down the client that guesses, not the others behind the proxy")
    func logins() async throws {
        let (handler, waiting) = try await guessed(by: "192.0.2.1")
        let other = try await answer(handler, login("192.0.2.2"), from: Self.loopback)
        #expect(other.status == 401)
        try await end(waiting)
    }

    @Test("A client's login does not allow another's guess on the same connection of the proxy")
    func loginsOfOthers() async throws {
        let (handler, waiting) = try await guessed(by: "192.0.2.9")
        let shared = MemoryConnection(handler, address: Self.loopback)
        shared.send("GET / HTTP/1.1\r\nHost: a\r\n\(login("192.0.2.1", isRight: true))\r\n")
        _ = try await shared.output("HTTP/1.1 200 ")
        shared.send("GET / HTTP/1.1\r\nHost: a\r\n\(login("192.0.2.9"))\r\n")
        #expect(try await shared.output("HTTP/1.1 4").text.contains("HTTP/1.1 429 "))
        try await end(waiting + [shared])
    }

    @Test("The access log has the client", arguments: [Self.proxy, Self.stranger])
    func accessLog(_ peer: PeerAddress) async throws {
        let records = Mutex<[AccessRecord]>([])
        let configuration = ServerConfiguration.test {
            $0.accessLog = { record in records.withLock { $0.append(record) } }
        }
        _ = try await answer(
            behindProxy(Self.facts), Self.forwarded, from: peer, configuration: configuration)
        let record = try #require(records.withLock { $0.first })
        let host = peer == Self.proxy ? "192.0.2.43" : "203.0.113.1"
        #expect(record.peer.host == host)
        for format in [AccessLogFormat.combined, .json] {
            let line = format.line(of: record)
            #expect(line.contains(host), "\(line)")
            #expect(!line.contains("10.0.0.1"))
        }
    }

    @Test(
        "RFC 4918, 10.3: Destination must be on the host that the client used",
        arguments: [
            ("https://a.example/dav/b", 201), ("https://a.example:443/dav/b", 201),
            ("https://inner:8080/dav/b", 502), ("/dav/b", 201), ("https://b.example/dav/b", 502),
        ])
    func destination(_ destination: String, _ status: Int) async throws {
        var router = Router()
        router.mountWebDAV("/dav", WebDAVHandler(store: MemoryStore()))
        let handler = try behindProxy(router)
        #expect(try await answer(handler, "Content-Length: 0\r\n", "PUT /dav/a").status == 201)
        let fields = Self.forwarded + "Destination: \(destination)\r\n"
        #expect(try await answer(handler, fields, "COPY /dav/a").status == status)
    }

    @Test("Checks of Host and Origin see the host that the client used")
    func hostChecks() async throws {
        let checked = HostCheckHandler(
            OriginCheckHandler(Self.facts), hosts: AllowedHosts(["a.example"]))
        let handler = try behindProxy(checked)
        #expect(try await answer(handler, "").status == 421)
        let own = Self.forwarded + "Origin: https://a.example\r\nContent-Length: 0\r\n"
        #expect(try await answer(handler, own, "POST /").status == 200)
        let foreign = Self.forwarded + "Origin: https://b.example\r\nContent-Length: 0\r\n"
        #expect(try await answer(handler, foreign, "POST /").status == 403)
        #expect(try await answer(handler, own, from: Self.stranger, "POST /").status == 421)
    }
}

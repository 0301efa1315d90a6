import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite(
    "RFC 9112, 9.3.1: connections that are closed when they are used again", .timeLimit(.minutes(2))
)
struct StaleConnectionTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Responds to the first request of the first connection, and closes it after the second
    /// request arrives; later connections respond to all requests.
    private func peer(_ seen: Locked<[String]>) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            var count = 0
            while let head = connection.head() {
                seen.withLock { $0.append(String(head.prefix { $0 != " " })) }
                if head.contains("Content-Length: 7") { _ = connection.content(7) }
                count += 1
                if connection.index == 0, count == 2 { return }
                connection.send(Self.answer)
            }
        }
    }

    private func session(_ retries: RetryPolicy = RetryPolicy()) -> ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.retries = retries
        return ClientSession(configuration)
    }

    @Test(
        "An idempotent request is sent once more, on a new connection",
        arguments: [HTTPMethod.get, .put, .delete])
    func idempotent(_ method: HTTPMethod) async throws {
        let seen = Locked([String]())
        let peer = try peer(seen)
        let session = session(.never)
        _ = try await session.data(for: ClientRequest(.get, peer.url()))
        let body: ClientBody = method == .put ? .text("content") : .none
        let (content, _) = try await session.data(
            for: ClientRequest(method, peer.url(), body: body))
        #expect(content == Array("ok".utf8))
        #expect(seen.withLock { $0 } == ["GET", method.name, method.name])
        #expect(peer.connectionCount == 2)
    }

    @Test("Replayable content is made again for the new connection")
    func remade() async throws {
        let seen = Locked([String]())
        let peer = try peer(seen)
        let session = session()
        _ = try await session.data(for: ClientRequest(.get, peer.url()))
        let made = Locked(0)
        let body = ClientBody.replayable(length: 7) {
            made.withLock { $0 += 1 }
            return AsyncStream { continuation in
                continuation.yield(Array("content".utf8))
                continuation.finish()
            }
        }
        let (content, _) = try await session.data(for: ClientRequest(.put, peer.url(), body: body))
        #expect(content == Array("ok".utf8))
        #expect(seen.withLock { $0 } == ["GET", "PUT", "PUT"])
        #expect(made.withLock { $0 } == 2)
    }

    @Test(
        "A POST that may have been processed is an error",
        arguments: [ClientBody.none, .bytes([]), .text("content")])
    func notIdempotent(_ body: ClientBody) async throws {
        let seen = Locked([String]())
        let peer = try peer(seen)
        let session = session()
        _ = try await session.data(for: ClientRequest(.get, peer.url()))
        let error = await failure {
            try await session.data(for: ClientRequest(.post, peer.url(), body: body))
        }
        #expect(error?.kind == .connectionLost || error?.kind == .emptyResponse, "\(error as Any)")
        #expect(error?.isSafeToRetry == false)
        #expect(seen.withLock { $0 } == ["GET", "POST"])
    }

    @Test("A connection that was closed while idle is not used, and a POST is sent once")
    func closedBefore() async throws {
        let seen = Locked([String]())
        let closed = Gate()
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            seen.withLock { $0.append(String(head.prefix { $0 != " " })) }
            _ = head.contains("Content-Length: 7") ? connection.content(7) : []
            connection.send(Self.answer)
            guard connection.index == 0 else { return connection.waitForEnd() }
            connection.finish()
            closed.open()
        }
        let session = session(.never)
        _ = try await session.data(for: ClientRequest(.get, peer.url()))
        try await waitUntil { closed.isDone }
        let (content, _) = try await session.data(
            for: ClientRequest(.post, peer.url(), body: .text("content")))
        #expect(content == Array("ok".utf8))
        #expect(seen.withLock { $0 } == ["GET", "POST"] && peer.connectionCount == 2)
    }

    /// Responds to the first request of the first connection, and sends more while it is idle.
    private func spoiling(
        _ more: String, answer: String = Self.answer, _ seen: Locked<[String]>, _ sent: Gate
    ) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            var isFirst = connection.index == 0
            while let head = connection.head() {
                seen.withLock {
                    $0.append("\(head.prefix { $0 != " " }) \(connection.index)")
                }
                if head.contains("Content-Length: 7") { _ = connection.content(7) }
                connection.send(isFirst ? answer : Self.answer)
                guard isFirst else { continue }
                isFirst = false
                for _ in 0..<60_000 where !sent.isBegun { Pause.milliseconds(1) }
                connection.send(more)
                sent.open()
            }
        }
    }

    private static let late =
        "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 4\r\n\r\nlate"

    @Test(
        "Bytes received on an idle connection are not the response to the next request",
        arguments: [HTTPMethod.get, .post, .put],
        ["", late, "HTTP/1.1 200 OK\r\n", "x"])
    func spoilt(_ method: HTTPMethod, _ more: String) async throws {
        let seen = Locked([String]())
        let sent = Gate()
        let peer = try spoiling(more, seen, sent)
        let session = session(.never)
        _ = try await session.data(for: ClientRequest(.get, peer.url()))
        sent.begin()
        try await waitUntil { sent.isDone }
        let body: ClientBody = method == .get ? .none : .text("content")
        for _ in 0..<2 {
            let (content, response) = try await session.data(
                for: ClientRequest(method, peer.url(), body: body))
            #expect(response.status == .ok && content == Array("ok".utf8))
        }
        let name = method.name
        let index = more.isEmpty ? 0 : 1
        #expect(seen.withLock { $0 } == ["GET 0", "\(name) \(index)", "\(name) \(index)"])
    }

    @Test(
        "Bytes after a response, in the same packet, are not the response to the next request",
        arguments: [
            answer + late, answer + "HTTP/1.1 200",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + late,
            "HTTP/1.1 204 No\r\n\r\n" + late,
        ])
    func excess(_ answer: String) async throws {
        let seen = Locked([String]())
        let sent = Gate()
        let peer = try spoiling("", answer: answer, seen, sent)
        let session = session(.never)
        sent.begin()
        let (_, first) = try await session.data(for: ClientRequest(.get, peer.url()))
        let (content, response) = try await session.data(
            for: ClientRequest(.post, peer.url(), body: .text("content")))
        #expect(first.status.code < 300 && response.status == .ok && content == Array("ok".utf8))
    }

    /// A proxy that is also the server. The first connection ends with its second request; the
    /// others send `answer` to CONNECT, and 404 to all other requests.
    private func proxy(_ answer: String, _ seen: Locked<[String]>) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            var count = 0
            while let head = connection.head() {
                let method = String(head.prefix { $0 != " " })
                seen.withLock { $0.append("\(method) \(connection.index)") }
                if method == "CONNECT" {
                    connection.send(connection.index == 0 ? "HTTP/1.1 200 OK\r\n\r\n" : answer)
                    continue
                }
                count += 1
                if connection.index == 0, count == 2 { return }
                connection.send(
                    connection.index == 0
                        ? Self.answer : "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno")
            }
        }
    }

    private func tunnelling(_ peer: ScriptedPeer, _ cookies: CookieStorage) -> ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.retries = .never
        configuration.cookies = cookies
        configuration.proxy = .proxy(
            ClientProxy(
                host: "127.0.0.1", port: peer.port, user: "u", password: "p", scheme: .digest,
                tunnels: true))
        return ClientSession(configuration)
    }

    private static let tunnelURL = "http://name.test/"

    @Test("RFC 9110, 9.3.6: The response to a second CONNECT is the proxy's, not the server's")
    func tunnels() async throws {
        let seen = Locked([String]())
        let cookies = CookieStorage()
        let peer = try proxy("HTTP/1.1 200 Go\r\nX-Proxy: 1\r\nSet-Cookie: a=b\r\n\r\n", seen)
        let session = tunnelling(peer, cookies)
        _ = try await session.data(for: ClientRequest(.get, Self.tunnelURL))
        let (content, response) = try await session.data(for: ClientRequest(.get, Self.tunnelURL))
        #expect(response.status == .notFound && content == Array("no".utf8))
        #expect(response.fields["X-Proxy"] == nil && cookies.cookies.isEmpty)
        #expect(seen.withLock { $0 } == ["CONNECT 0", "GET 0", "GET 0", "CONNECT 1", "GET 1"])
    }

    @Test(
        "A proxy's refusal of the new tunnel is an error, not the server's response",
        arguments: [(302, ClientError.Kind.proxyRefused), (407, .authenticationRequired)])
    func refusedTunnels(_ status: Int, _ kind: ClientError.Kind) async throws {
        let seen = Locked([String]())
        let cookies = CookieStorage()
        let peer = try proxy(
            "HTTP/1.1 \(status) No\r\nLocation: http://name.test/other\r\nSet-Cookie: a=b\r\n"
                + "Content-Length: 2\r\n\r\nno", seen)
        let session = tunnelling(peer, cookies)
        _ = try await session.data(for: ClientRequest(.get, Self.tunnelURL))
        let error = await failure {
            try await session.data(for: ClientRequest(.get, Self.tunnelURL))
        }
        #expect(error?.kind == kind, "\(error?.description ?? "-")")
        #expect(cookies.cookies.isEmpty)
        #expect(seen.withLock { $0 } == ["CONNECT 0", "GET 0", "GET 0", "CONNECT 1"])
    }

    @Test(
        "RFC 9110, 9.2.2: A POST that may have been processed is not sent in a new tunnel",
        arguments: [200, 407])
    func notIdempotentTunnels(_ status: Int) async throws {
        let seen = Locked([String]())
        let peer = try proxy(
            "HTTP/1.1 \(status) X\r\n"
                + (status == 200
                    ? "\r\n" : "Proxy-Authenticate: Basic realm=r\r\nContent-Length: 0\r\n\r\n"),
            seen)
        let session = tunnelling(peer, CookieStorage())
        _ = try await session.data(for: ClientRequest(.get, Self.tunnelURL))
        let error = await failure {
            try await session.data(for: ClientRequest(.post, Self.tunnelURL))
        }
        #expect(error?.kind == .connectionLost, "\(error?.description ?? "-")")
        #expect(error?.isSafeToRetry == false)
        #expect(seen.withLock { $0 } == ["CONNECT 0", "GET 0", "POST 0", "CONNECT 1"])
    }

    @Test("Each of many connections with late bytes is checked before it is used again")
    func manySpoilt() async throws {
        let (first, sent) = (Locked(0), Locked(0))
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            first.withLock { $0 += 1 }
            for _ in 0..<60_000 where connection.index < 6 && first.withLock({ $0 < 6 }) {
                Pause.milliseconds(1)
            }
            connection.send(Self.answer)
            if connection.index < 6 { connection.send(Self.late) }
            sent.withLock { $0 += 1 }
            while connection.head() != nil { connection.send(Self.answer) }
        }
        let session = session(.never)
        func all(_ count: Int) async throws -> [HTTPStatus] {
            try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
                for _ in 0..<count {
                    let request = ClientRequest(.post, peer.url())
                    group.addTask { try await session.data(for: request).1.status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(try await all(6) == Array(repeating: .ok, count: 6))
        #expect(await soon { sent.withLock { $0 == 6 } })
        #expect(try await all(12) == Array(repeating: .ok, count: 12))
    }
}

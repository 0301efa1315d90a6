import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Delegates", .timeLimit(.minutes(2)))
struct DelegateTests {
    @Test("A task's own delegate is called instead of the session's, in the same order")
    func own() async throws {
        let server = try await TestServer()
        let (general, own) = (Recorder(), Recorder())
        let session = ClientSession(delegate: general)
        let request = ClientRequest(.get, server.url("/echo"))
        let first = session.dataTask(for: request)
        let second = session.dataTask(for: request, delegate: own)
        first.resume()
        second.resume()
        try await first.finished()
        try await second.finished()
        await general.wait { $0.last == "complete" }
        await own.wait { $0.last == "complete" }
        for delegate in [general, own] {
            #expect(
                delegate.log.filter { $0 != "content " } == ["response 200", "metrics", "complete"])
        }
        session.finishTasksAndInvalidate()
        await general.wait { $0.last == "invalid" }
        #expect(!own.log.contains("invalid"))
    }

    /// A peer that sends one byte of content in each chunk.
    static func tinyChunks(_ count: Int, _ fields: String = "") throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 200 OK\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n")
                connection.send((0..<count).map { "1\r\n\($0 % 10)\r\n" }.joined() + "0\r\n\r\n")
            }
        }
    }

    @Test("Small chunks that arrive together are joined into few delegate calls")
    func manyChunks() async throws {
        let count = 50_000
        let peer = try Self.tinyChunks(count)
        let delegate = Recorder()
        let task = ClientSession(.ephemeral, delegate: delegate).dataTask(
            for: ClientRequest(.get, peer.url()))
        task.resume()
        try await task.finished()
        await delegate.wait { $0.last == "complete" }
        #expect(delegate.size.withLock { $0 } == count)
        #expect(delegate.log.count < 5_000, "\(delegate.log.count)")
    }

    @Test("With a receive buffer of zero a delegate still gets all content")
    func noReceiveBuffer() async throws {
        let server = try await TestServer { _, router in
            router.on(.get, "/long") { _ in
                Response(.ok, body: .bytes([UInt8](repeating: 0x61, count: 1 << 20)))
            }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.receiveBuffer = 0
        let delegate = Recorder()
        let session = ClientSession(configuration, delegate: delegate)
        let task = session.dataTask(for: ClientRequest(.get, server.url("/long")))
        task.resume()
        try await task.finished()
        await delegate.wait { $0.last == "complete" }
        #expect(delegate.size.withLock { $0 } == 1 << 20)
    }

    /// Sends redirects to another target.
    private final class Rewriter: ClientSessionDelegate {
        let target: String
        let credential: ClientCredential?

        init(_ target: String, _ credential: ClientCredential?) {
            (self.target, self.credential) = (target, credential)
        }

        func task(
            _ task: TransferTask, willRedirectTo request: ClientRequest,
            from response: ClientResponse
        ) async -> ClientRequest? {
            var request = request
            request.url = ClientRequest(.get, target).url
            if let credential { request.credential = credential }
            return request
        }
    }

    @Test(
        "Credentials and cookies of a request are not sent to a delegate's redirect target",
        arguments: [nil, ClientCredential.password(user: "bob", password: "own")])
    func rewrittenRedirect(_ own: ClientCredential?) async throws {
        let first = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 302 Go\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let logins = Locked([String?]())
        let cookies = Locked(0)
        let other = try ScriptedPeer { connection in
            while let head = connection.head() {
                let line = head.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") }
                logins.withLock { $0.append(line.map { String($0.dropFirst(21)) }) }
                if head.contains("Cookie: ") { cookies.withLock { $0 += 1 } }
                connection.send(
                    (line == nil
                        ? "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\n"
                        : "HTTP/1.1 200 OK\r\n") + "Content-Length: 0\r\n\r\n")
            }
        }
        var request = ClientRequest(
            .get, "http://first.test/", fields: [.authorization: "Bearer t", .cookie: "a=b"])
        request.connectTo = ConnectTarget(host: "127.0.0.1", port: first.port)
        request.credential = .password(user: "ada", password: "secret")
        let (_, response) = try await ClientSession(.ephemeral).data(
            for: request, delegate: Rewriter(other.url(), own))
        #expect(response.status == (own == nil ? .unauthorized : .ok))
        let sent: [String?] = own == nil ? [nil] : [nil, "Ym9iOm93bg=="]
        #expect(logins.withLock { $0 } == sent)
        #expect(cookies.withLock { $0 } == 0)
        #expect(first.connectionCount == 1)
    }

    /// Adds the fields that frame content to redirects.
    private final class Framer: ClientSessionDelegate {
        func task(
            _ task: TransferTask, willRedirectTo request: ClientRequest,
            from response: ClientResponse
        ) async -> ClientRequest? {
            var request = request
            request.fields[.contentLength] = "5"
            request.fields[.transferEncoding] = "chunked"
            return request
        }
    }

    @Test("RFC 9112, 6: Framing fields that a delegate adds to a redirect are not sent")
    func framedRedirect() async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                connection.send(
                    head.contains(" /first ")
                        ? "HTTP/1.1 302 Go\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let (content, _) = try await ClientSession(.ephemeral).data(
            for: ClientRequest(.get, peer.url("/first")), delegate: Framer())
        #expect(content == Array("ok".utf8))
        let seen = heads.withLock { $0 }
        #expect(seen.count == 2 && seen.last?.hasPrefix("GET /second ") == true)
        for name in ["content-length", "transfer-encoding"] {
            #expect(seen.allSatisfy { ResumeRequest.value(name, $0) == nil }, "\(seen)")
        }
    }

    @Test("Redirect, interim response, response and content are reported in this order")
    func order() async throws {
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                #expect(connection.content(7) == Array("content".utf8))
                if head.contains(" /first ") {
                    connection.send(
                        "HTTP/1.1 307 Go\r\nLocation: /second\r\nContent-Length: 0\r\n\r\n")
                } else {
                    connection.send(
                        "HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n"
                            + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
        let delegate = Recorder()
        let session = ClientSession(delegate: delegate)
        let task = session.uploadTask(
            for: ClientRequest(.post, peer.url("/first")), from: .text("content"))
        try await task.finished()
        await delegate.wait { $0.last == "complete" }
        #expect(
            delegate.log.filter { $0 != "sent" } == [
                "redirect 307", "interim 103", "response 200", "content ok", "metrics", "complete",
            ])
        #expect(task.metrics?.transactions.count == 2 && task.metrics?.redirectCount == 1)
    }

    /// Makes new content for each request that needs it. The content can be read once.
    private final class Maker: ClientSessionDelegate {
        let count = Locked(0)

        func taskNeedsNewBody(_ task: TransferTask) async -> ClientBody {
            let number = count.withLock { count in
                count += 1
                return count
            }
            let stream = AsyncStream { continuation in
                continuation.yield(Array("content ".utf8))
                continuation.yield(Array("\(number)".utf8))
                continuation.finish()
            }
            return .stream(stream)
        }

        func task(
            _ task: TransferTask, didReceiveChallenge challenge: ClientChallenge
        ) async -> ChallengeAnswer {
            challenge.failureCount == 0 ? .use(.password(user: "u", password: "p")) : .reject
        }
    }

    @Test("The delegate makes its stream again after 307 and after 401")
    func newBodies() async throws {
        let seen = Locked([String]())
        let server = try await TestServer { _, router in
            let handler = AsyncHandler { request in
                let content = try await request.body.collect(upTo: 1_000)
                let text = String(decoding: content, as: UTF8.self)
                seen.withLock { $0.append("\(request.target.path) \(text)") }
                if request.target.path == "/first" {
                    return Response(.temporaryRedirect, fields: [.location: "/in"])
                }
                guard request.fields[.authorization] == "Basic dTpw" else {
                    throw HTTPError(
                        .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"r\""])
                }
                return Response(.ok, body: .bytes(content))
            }
            router.route(.post, "/first", to: handler)
            router.route(.post, "/in", to: handler)
        }
        let delegate = Maker()
        let session = ClientSession(.ephemeral)
        let task = session.uploadTask(
            for: ClientRequest(.post, server.url("/first")), from: nil, delegate: delegate)
        let response = try await task.finished()
        #expect(response.status == .ok && delegate.count.withLock { $0 } == 3)
        #expect(
            seen.withLock { $0 } == ["/first content 1", "/in content 2", "/in content 3"])
        // Without a delegate that can make it again, the redirect is the response.
        let once = AsyncStream { continuation in
            continuation.yield(Array("once".utf8))
            continuation.finish()
        }
        let (_, kept) = try await session.upload(
            for: ClientRequest(.post, server.url("/first")), from: .stream(once))
        #expect(kept.status == .temporaryRedirect)
    }

    @Test("HSTS: After an https response with the field, http requests use https")
    func strictTransport() async throws {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1", identity: try await certificates.identity(for: "a.test"),
                more: "add_header Strict-Transport-Security 'max-age=1000' always;\n"))
        var configuration = ClientConfiguration.ephemeral
        configuration.tls.authorities = .file(certificates.authority.certificate)
        configuration.strictTransport = StrictTransportStore()
        configuration.resolver.overrides = [
            .init(host: "a.test", port: server.port, addresses: ["127.0.0.1"])
        ]
        let session = ClientSession(configuration)
        func status(_ scheme: String) async throws -> (HTTPStatus, String?) {
            let (_, response) = try await session.data(
                for: ClientRequest(.get, server.url("/who", scheme: scheme, host: "a.test")))
            return (response.status, response.url.scheme)
        }
        // nginx responds 400 to plain HTTP at a TLS port.
        #expect(try await status("http") == (.badRequest, "http"))
        #expect(try await status("https") == (.ok, "https"))
        #expect(try await status("http") == (.ok, "https"))
    }

    @Test("Retry-After in the past is obeyed; a long or invalid one, or one after POST, is not")
    func retryAfter() async throws {
        for (method, value, count) in [
            (HTTPMethod.get, "Sun, 06 Nov 1994 08:49:37 GMT", 2), (.get, "3600", 1),
            (.post, "0", 1),
            (.get, "soon", 1),
        ] {
            let peer = try ScriptedPeer { connection in
                while connection.head() != nil {
                    connection.send(
                        connection.index == 0
                            ? "HTTP/1.1 503 No\r\nRetry-After: \(value)\r\nConnection: close\r\n"
                                + "Content-Length: 0\r\n\r\n"
                            : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    if connection.index == 0 { return }
                }
            }
            var configuration = ClientConfiguration.ephemeral
            configuration.retries.statuses = [.serviceUnavailable]
            let (_, response) = try await ClientSession(configuration).data(
                for: ClientRequest(method, peer.url()))
            #expect(response.status == (count == 2 ? .ok : .serviceUnavailable), "\(value)")
            #expect(peer.connectionCount == count)
        }
    }
}

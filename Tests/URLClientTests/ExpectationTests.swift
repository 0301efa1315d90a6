import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9110, 10.1.1: Expect: 100-continue", .timeLimit(.minutes(2)))
struct ExpectationTests {
    private static let content = TestServer.pattern(5_000)
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Content that can be sent again, and content that cannot.
    enum Body: CaseIterable {
        case bytes, once

        var body: ClientBody {
            switch self {
            case .bytes: .bytes(ExpectationTests.content)
            case .once:
                .stream(
                    AsyncStream { continuation in
                        continuation.yield(ExpectationTests.content)
                        continuation.finish()
                    }, length: 5_000)
            }
        }
    }

    private func request(
        _ url: String, _ body: Body = .bytes, wait: Duration = .seconds(100)
    ) -> ClientRequest {
        var request = ClientRequest(.put, url, body: body.body)
        request.expectation = .above(bytes: 1_000, wait: wait)
        return request
    }

    @Test("Content is sent only after 100 arrives", arguments: Body.allCases)
    func accepted(_ body: Body) async throws {
        let early = Locked(-1)
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                #expect(head.contains("Expect: 100-continue\r\n"))
                early.withLock { $0 = connection.waitingBytes(milliseconds: 100) }
                connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                #expect(connection.content(5_000) == Self.content)
                connection.send(Self.ok)
            }
        }
        let (content, response) = try await ClientSession().data(for: request(peer.url(), body))
        #expect(content == Array("ok".utf8) && response.interim.map(\.status.code) == [100])
        #expect(early.withLock { $0 } == 0)
    }

    @Test("After a refusal the content is not sent", arguments: Body.allCases)
    func refused(_ body: Body) async throws {
        let server = try await TestServer { _, router in
            router.on(.put, "/no") { _ in throw HTTPError(.contentTooLarge) }
        }
        let session = ClientSession(delegate: Recorder())
        let task = session.uploadTask(
            for: request(server.url("/no")), from: body.body)
        let response = try await task.finished()
        #expect(response.status == .contentTooLarge && task.countOfBytesSent == 0)
    }

    @Test("417: The request is sent again without Expect", arguments: Body.allCases, [false, true])
    func unmet(_ body: Body, keepsOpen: Bool) async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                if head.contains("Expect:") {
                    let close = keepsOpen ? "" : "Connection: close\r\n"
                    connection.send("HTTP/1.1 417 No\r\n\(close)Content-Length: 4\r\n\r\nno!\n")
                    if keepsOpen { continue } else { return }
                }
                #expect(connection.content(5_000) == Self.content)
                connection.send(Self.ok)
            }
        }
        let (content, response) = try await ClientSession().data(for: request(peer.url(), body))
        #expect(content == Array("ok".utf8) && response.status == .ok)
        #expect(heads.withLock { $0.map { $0.contains("Expect:") } } == [true, false])
    }

    @Test("417: A request with the application's own Expect is sent again without it")
    func unmetOwn() async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                guard !head.contains("Expect:") else {
                    connection.send("HTTP/1.1 417 No\r\nContent-Length: 4\r\n\r\nno!\n")
                    continue
                }
                #expect(connection.content(5_000) == Self.content)
                connection.send(Self.ok)
            }
        }
        var request = request(peer.url())
        request.expectation = .never
        request.fields[.expect] = "100-continue"
        let (content, response) = try await ClientSession().data(for: request)
        #expect(content == Array("ok".utf8) && response.status == .ok)
        #expect(heads.withLock { $0.map { $0.contains("Expect:") } } == [true, false])
    }

    @Test("417 after a part of a one-time stream is an error, and the request is not repeated")
    func late() async throws {
        let heads = Locked(0)
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            heads.withLock { $0 += 1 }
            // The client has waited long enough and has started to send.
            #expect(connection.content(3_000) == Array(Self.content.prefix(3_000)))
            connection.send("HTTP/1.1 417 No\r\nContent-Length: 4\r\n\r\nno!\n")
            connection.waitForEnd()
        }
        // The rest never comes: the client must not wait for it.
        let (pieces, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield(Array(Self.content.prefix(3_000)))
        var request = request(peer.url(), wait: .milliseconds(50))
        request.body = .stream(pieces, length: 5_000)
        let whole = request
        let error = await failure { try await ClientSession().data(for: whole) }
        #expect(error?.kind == .bodyNotReplayable, "\(error?.description ?? "-")")
        #expect(error?.bytesSent == 3_000 && error?.isSafeToRetry == false)
        #expect(heads.withLock { $0 } == 1)
        continuation.finish()
    }

    @Test(
        "A server that does not respond to Expect gets the content after the wait",
        arguments: Body.allCases)
    func silent(_ body: Body) async throws {
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                #expect(head.contains("Expect: 100-continue\r\n"))
                #expect(connection.content(5_000) == Self.content)
                connection.send(Self.ok)
            }
        }
        let (content, _) = try await ClientSession().data(
            for: request(peer.url(), body, wait: .milliseconds(50)))
        #expect(content == Array("ok".utf8))
    }

    @Test("Small content, and requests that switch it off, are sent without Expect")
    func notAsked() async throws {
        let server = try await TestServer()
        var small = request(server.url("/echo"))
        small.body = .text("small")
        _ = try await ClientSession().data(for: small)
        var never = request(server.url("/echo"))
        never.expectation = .never
        _ = try await ClientSession().data(for: never)
        #expect(server.seen("/echo").map { $0.fields[.expect] } == [nil, nil])
    }
}

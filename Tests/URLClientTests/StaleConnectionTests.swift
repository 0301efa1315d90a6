import HTTPCodecs
import HTTPParser
import Testing
import URLClient

@Suite(
    "RFC 9112, 9.3.1: connections that are closed when they are used again", .timeLimit(.minutes(2))
)
struct StaleConnectionTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Answers the first request of the first connection, and closes it when the second one has come;
    /// later connections answer all.
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
        "What is idempotent is sent once more, on a new connection",
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

    @Test(
        "What is not, and may have been done, is an error",
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

    @Test("A connection that was closed before is not used: any request goes out once")
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
        while !closed.isDone { try await Task.sleep(for: .milliseconds(1)) }
        let (content, _) = try await session.data(
            for: ClientRequest(.post, peer.url(), body: .text("content")))
        #expect(content == Array("ok".utf8))
        #expect(seen.withLock { $0 } == ["GET", "POST"] && peer.connectionCount == 2)
    }
}

import HTTPParser
import TestSupport
import Testing
import URLClient

/// A peer that ends a connection by `shutdown` and keeps its socket sends no reset: the client has
/// to notice the end itself.
@Suite(
    "RFC 9112, 9.6: Connections that end while their socket stays open", .timeLimit(.minutes(2)))
struct EndedConnectionTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
    private static let content = [UInt8](repeating: 7, count: 64 << 20)

    /// How a peer ends the connection after a request head, before it keeps its socket open.
    private static let endings: [String: @Sendable (PeerConnection) -> Void] = [
        "at once": { $0.finish() },
        "in one direction": { $0.finishSending() },
        "after some content": { connection in
            _ = connection.content(1 << 20)
            connection.finish()
        },
        "after some content, in one direction": { connection in
            _ = connection.content(1 << 20)
            connection.finishSending()
        },
        "when the client waits for room": { connection in
            Pause.milliseconds(500)
            connection.finish()
        },
        "within the head": { connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-")
            connection.finishSending()
        },
        "within the answer": { connection in
            connection.send(answer + "hello")
            connection.finishSending()
        },
    ]

    private func error(
        _ method: HTTPMethod, _ body: ClientBody,
        _ ending: @escaping @Sendable (PeerConnection) -> Void
    ) async throws -> ClientError? {
        let gate = Gate()
        defer { gate.open() }
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            ending(connection)
            gate.wait()
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.retries = .never
        let session = ClientSession(configuration)
        return await failure {
            try await session.data(for: ClientRequest(method, peer.url(), body: body))
        }
    }

    @Test(
        "The end of a connection while content is sent is an error",
        arguments: endings.keys.sorted(), [HTTPMethod.put, .post])
    func sending(_ name: String, _ method: HTTPMethod) async throws {
        let ending = try #require(Self.endings[name])
        let error = try await error(method, .bytes(Self.content), ending)
        let kinds: [ClientError.Kind] = [.connectionLost, .truncated, .emptyResponse]
        #expect(error.map { kinds.contains($0.kind) } == true, "\(error as Any)")
        #expect(error?.bytesSent ?? 0 < Int64(Self.content.count))
    }

    @Test(
        "The end of a connection before or within a response is an error",
        arguments: ["", "HTTP/1.1 ", answer + "hello"])
    func receiving(_ text: String) async throws {
        for isWhole in [true, false] {
            let error = try await error(.get, .none) { connection in
                connection.send(text)
                isWhole ? connection.finish() : connection.finishSending()
            }
            let kinds: [ClientError.Kind] = [.connectionLost, .truncated, .emptyResponse]
            #expect(error.map { kinds.contains($0.kind) } == true, "\(error as Any)")
        }
    }

    @Test("A complete response counts, also when the peer ends its stream during the upload")
    func wholeAnswer() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            connection.finishSending()
            connection.waitForEnd()
        }
        let session = ClientSession(.ephemeral)
        let (content, response) = try await session.data(
            for: ClientRequest(.put, peer.url(), body: .bytes(Self.content)))
        #expect(response.status == .ok && content == Array("ok".utf8))
    }
}

import HTTPCodecs
import HTTPParser
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9112, 5.2: fields over several lines", .timeLimit(.minutes(2)))
struct FoldedFieldTests {
    private func response(
        _ head: String, _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> ClientResponse {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 \(head)\r\nContent-Length: 0\r\n\r\n")
        }
        var configuration = ClientConfiguration.ephemeral
        change(&configuration)
        return try await ClientSession(configuration).data(
            for: ClientRequest(.get, peer.url())
        ).1
    }

    @Test("Folded lines are joined by a space; text like a field in them is not a field")
    func joined() async throws {
        let cookies = CookieStorage()
        let response = try await response(
            "200 OK\r\nX-Long: first\r\n Set-Cookie: evil=1\r\n\tthird\r\nX-Next: 1"
        ) { $0.cookies = cookies }
        #expect(response.fields["X-Long"] == "first Set-Cookie: evil=1 third")
        #expect(response.fields["X-Next"] == "1" && !response.fields.contains(.setCookie))
        #expect(response.reasonPhrase == "OK" && cookies.cookies.isEmpty)
    }

    @Test("Bare LF, lines of white space and a value that starts on the next line are read")
    func odd() async throws {
        let response = try await response("200 OK\nX: a\n b\nY:\r\n \r\n\tb  \r\nZ: c")
        #expect(response.fields["X"] == "a b" && response.fields["Y"] == "b")
        #expect(response.fields["Z"] == "c")
    }

    @Test("A folded Retry-After is read before the retry")
    func single() async throws {
        let count = Locked(0)
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                connection.send(
                    isFirst
                        ? "HTTP/1.1 503 No\r\nRetry-After:\r\n 0\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.retries.statuses = [.serviceUnavailable]
        let (_, response) = try await ClientSession(configuration).data(
            for: ClientRequest(.get, peer.url()))
        #expect(response.status == .ok && count.withLock { $0 } == 2)
    }
}

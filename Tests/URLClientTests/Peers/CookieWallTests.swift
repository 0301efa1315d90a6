import HTTPParser
import TestSupport
import Testing
import URLClient

/// Single sign-on and consent pages redirect to the same target and set a cookie, until the client
/// has all cookies.
@Suite("RFC 9110, 15.4: cookie walls of Apache", .timeLimit(.minutes(2)))
struct CookieWallTests {
    private func server() async throws -> PeerServer {
        let server = try await PeerServer.apache()
        try server.write(Array("content".utf8), to: "f.txt")
        return server
    }

    private func statuses(_ server: PeerServer) -> [Substring] {
        server.log.split(separator: "\n").filter { $0.hasPrefix("GET /wall/f.txt ") }
            .compactMap { $0.split(separator: " ").dropFirst(3).first }
    }

    @Test("Two redirects to the same target set two cookies, and then the content is sent")
    func passes() async throws {
        let server = try await server()
        let session = ClientSession(.ephemeral)
        let request = ClientRequest(.get, server.url("/wall/f.txt"))
        let (content, response) = try await session.data(for: request)
        #expect(response.status == .ok && content == Array("content".utf8))
        #expect(await server.waitForLog("GET /wall/f.txt HTTP/1.1 200"))
        #expect(statuses(server) == ["302", "302", "200"])
        // From now on the client sends both cookies.
        let other = ClientRequest(.get, server.url("/wall/f.txt?other"))
        #expect(try await session.data(for: other).1.status == .ok)
        #expect(await server.waitForLog("GET /wall/f.txt?other HTTP/1.1 200"))
        #expect(!server.log.contains("GET /wall/f.txt?other HTTP/1.1 302"))
    }

    @Test("A client without cookies fails at the redirect limit")
    func endsAtTheLimit() async throws {
        let server = try await server()
        var configuration = ClientConfiguration.ephemeral
        configuration.cookies = nil
        let request = ClientRequest(.get, server.url("/wall/f.txt"))
        let error = await failure { [configuration] in
            try await ClientSession(configuration).data(for: request)
        }
        #expect(error?.kind == .tooManyRedirects)
    }
}

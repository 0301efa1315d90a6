import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Text of a peer that is costly to compare", .timeLimit(.minutes(2)))
struct LongTextTests {
    /// Combining characters that Swift sorts before it compares them.
    private static let marks = String(repeating: "\u{0316}\u{0301}", count: 4_000)
    private static let turned = String(repeating: "\u{0301}\u{0316}", count: 4_000)

    @Test(
        "A field with a long run of combining characters is processed quickly",
        arguments: [
            "Cache-Control: max-age=1, @=1", "Pragma: @",
            "Set-Cookie: a=b; @=1",
            "Set-Cookie: @=1",
            "WWW-Authenticate: Digest realm=\"@\", nonce=\"@\"",
            "ETag: \"@\"", "Last-Modified: @", "Vary: @",
            "Location: /@",
            "Location: http://@/", "Content-Encoding: @", "Content-Type: @",
            "Strict-Transport-Security: @", "Authentication-Info: nextnonce=\"@\"",
            "Content-Range: @", "Accept-Ranges: @", "Retry-After: @",
        ])
    func fields(_ line: String) async throws {
        let parts = line.split(separator: "@", omittingEmptySubsequences: false)
        let lines = [Self.marks, Self.turned].map { parts.joined(separator: $0) }
        let statuses = ["200 OK", "401 No", "302 Found", "206 Part", "304 Not", "503 No"]
        let peer = try ScriptedPeer { connection in
            var count = 0
            while connection.head() != nil {
                let status = statuses[count / 2 % statuses.count]
                let length = status.hasPrefix("304") ? "" : "Content-Length: 2\r\n"
                connection.send(
                    "HTTP/1.1 \(status)\r\n\(lines[count % 2])\r\n\(length)\r\n"
                        + (length.isEmpty ? "" : "ok"))
                count += 1
            }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.strictTransport = StrictTransportStore()
        configuration.retries = .never
        configuration.connectionsPerOrigin = 1
        let origin = Origin(scheme: "http", host: "127.0.0.1", port: peer.port)
        configuration.authentication.credentials.set(
            .password(user: "u", password: "p"), for: origin)
        let session = ClientSession(configuration)
        let folder = try ServerDirectory()
        let isQuick = try await takesLess(than: .seconds(20)) {
            for number in 0..<12 {
                let request = ClientRequest(.get, peer.url("/\(number % 3)"))
                _ = await failure { try await session.data(for: request) }
                _ = await failure { try await session.download(for: request, to: folder.path("f")) }
            }
        }
        #expect(isQuick, "milliseconds, or minutes if the text is compared by characters")
    }

    @Test("Cookies with the same time, domain and path are sorted by the bytes of their names")
    func cookieOrder() throws {
        let cookies = CookieStorage()
        let url = try #require(URL(string: "http://a.example/"))
        var fields = HTTPFields()
        let names = ["\u{E9}b", "e\u{301}a", "z", "\u{212B}"]
        for name in names { fields.append(.setCookie, "\(name)=1") }
        cookies.store(from: fields, for: url)
        #expect(cookies.cookies.map(\.name) == ["e\u{301}a", "z", "\u{E9}b", "\u{212B}"])
    }
}

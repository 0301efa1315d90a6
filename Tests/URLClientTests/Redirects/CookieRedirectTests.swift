import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9110, 15.4: redirects that set cookies", .timeLimit(.minutes(3)))
struct CookieRedirectTests {
    @Test("Raw sockets: a redirect leads back to the first URL, with a cookie")
    func raw() async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let path = head.split(separator: " ")[1]
                heads.withLock { $0.append(String(path)) }
                let start =
                    path == "/set"
                    ? "302 Found\r\nSet-Cookie: consent=1\r\nLocation: /a"
                    : head.contains("Cookie: consent=1")
                        ? "200 OK" : "302 Found\r\nLocation: /set"
                connection.send("HTTP/1.1 \(start)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let session = ClientSession(.ephemeral)
        let (_, response) = try await session.data(for: ClientRequest(.get, peer.url("/a")))
        #expect(response.status == .ok && heads.withLock { $0 } == ["/a", "/set", "/a"])
    }

    @Test("Raw sockets: a URL that redirects to itself is requested until its response is 200")
    func counted() async throws {
        let count = Locked(0)
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let start = number < 5 ? "303 See Other\r\nLocation: /" : "200 OK"
                connection.send("HTTP/1.1 \(start)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let session = ClientSession(.ephemeral)
        let (_, response) = try await session.data(for: ClientRequest(.get, peer.url()))
        #expect(response.status == .ok && count.withLock { $0 } == 5)
    }

    @Test("nginx: a redirect leads back to the first URL, with a cookie")
    func nginx() async throws {
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1",
                more: """
                    location = /set {
                        add_header Set-Cookie "consent=1; Path=/" always;
                        return 302 /a;
                    }
                    location = /a {
                        if ($cookie_consent != "1") { return 302 /set; }
                        return 200 in;
                    }

                    """))
        let session = ClientSession(.ephemeral)
        let (content, response) = try await session.data(for: ClientRequest(.get, server.url("/a")))
        #expect(response.status == .ok && content == Array("in".utf8))
    }
}

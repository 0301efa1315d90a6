import Foundation
import HTTPCodecs
import HTTPParser
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9110, 10.2.2: Location with characters outside ASCII", .timeLimit(.minutes(2)))
struct ForeignLocationTests {
    @Test(
        "RFC 3492, 7.1 and others: host names are converted to ASCII",
        arguments: [
            ("b\u{FC}cher.test", "xn--bcher-kva.test"), ("B\u{DC}CHER.Test", "xn--bcher-kva.test"),
            ("fa\u{DF}.de", "xn--fa-hia.de"), ("m\u{FC}nchen.example.", "xn--mnchen-3ya.example."),
            (
                "\u{4ED6}\u{4EEC}\u{4E3A}\u{4EC0}\u{4E48}\u{4E0D}\u{8BF4}\u{4E2D}\u{6587}",
                "xn--ihqwcrb4cv8a8dqg056pqjye"
            ),
            (
                "\u{5B89}\u{5BA4}\u{5948}\u{7F8E}\u{6075}-with-super-monkeys",
                "xn---with-super-monkeys-pc58ag80a8qai00g7n9n"
            ),
            ("\u{FF41}\u{3002}b", "a.b"), ("plain.example", "plain.example"),
        ])
    func names(_ name: String, _ ascii: String) {
        #expect(InternationalName.ascii(name) == ascii)
    }

    @Test(
        "Host names with invisible characters and too long host names are refused",
        arguments: [
            "b\u{AD}\u{FC}cher.test", "x\u{200D}\u{FC}.test", "\u{202E}\u{FC}.test",
            String(repeating: "\u{FC}", count: 64) + ".test",
            String(repeating: "\u{4ED6}\u{FC}", count: 31) + ".test",
            String(repeating: "\u{FC}.", count: 2_000),
        ])
    func noNames(_ name: String) {
        #expect(InternationalName.ascii(name) == nil)
    }

    @Test(
        "Host, path and query of a reference become ASCII; an unsafe reference is refused",
        arguments: [
            ("http://b\u{FC}cher.test/\u{FC}?\u{FC}", "http://xn--bcher-kva.test/%C3%BC?%C3%BC"),
            ("//b\u{FC}cher.test:81", "http://xn--bcher-kva.test:81"),
            ("http://u@b\u{FC}cher.test/", nil), ("http://b\u{FC}cher.test\u{FF0F}x/", nil),
            ("http://\u{FC}\u{FF20}evil.test/", nil), ("http://\u{FC}\u{FF1A}80/", nil),
        ] as [(String, String?)])
    func references(_ value: String, _ wanted: String?) {
        #expect(URIReference(field: value, base: "http://a.test/")?.text == wanted)
    }

    private func peer(
        _ location: [UInt8], _ seen: Locked<[String]>, cookie: [UInt8] = []
    ) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while let head = connection.head() {
                seen.withLock { $0.append(head) }
                guard head.hasPrefix("GET / ") else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                connection.send(
                    Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + location
                        + Array("\r\nSet-Cookie: a=".utf8) + cookie + Array("\r\n\r\n".utf8))
            }
        }
    }

    @Test("A redirect to a host name outside ASCII requests the name's ASCII form")
    func redirect() async throws {
        let seen = Locked([String]())
        let target = try ScriptedPeer { connection in
            while let head = connection.head() {
                seen.withLock { $0.append(head) }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let first = try peer(Array("http://b\u{FC}cher.test:\(target.port)/".utf8), Locked([]))
        var configuration = ClientConfiguration.ephemeral
        configuration.resolver.overrides = [
            .init(host: "xn--bcher-kva.test", port: target.port, addresses: ["127.0.0.1"])
        ]
        let session = ClientSession(configuration)
        let (_, response) = try await session.data(for: ClientRequest(.get, first.url()))
        #expect(response.status == .ok)
        let host = "Host: xn--bcher-kva.test:\(target.port)\r\n"
        #expect(seen.withLock { $0 }.first?.contains(host) == true)
    }

    @Test("Bytes that are not UTF-8 are percent-encoded in URLs, and sent back in cookies")
    func bytes() async throws {
        let received = Locked([UInt8]())
        var redirect = Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf".utf8)
        redirect.append(0xE9)
        redirect += "?x=".utf8
        redirect.append(0xFF)
        redirect += "\r\nSet-Cookie: a=".utf8
        redirect += [0x80, 0xFF]
        redirect += "\r\nSet-Cookie: b=\u{E9}\r\n\r\n".utf8
        let found = redirect
        let peer = try ScriptedPeer { connection in
            var bytes: [UInt8] = []
            while true {
                let more = connection.receive()
                guard !more.isEmpty else { break }
                bytes += more
                guard bytes.suffix(4) == [13, 10, 13, 10] else { continue }
                received.withLock { $0 += bytes }
                let isFirst = bytes.starts(with: Array("GET / ".utf8))
                bytes = []
                if isFirst {
                    connection.send(found)
                } else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                }
            }
        }
        let session = ClientSession(.ephemeral)
        for _ in 0..<2 {
            let (_, response) = try await session.data(for: ClientRequest(.get, peer.url()))
            #expect(response.status == .ok)
            let url = response.url.absoluteString
            #expect(url.hasSuffix("/caf%E9?x=%FF"))
        }
        var cookie = Array("Cookie: a=".utf8)
        cookie += [0x80, 0xFF]
        cookie += "; b=\u{E9}\r\n".utf8
        let lines = received.withLock { $0 }.split(separator: 10)
        let cookies = lines.filter { $0.starts(with: Array("Cookie:".utf8)) }
        #expect(cookies.count == 3)
        #expect(cookies.allSatisfy { $0 == cookie.dropLast() })
    }
}

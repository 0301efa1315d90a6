import HTTPParser
import Testing
import URLClient

@testable import httpkit

@Suite("httpkit fetch: URLs and proxies on the command line")
struct FetchAddressTests {
    @Test(
        "A URL without a scheme is an http URL",
        arguments: [
            ("example.org", "http://example.org"), ("localhost", "http://localhost"),
            ("localhost:8080/x", "http://localhost:8080/x"), ("[::1]:80/", "http://[::1]:80/"),
            ("a.b/?u=https://c", "http://a.b/?u=https://c"), ("http://a", "http://a"),
            ("HTTPS://a", "HTTPS://a"), ("ws://a", "ws://a"), ("://a", "http://://a"),
            ("user:pw@host", "http://user:pw@host"), ("1://a", "http://1://a"),
        ])
    func completed(_ text: String, _ url: String) {
        #expect(FetchAddress.completed(text) == url)
    }

    @Test(
        "The name of a file is the last segment of the path, without decoding",
        arguments: [
            ("http://a/b/c.txt", "c.txt"), ("a/b%2Fc?x=/d", "b%2Fc"), ("a/b;c#/d", "b;c"),
            ("http://a", nil), ("http://a/", nil), ("a/b/", nil), ("a/..", nil), ("a/.", nil),
            ("a/x\ny", nil), ("a", nil),
        ] as [(String, String?)])
    func fileName(_ url: String, _ name: String?) {
        #expect(FetchAddress.fileName(of: url) == name)
    }

    @Test(
        "The scheme, host, port, user and password of a proxy are read",
        arguments: [
            ("p.example", ClientProxy(host: "p.example", port: 1_080)),
            ("p.example:3128", ClientProxy(host: "p.example", port: 3_128)),
            ("http://p.example:80/", ClientProxy(host: "p.example", port: 80)),
            ("HTTPS://p.example", ClientProxy(.https, host: "p.example", port: 443)),
            ("socks5h://[::1]:9050", ClientProxy(.socks5h, host: "::1", port: 9_050)),
            (
                "socks5://a%40b:c%3Ad@p:1",
                ClientProxy(.socks5, host: "p", port: 1, user: "a@b", password: "c:d")
            ),
            ("ann@p", ClientProxy(host: "p", port: 1_080, user: "ann", password: "")),
        ])
    func proxies(_ text: String, _ proxy: ClientProxy) throws {
        #expect(try FetchReachOptions.proxy(text) == proxy)
    }

    @Test(
        "Invalid proxies are refused",
        arguments: [
            "", "ftp://p", "p:0", "p:65536", "p:x", "p:", "http://", "[::1", "p/q", "%zz@p",
            "p:+5",
        ])
    func wrongProxies(_ text: String) {
        #expect(throws: (any Error).self) { try FetchReachOptions.proxy(text) }
    }

    @Test("Control characters of a server are escaped in a trace")
    func trace() {
        let bytes = Array("HTTP/1.1 200 \u{1B}[2J\r\nA: b\n".utf8)
        let lines = TraceDisplay.lines(of: ClientTrace(kind: .received, bytes: bytes))
        var shown: [UInt8] = []
        shown.append(copying: lines.bytes)
        #expect(String(decoding: shown, as: UTF8.self) == "< HTTP/1.1 200 \\x1b[2J\n< A: b\n")
    }
}

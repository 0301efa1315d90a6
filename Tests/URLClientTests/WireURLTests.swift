import HTTPParser
import Testing
import URLClient

@Suite("The URL of a request")
struct WireURLTests {
    @Test(
        "The origin is lower case and has the scheme's port",
        arguments: [
            ("http://EXAMPLE.org", "http", "example.org", 80),
            ("HTTPS://example.org/a", "https", "example.org", 443),
            ("http://user:secret@example.org:8080/?q", "http", "example.org", 8080),
            ("http://[::1]:81/", "http", "::1", 81),
            ("http://a@b@c.example/", "http", "c.example", 80),
        ])
    func origin(_ url: String, _ scheme: String, _ host: String, _ port: Int) {
        #expect(
            ClientRequest(.get, url).origin
                == Origin(scheme: scheme, host: host, port: UInt16(port)))
    }

    @Test(
        "A host that ends in a number is an IPv4 address, in its usual spelling",
        arguments: [
            ("127.0.0.1", "127.0.0.1"), ("134744072", "8.8.8.8"), ("0x7F.1", "127.0.0.1"),
            ("0X7f000001", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"), ("192.0.519", "192.0.2.7"),
            ("192.0.2.7.", "192.0.2.7"), ("0", "0.0.0.0"), ("4294967295", "255.255.255.255"),
            ("1.example", "1.example"), ("1.2x", "1.2x"),
        ])
    func addresses(_ host: String, _ address: String) {
        #expect(ClientRequest(.get, "http://\(host)/").origin?.host == address)
    }

    @Test(
        "An invalid URL, or one of another scheme, has no origin",
        arguments: [
            "", "example.org", "/a", "ftp://example.org/", "http:///a", "http://example.org:-1/",
            "http://\u{FF05}31\u{FF05}32\u{FF05}37.0.0.1/", "http://%EF%BC%8531.0.0.1/",
            "http://\u{E4}%EF%BC%8531.example/",
            "http://4294967296/", "http://256.0.0.1/", "http://1.2.3.4.5/", "http://a.1/",
            "http://08/", "http://0x+1.1/", "http://1..1/",
            "http://example.org:65536/", "http://example.org:0/", "http:example.org",
        ])
    func notAnOrigin(_ url: String) {
        #expect(ClientRequest(.get, url).origin == nil)
    }
}

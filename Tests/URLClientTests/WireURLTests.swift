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
        "What is no http URL has no origin",
        arguments: [
            "", "example.org", "/a", "ftp://example.org/", "http:///a", "http://example.org:-1/",
            "http://\u{FF05}31\u{FF05}32\u{FF05}37.0.0.1/", "http://%EF%BC%8531.0.0.1/",
            "http://\u{E4}%EF%BC%8531.example/",
            "http://example.org:65536/", "http://example.org:0/", "http:example.org",
        ])
    func notAnOrigin(_ url: String) {
        #expect(ClientRequest(.get, url).origin == nil)
    }
}

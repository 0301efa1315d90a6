import HTTPCodecs

/// Messages that a client must understand, though few servers send them.
extension TortureCase {
    static let legal: [TortureCase] = [
        TortureCase(
            "no-reason", "A status line without a reason phrase (RFC 9112 section 4).",
            .message(["HTTP/1.1 200 ", "Content-Length: 6"], Array("whole\n".utf8)), .keepOpen),
        TortureCase(
            "no-reason-no-space", "No reason phrase and no space before it, as from ChromeDriver.",
            .message(["HTTP/1.1 200", "Content-Length: 6"], Array("whole\n".utf8)), .keepOpen),
        TortureCase(
            "odd-status", "An unknown status, 299.",
            .message(["HTTP/1.1 299 Odd", "Content-Length: 6"], Array("whole\n".utf8)), .keepOpen),
        TortureCase(
            "bare-lf", "Lines that end with LF alone (RFC 9112 section 2.2).",
            .send("HTTP/1.1 200 OK\nContent-Length: 6\nX-Odd: yes\n\nwhole\n"), .keepOpen),
        TortureCase(
            "latin-1", "A field value with bytes that are not UTF-8 (obs-text).",
            .send(
                Array("HTTP/1.1 200 OK\r\nX-Name: Ren".utf8) + [0xE9]
                    + Array("\r\nContent-Length: 6\r\n\r\nwhole\n".utf8)), .keepOpen),
        TortureCase(
            "obs-fold", "A field value that continues on the next line (RFC 9112 section 5.2).",
            .whole("whole\n", ["X-Long: first", " second", "\tthird"]), .keepOpen),
        TortureCase(
            "no-space", "No space after colons, and white space around values.",
            .whole("whole\n", ["X-Tight:yes", "X-Wide: \t  yes \t "]), .keepOpen),
        TortureCase(
            "empty-values", "Fields without values.",
            .whole("whole\n", ["X-Empty:", "X-Blank:  "]), .keepOpen),
        TortureCase(
            "same-length-twice", "Content-Length twice, with one value (RFC 9110 section 8.6).",
            .ok(["Content-Length: 6", "Content-Length: 6"], "whole\n"), .keepOpen),
        TortureCase(
            "interim", "100, 102 and 103 before the response.",
            .message(["HTTP/1.1 100 Continue"]),
            .message(["HTTP/1.1 102 Processing"]),
            .message(["HTTP/1.1 103 Early Hints", "Link: </a.css>; rel=preload"]),
            .whole("whole\n", ["Link: </b.css>; rel=preload"]), .keepOpen),
        TortureCase(
            "interim-flood", "A thousand responses of 103 before the response.",
            .flood(
                Array("HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n".utf8),
                times: 1000),
            .whole(), .keepOpen),
        TortureCase(
            "trailers", "Chunked content with trailers.",
            .ok(
                ["Transfer-Encoding: chunked", "Trailer: X-Sum"],
                "6\r\nwhole\n\r\n0\r\nX-Sum: 42\r\nX-Other: more\r\n\r\n"), .keepOpen),
        TortureCase(
            "chunk-extensions", "Chunks with extensions (RFC 9112 section 7.1.1).",
            .ok(
                ["Transfer-Encoding: chunked"],
                "3;a=1;b=\"x;y\"\r\nwho\r\n0003 ; c\r\nle\n\r\n0;last\r\n\r\n"), .keepOpen),
        TortureCase(
            "tiny-chunks", "A chunk for each byte, each in a separate packet.",
            .ok(["Transfer-Encoding: chunked"]),
            .drip(
                Array("1\r\nw\r\n1\r\nh\r\n1\r\no\r\n1\r\nl\r\n1\r\ne\r\n1\r\n\n\r\n".utf8),
                pause: .milliseconds(1)),
            .send("0\r\n\r\n"), .keepOpen),
        TortureCase(
            "until-close", "Content that ends with the connection.",
            .ok(["Connection: close"], "whole\n")),
        TortureCase(
            "http-1.0", "A response of HTTP/1.0.",
            .message(["HTTP/1.0 200 OK", "Content-Type: text/plain"], Array("whole\n".utf8))),
        TortureCase(
            "byte-by-byte", "A response whose bytes arrive one by one.",
            .drip(
                Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nwhole\n".utf8),
                pause: .milliseconds(2)), .keepOpen),
        TortureCase(
            "no-content-with-length", "204 with a Content-Length that has no meaning.",
            .message(["HTTP/1.1 204 No Content", "Content-Length: 6"]), .keepOpen),
        TortureCase(
            "not-modified-with-length", "304 with the length of the unchanged content.",
            .message(
                ["HTTP/1.1 304 Not Modified", "ETag: \"a\"", "Content-Length: 1000"]), .keepOpen),
        TortureCase(
            "many-cookies", "A hundred cookies.",
            .whole("whole\n", (0..<100).map { "Set-Cookie: c\($0)=\($0); Path=/" }), .keepOpen),
        TortureCase(
            "two-members", "Gzip of two members (RFC 1952 section 2.2).",
            .message(
                gzipHead(twoMembers.count), twoMembers), .keepOpen),
        TortureCase(
            "raw-deflate", "The coding deflate without its wrapper, as some servers send it.",
            .message(
                ["HTTP/1.1 200 OK", "Content-Encoding: deflate", "Content-Length: 11"],
                // One stored block (RFC 1951 section 3.2.4).
                [0x01, 0x06, 0x00, 0xF9, 0xFF] + Array("whole\n".utf8)), .keepOpen),
        TortureCase(
            "stale", "Keeps the connection, and closes it when the next request arrives.",
            .whole("whole\n", ["Keep-Alive: timeout=60"]), .nextRequest),
        TortureCase(
            "stale-reset", "Keeps the connection, and resets it when the next request arrives.",
            .whole("whole\n", ["Keep-Alive: timeout=60"]), .nextRequest, .reset),
        TortureCase(
            "closes-soon", "Keeps the connection, and closes it after 50 milliseconds.",
            .whole(), .pause(.milliseconds(50))),
        TortureCase(
            "refuses-early", "413 before the content of the request was read.",
            .message(["HTTP/1.1 413 Content Too Large", "Content-Length: 0", "Connection: close"])),
    ]

    static func gzipHead(_ length: Int) -> [String] {
        ["HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Length: \(length)"]
    }

    static func gzip(_ text: String) -> [UInt8] { (try? Array(text.utf8).gzipped()) ?? [] }

    private static let twoMembers = gzip("who") + gzip("le\n")
}

import HTTPCodecs
internal import HTTPParser

/// Messages that are wrong, or never end.
extension TortureCase {
    static let brokenHeads: [TortureCase] = [
        TortureCase("http-0.9", "Content without a head.", .send("whole\n")),
        TortureCase(
            "garbage", "Bytes that are not HTTP.",
            .send((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13 | 0x80) })),
        TortureCase(
            "wrong-version", "HTTP/9.9.", .message(["HTTP/9.9 200 OK", "Content-Length: 6"]),
            .send("whole\n")),
        TortureCase(
            "wrong-protocol", "Another protocol's name.",
            .message(["ICY 200 OK", "Content-Length: 6"]), .send("whole\n")),
        TortureCase(
            "bad-status", "A status that is not a number.",
            .message(["HTTP/1.1 two OK", "Content-Length: 0"])),
        TortureCase(
            "long-status", "A status of four digits.",
            .message(["HTTP/1.1 2000 OK", "Content-Length: 0"])),
        TortureCase(
            "no-colon", "A field line without a colon.", .whole("whole\n", ["X-Odd yes"])),
        TortureCase(
            "space-before-colon", "A space before the colon.",
            .whole("whole\n", ["X-Odd : yes"])),
        TortureCase("empty-name", "A field without a name.", .whole("whole\n", [": yes"])),
        TortureCase("nul", "A NUL in a field value.", .whole("whole\n", ["X-Odd: a\0b"])),
        TortureCase("bare-cr", "A CR alone in a field value.", .whole("whole\n", ["X-Odd: a\rb"])),
        TortureCase(
            "huge-field", "A field of 1 MiB.",
            .send("HTTP/1.1 200 OK\r\nX-Huge: "),
            .flood([UInt8](repeating: UInt8(ascii: "x"), count: 1024), times: 1024),
            .send("\r\nContent-Length: 6\r\n\r\nwhole\n")),
        TortureCase(
            "field-flood", "Ten thousand fields.",
            .send("HTTP/1.1 200 OK\r\n"),
            .flood(Array("X-Some: value\r\n".utf8), times: 10_000),
            .send("Content-Length: 6\r\n\r\nwhole\n")),
        TortureCase(
            "endless-head", "Fields without end.",
            .send("HTTP/1.1 200 OK\r\n"),
            .flood(Array("X-Some: value\r\n".utf8), times: .max)),
        TortureCase(
            "endless-line", "A status line without end.",
            .send("HTTP/1.1 200 "),
            .flood([UInt8](repeating: UInt8(ascii: "x"), count: 1024), times: .max)),
        TortureCase(
            "endless-interim", "103 without end.",
            .flood(Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8), times: .max)),
        TortureCase(
            "slow-head", "A head at one byte per second.",
            .drip(
                Array("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n".utf8), pause: .seconds(1)),
            .send("whole\n")),
        TortureCase("silence", "No answer.", .wait),
        TortureCase("close", "The connection ends before an answer."),
        TortureCase("reset", "The connection is reset before an answer.", .reset),
        TortureCase(
            "close-in-head", "The connection ends inside the head.",
            .send("HTTP/1.1 200 OK\r\nContent-Le")),
        TortureCase(
            "reset-in-head", "The connection is reset inside the head.",
            .send("HTTP/1.1 200 OK\r\nContent-Le"), .pause(.milliseconds(50)), .reset),
        TortureCase(
            "switch-unasked", "101 to a client that has not requested an upgrade.",
            .message(["HTTP/1.1 101 Switching Protocols", "Connection: upgrade", "Upgrade: odd"]),
            .send("odd bytes"), .wait),
        TortureCase(
            "continue-only", "100, and then nothing.", .message(["HTTP/1.1 100 Continue"]), .wait),
        TortureCase(
            "continue-close", "100, then a close.", .message(["HTTP/1.1 100 Continue"])),
    ]

    static let brokenContent: [TortureCase] = [
        TortureCase("short", "Less content than announced.", .ok(["Content-Length: 100"], "part")),
        TortureCase(
            "short-reset", "Less content than announced, and a reset.",
            .ok(["Content-Length: 100"], "part"), .pause(.milliseconds(50)), .reset),
        TortureCase(
            "long", "More content than announced.", .ok(["Content-Length: 6"], "whole\nmore")),
        TortureCase(
            "second-response", "An unsolicited response after the first one.",
            .whole(), .whole("foreign\n"), .keepOpen),
        TortureCase(
            "two-lengths", "Two lengths that differ.",
            .ok(["Content-Length: 6", "Content-Length: 3"], "whole\n")),
        TortureCase(
            "length-and-chunked", "A length, and chunked content as well.",
            .ok(
                ["Content-Length: 3", "Transfer-Encoding: chunked"],
                "6\r\nwhole\n\r\n0\r\n\r\n")),
        TortureCase(
            "bad-length", "A length that is no number.", .ok(["Content-Length: six"], "whole\n")),
        TortureCase("negative-length", "A length below 0.", .ok(["Content-Length: -6"], "whole\n")),
        TortureCase(
            "huge-length", "A length that exceeds 64 bits.",
            .ok(["Content-Length: 99999999999999999999999"], "whole\n")),
        TortureCase(
            "unknown-transfer-coding", "An unknown transfer coding.",
            .ok(["Transfer-Encoding: odd, chunked"], "6\r\nwhole\n\r\n0\r\n\r\n")),
        TortureCase(
            "bad-chunk", "A chunk whose length is not a number.",
            .ok(["Transfer-Encoding: chunked"], "6\r\nwhole\n\r\nzz\r\nmore\r\n0\r\n\r\n")),
        TortureCase(
            "huge-chunk", "A chunk whose length exceeds 64 bits.",
            .ok(["Transfer-Encoding: chunked"], "6\r\nwhole\n\r\nFFFFFFFFFFFFFFFFFF\r\nmore")),
        TortureCase(
            "chunk-without-end", "A chunk that is longer than its size.",
            .ok(["Transfer-Encoding: chunked"], "3\r\nwhole\n\r\n0\r\n\r\n")),
        TortureCase(
            "truncated-chunk", "The connection ends inside a chunk.",
            .ok(["Transfer-Encoding: chunked"], "64\r\npart")),
        TortureCase(
            "no-last-chunk", "The connection ends before the last chunk.",
            .ok(["Transfer-Encoding: chunked"], "6\r\nwhole\n\r\n")),
        TortureCase(
            "endless-chunk-extension", "A chunk extension without end.",
            .ok(["Transfer-Encoding: chunked"], "6;"),
            .flood([UInt8](repeating: UInt8(ascii: "x"), count: 1024), times: .max)),
        TortureCase(
            "endless-trailers", "Trailers without end.",
            .ok(["Transfer-Encoding: chunked"], "6\r\nwhole\n\r\n0\r\n"),
            .flood(Array("X-Some: value\r\n".utf8), times: .max)),
        TortureCase(
            "endless", "Content without end.", .ok(["Connection: close"]),
            .flood([UInt8](repeating: UInt8(ascii: "."), count: 1024), times: .max)),
        TortureCase(
            "slow", "Content at one byte per second.", .ok(["Content-Length: 60"]),
            .drip([UInt8](repeating: UInt8(ascii: "."), count: 60), pause: .seconds(1))),
        TortureCase(
            "stall", "Half of the content, and then nothing.",
            .ok(["Content-Length: 12"], "whole\n"), .wait),
        TortureCase(
            "stall-before-content", "A head, and then nothing.", .ok(["Content-Length: 12"]), .wait),
        TortureCase(
            "gzip-garbage", "Content announced as gzip that is not gzip.",
            .ok(["Content-Encoding: gzip", "Content-Length: 6"], "whole\n")),
        TortureCase(
            "gzip-truncated", "Gzip that ends early.",
            .message(
                gzipHead(14), Array(gzip("whole and some more, so that it is long").prefix(14)))),
        TortureCase(
            "gzip-bad-check", "Gzip whose check value is wrong.",
            .message(gzipHead(spoiltGzip.count), spoiltGzip)),
        TortureCase(
            "gzip-bomb", "Half a gigabyte of zeros, as gzip of half a megabyte.",
            .message(gzipHead(bomb.count), bomb), .keepOpen),
        TortureCase(
            "unknown-coding", "An unknown content coding.",
            .whole("whole\n", ["Content-Encoding: odd"]), .keepOpen),
    ]

    static let redirects: [TortureCase] = [
        redirect("redirect-self", "A redirect to itself.", "/redirect-self"),
        redirect("redirect-ping", "A redirect that leads back by another.", "/redirect-pong"),
        redirect("redirect-pong", "The second redirect of that loop.", "/redirect-ping"),
        redirect("redirect-bad", "A Location that is not a reference.", "http://[half"),
        redirect("redirect-empty", "An empty Location.", ""),
        redirect("redirect-spaces", "A Location with spaces.", "/no-reason?a b c"),
        redirect("redirect-file", "A Location on the client's own disk.", "file:///etc/hostname"),
        redirect("redirect-scheme", "A Location of another scheme.", "gopher://127.0.0.1:70/1x"),
        redirect("redirect-user", "A Location with name and password.", "//ada:secret@127.0.0.1/"),
        redirect(
            "redirect-split", "A Location with escaped line ends.",
            "/no-reason%0D%0ASet-Cookie:%20a=b"),
        TortureCase(
            "redirect-nowhere", "A redirect without Location.",
            .message(["HTTP/1.1 302 Found", "Content-Length: 6"], Array("whole\n".utf8)), .keepOpen),
        TortureCase(
            "redirect-two", "Two Locations.",
            .message([
                "HTTP/1.1 302 Found", "Location: /no-reason", "Location: /bare-lf",
                "Content-Length: 0",
            ]), .keepOpen),
    ]

    private static func redirect(_ name: String, _ text: String, _ location: String) -> Self {
        TortureCase(
            name, text,
            .message(["HTTP/1.1 302 Found", "Location: \(location)", "Content-Length: 0"]),
            .keepOpen)
    }

    private static let spoiltGzip: [UInt8] = {
        var bytes = gzip("whole\n")
        if bytes.count > 8 { bytes[bytes.count - 8] ^= 0xFF }
        return bytes
    }()

    /// 512 MiB of zeros. Each MiB after the first compresses to the same bytes, so only two of them
    /// are compressed; an empty last block, the check value and the length end the stream (RFC
    /// 1952).
    private static let bomb: [UInt8] = {
        let megabyte = [UInt8](repeating: 0, count: 1 << 20)
        guard var encoder = try? GzipEncoder(level: 9) else { return [] }
        var output: [UInt8] = []
        encoder.encode(megabyte.span, into: &output)
        encoder.flush(into: &output)
        var block: [UInt8] = []
        encoder.encode(megabyte.span, into: &block)
        encoder.flush(into: &block)
        for _ in 1..<512 { output += block }
        output += [0x03, 0x00]
        output += [0x20, 0x83, 0xB8, 0x6D]
        return output + [0x00, 0x00, 0x00, 0x20]
    }()
}

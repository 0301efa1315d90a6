import HTTPParser
import Testing

@Suite("RFC 9112, 6.3: The body parser")
struct BodyParserTests {
    private func read(
        _ framing: BodyFraming, _ text: String, limits: ParserLimits = .standard
    ) throws(HTTPParseError) -> (content: String, rest: Int, isComplete: Bool) {
        var parser = BodyParser(framing, limits: limits)
        let bytes = Array(text.utf8)
        var content: [UInt8] = []
        var position = 0
        while case .content(let range) = try parser.next(bytes.span, from: &position) {
            content += bytes[range]
        }
        return (String(decoding: content, as: UTF8.self), bytes.count - position, parser.isComplete)
    }

    @Test(
        "Every framing reads only the bytes of its content",
        arguments: [
            (.none, "abc", "", 3, true), (.tunnel, "abc", "", 3, true),
            (.length(0), "abc", "", 3, true), (.length(2), "abc", "ab", 1, true),
            (.length(3), "abc", "abc", 0, true), (.length(4), "abc", "abc", 0, false),
            (.untilClose, "abc", "abc", 0, false),
            (.chunked, "2\r\nab\r\n0\r\n\r\nc", "ab", 1, true),
            (.chunked, "2\r\nab\r\n0\r\n", "ab", 0, false),
            (.chunked, "2\r\nab\r\n0\r\nA: b\r\n\r\nc", "ab", 1, true),
        ] as [(BodyFraming, String, String, Int, Bool)])
    func framings(
        framing: BodyFraming, text: String, content: String, rest: Int, isComplete: Bool
    ) throws {
        let read = try read(framing, text)
        #expect(read.content == content)
        #expect(read.rest == rest)
        #expect(read.isComplete == isComplete)
    }

    @Test("Empty content is complete before any byte is read")
    func empty() {
        #expect(BodyParser(.none).isComplete == true)
        #expect(BodyParser(.length(0)).isComplete == true)
        #expect(BodyParser(.length(1)).isComplete == false)
        #expect(BodyParser(.chunked).isComplete == false)
        #expect(BodyParser(.untilClose).isComplete == false)
    }

    @Test("The end of input completes content until close, and truncates other content")
    func finish() throws {
        var open = BodyParser(.untilClose)
        try open.finish(at: 7)
        #expect(open.isComplete == true)
        var whole = BodyParser(.none)
        try whole.finish(at: 7)
        for framing in [.length(1), .chunked] as [BodyFraming] {
            #expect(throws: HTTPParseError(.truncated, at: 7)) {
                var parser = BodyParser(framing)
                try parser.finish(at: 7)
            }
        }
    }

    @Test("Trailers are available when the message is complete")
    func trailers() throws {
        var parser = BodyParser(.chunked)
        let bytes = Array("0\r\nA: b\r\nA: c\r\n\r\n".utf8)
        var position = 0
        #expect(parser.trailers.isEmpty)
        #expect(try parser.next(bytes.span, from: &position) == .end)
        #expect(parser.trailers == ["A": "b", "A": "c"])
        #expect(try parser.next(bytes.span, from: &position) == .end)
    }

    @Test("Offsets of errors count from the first given byte, also in trailers")
    func offsets() {
        for (text, kind, offset) in [
            ("1\r\nax", .missingChunkEnd, 4), ("0\r\nA b: c\r\n\r\n", .whitespaceBeforeColon, 4),
            ("x", .invalidChunkSize, 0),
        ] as [(String, HTTPParseError.Kind, Int)] {
            #expect(throws: HTTPParseError(kind, at: offset)) { try read(.chunked, text) }
        }
    }

    @Test("A Content-Length above the limit is refused before any byte of content")
    func limit() {
        var limits = ParserLimits()
        limits.contentBytes = 3
        #expect(throws: HTTPParseError(.contentTooLong, at: 0)) {
            try read(.length(4), "", limits: limits)
        }
        #expect(throws: Never.self) { try read(.length(3), "abc", limits: limits) }
    }
}

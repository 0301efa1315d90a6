import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 9112, 7.1: Decoding chunked content")
struct ChunkedDecoderTests {
    /// The result of decoding an input: content, trailers and the error that ended it.
    struct Outcome: Equatable {
        var content: [UInt8] = []
        var trailers = HTTPFields()
        var error: CodecError?
    }

    private func decode(
        _ bytes: [UInt8], cuts: [Int] = [], limits: ParserLimits = .standard
    ) -> Outcome {
        var decoder = ChunkedDecoder(limits: limits)
        var outcome = Outcome()
        do throws(CodecError) {
            var start = 0
            for cut in cuts + [bytes.count] {
                try decoder.decode(Array(bytes[start..<cut]).span, into: &outcome.content)
                start = cut
            }
            try decoder.finish()
            outcome.trailers = decoder.trailers
        } catch {
            outcome.error = error
        }
        return outcome
    }

    /// Decodes by the steps that copy nothing; keeps the unread bytes as a caller does.
    private func step(_ bytes: [UInt8], by count: Int) -> Outcome {
        var decoder = ChunkedDecoder()
        var outcome = Outcome()
        var kept: [UInt8] = []
        do throws(CodecError) {
            for start in stride(from: 0, to: bytes.count, by: count) {
                kept += bytes[start..<min(start + count, bytes.count)]
                var position = 0
                while case .content(let range) = try decoder.next(kept.span, from: &position) {
                    outcome.content += kept[range]
                }
                kept.removeFirst(position)
            }
            try decoder.finish()
            outcome.trailers = decoder.trailers
        } catch {
            outcome.error = error
        }
        return outcome
    }

    static let cases: [(String, String, HTTPFields)] = [
        ("0\r\n\r\n", "", [:]),
        ("000\r\n\r\n", "", [:]),
        ("3\r\nabc\r\n0\r\n\r\n", "abc", [:]),
        ("1\r\na\r\nA\r\n0123456789\r\n0\r\n\r\n", "a0123456789", [:]),
        ("0000000000000003\r\n\r\n\r\r\n0\r\n\r\n", "\r\n\r", [:]),
        ("3;name=value;x=\"a\\\"b\" ; y\r\nabc\r\n0;last\r\n\r\n", "abc", [:]),
        ("3\r\nabc\r\n0\r\nA: b\r\na: c \r\n\r\n", "abc", ["A": "b", "a": "c"]),
        (
            "0\r\nLong-Name-Of-More-Than-32-Characters-In-All: v\r\n\r\n", "",
            ["Long-Name-Of-More-Than-32-Characters-In-All": "v"]
        ),
    ]

    @Test("Content and trailers are decoded at every split", arguments: cases)
    func decoding(text: String, content: String, trailers: HTTPFields) {
        let bytes = Array(text.utf8)
        let expected = Outcome(content: Array(content.utf8), trailers: trailers)
        #expect(decode(bytes) == expected)
        #expect(decode(bytes, cuts: Array(0...bytes.count)) == expected)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                #expect(decode(bytes, cuts: [first, second]) == expected)
            }
        }
        for count in 1...bytes.count { #expect(step(bytes, by: count) == expected) }
    }

    @Test(
        "Invalid chunked content is refused at the first invalid byte, at every split",
        arguments: [
            ("x", .invalidChunkedCoding, 0), ("\r\n", .invalidChunkedCoding, 0),
            ("-1\r\n", .invalidChunkedCoding, 0), ("0x1\r\n", .invalidChunkedCoding, 1),
            ("1\n", .invalidChunkedCoding, 1), ("1\rx", .invalidChunkedCoding, 2),
            ("00000000000000001\r\n", .invalidChunkedCoding, 16),
            ("1\r\nabc", .invalidChunkedCoding, 4), ("1\r\na\n", .invalidChunkedCoding, 4),
            ("1;\r\n", .invalidChunkedCoding, 2), ("1;a=\"\u{1}", .invalidChunkedCoding, 5),
            ("1\r\na\r\n0\r\nA b: c\r\n\r\n", .invalidChunkedCoding, 10),
            ("1\r\na\r\n0\r\nA: b\n\r\n", .invalidChunkedCoding, 13),
            ("0\r\n\r\nx", .trailingGarbage, 5), ("0\r\nA: b\r\n\r\nxy", .trailingGarbage, 11),
            ("", .truncated, 0), ("5\r\nabc", .truncated, 6), ("0\r\n", .truncated, 3),
            ("0\r\nA: b\r\n", .truncated, 9),
        ] as [(String, CodecError.Kind, Int64)])
    func refusal(text: String, kind: CodecError.Kind, offset: Int64) throws {
        let bytes = Array(text.utf8)
        let whole = decode(bytes)
        #expect(whole.error?.kind == kind)
        #expect(whole.error?.offset == offset)
        #expect(decode(bytes, cuts: Array(0...bytes.count)) == whole)
        for cut in 0...bytes.count { #expect(decode(bytes, cuts: [cut]) == whole) }
        for count in 1...max(bytes.count, 1) where kind != .trailingGarbage {
            #expect(step(bytes, by: count) == whole)
        }
    }

    @Test("The error contains the reason of the parser")
    func detail() {
        let error = decode(Array("1\r\nabc".utf8)).error
        #expect(error?.detail == "missing chunk end")
        #expect(error?.description == "invalid chunked coding at byte 4: missing chunk end")
        #expect(error?.suggestedStatus == .badRequest)
    }

    @Test("Steps leave the bytes after the end unread")
    func rest() throws {
        var decoder = ChunkedDecoder()
        let bytes = Array("1\r\na\r\n0\r\n\r\nGET".utf8)
        var position = 0
        #expect(try decoder.next(bytes.span, from: &position) == .content(3..<4))
        #expect(try decoder.next(bytes.span, from: &position) == .end)
        #expect(position == 11)
        #expect(decoder.isComplete == true)
        #expect(try decoder.next(bytes.span, from: &position) == .end)
        #expect(position == 11)
    }

    @Test("An error is final")
    func finality() throws {
        var decoder = ChunkedDecoder()
        var output: [UInt8] = []
        let error = try #require(throws: CodecError.self) {
            try decoder.decode(Array("x".utf8).span, into: &output)
        }
        #expect(throws: error) {
            try decoder.decode(Array("0\r\n\r\n".utf8).span, into: &output)
        }
        #expect(throws: error) { try decoder.finish() }
    }

    // MARK: Limits

    private func error(_ text: String, _ set: (inout ParserLimits) -> Void) -> CodecError? {
        var limits = ParserLimits()
        set(&limits)
        let bytes = Array(text.utf8)
        let whole = decode(bytes, limits: limits)
        #expect(decode(bytes, cuts: Array(0...bytes.count), limits: limits) == whole)
        return whole.error
    }

    @Test("Extensions may be as long as the limit", arguments: [(3, true), (4, true), (5, false)])
    func extensions(count: Int, passes: Bool) {
        let text = "1;" + String(repeating: "e", count: count - 1) + "\r\na\r\n0\r\n\r\n"
        let error = error(text) { $0.chunkExtensionBytes = 4 }
        #expect(error?.kind == (passes ? nil : .chunkMetadataTooLong))
        #expect(passes || error?.suggestedStatus == .contentTooLarge)
    }

    @Test("Trailers may be as long as the limit", arguments: [(9, true), (10, true), (11, false)])
    func trailers(count: Int, passes: Bool) {
        let text = "0\r\nA: " + String(repeating: "v", count: count - 5) + "\r\n\r\n"
        let error = error(text) { $0.trailerBytes = 10 }
        #expect(error?.kind == (passes ? nil : .chunkMetadataTooLong))
    }

    @Test("Trailers may be as many as the limit", arguments: [(1, true), (2, true), (3, false)])
    func trailerCount(count: Int, passes: Bool) {
        let text = "0\r\n" + String(repeating: "A: b\r\n", count: count) + "\r\n"
        let error = error(text) { $0.fieldCount = 2 }
        #expect(error?.kind == (passes ? nil : .chunkMetadataTooLong))
    }

    @Test("Content may be as long as the limit", arguments: [(4, true), (5, true), (6, false)])
    func content(count: Int, passes: Bool) {
        let chunk = String(repeating: "1\r\na\r\n", count: count)
        let error = error(chunk + "0\r\n\r\n") { $0.contentBytes = 5 }
        #expect(error?.kind == (passes ? nil : .outputTooLong))
    }
}

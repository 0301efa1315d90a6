import HTTPCodecs
import HTTPParser
import Testing

@Suite("JSON, one value per line")
struct JSONLinesTests {
    /// Pieces of input, in sequence.
    struct Pieces: AsyncSequence, Sendable {
        var pieces: [[UInt8]]

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<[UInt8]>

            mutating func next() async throws -> [UInt8]? { rest.popFirst() }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...]) }
    }

    private func lines(_ bytes: [UInt8], cuts: [Int] = [], limit: Int = 2 << 20) -> Split {
        var splitter = JSONLineSplitter(lineLimit: limit)
        var split = Split()
        var start = 0
        do throws(CodecError) {
            for cut in cuts + [bytes.count] {
                splitter.append(Array(bytes[start..<cut]).span)
                start = cut
                while let line = try splitter.next() { split.lines.append(line) }
            }
            splitter.finish()
            while let line = try splitter.next() { split.lines.append(line) }
        } catch {
            split.error = error
        }
        return split
    }

    struct Split: Equatable {
        var lines: [JSONLineSplitter.Line] = []
        var error: CodecError?

        var texts: [String] { lines.map { String(decoding: $0.bytes, as: UTF8.self) } }
    }

    @Test(
        "LF, CRLF and the end of the input end a line; blank lines are skipped",
        arguments: [
            ("", [], []), ("\n\r\n \t\n\r\r\n", [], []), ("1", ["1"], [0]), ("1\n", ["1"], [0]),
            ("1\r\n2", ["1", "2"], [0, 3]), ("\n{}\n\n[]\r\n", ["{}", "[]"], [1, 5]),
            ("1\r2\n", ["1\r2"], [0]), ("1\r", ["1"], [0]), (" 1 \n", [" 1 "], [0]),
        ] as [(String, [String], [Int64])])
    func splitting(text: String, lines expected: [String], offsets: [Int64]) {
        let bytes = Array(text.utf8)
        let whole = lines(bytes)
        #expect(whole.texts == expected)
        #expect(whole.lines.map(\.offset) == offsets)
        #expect(lines(bytes, cuts: Array(0...bytes.count)) == whole)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                #expect(lines(bytes, cuts: [first, second]) == whole)
            }
        }
    }

    @Test(
        "A line may be as long as the limit, without its line end",
        arguments: [
            ("1\n222\n", true), ("1\n4444\r\n", true), ("1\n4444", true), ("1\n4444\r", true),
            ("1\n55555\n", false), ("1\n55555", false), ("1\n4444\r5\n", false),
            ("1\n666666\r\n", false),
        ])
    func limit(text: String, passes: Bool) {
        let bytes = Array(text.utf8)
        let whole = lines(bytes, limit: 4)
        #expect(whole.texts.first == "1")
        #expect(whole.error == (passes ? nil : CodecError(.inputTooLong, at: 6, "a line of JSON")))
        #expect(lines(bytes, cuts: Array(0...bytes.count), limit: 4) == whole)
        for cut in 0...bytes.count { #expect(lines(bytes, cuts: [cut], limit: 4) == whole) }
    }

    // MARK: Values

    struct Event: Codable, Hashable {
        var id: Int
        var text: String
    }

    @Test("Decoding returns the written values at every split", arguments: [1, 2, 7, 1_000])
    func roundTrip(count: Int) async throws {
        let events = (0..<20).map { Event(id: $0, text: "line\n\"\($0)\" é😀") }
        var output: [UInt8] = []
        for event in events { try JSONLines().encode(event, into: &output) }
        #expect(output.filter { $0 == 0x0A }.count == 20)
        let pieces = stride(from: 0, to: output.count, by: count).map {
            Array(output[$0..<min($0 + count, output.count)])
        }
        var found: [Event] = []
        let lines = JSONLines()
        for try await event in lines.decode(Event.self, from: Pieces(pieces: pieces)) {
            found.append(event)
        }
        #expect(found == events)
    }

    @Test("A value is written on one line even with the option of indentation")
    func oneLine() throws {
        var lines = JSONLines()
        lines.values.options.isIndented = true
        lines.values.options.sortsNames = true
        var output: [UInt8] = []
        try lines.encode(Event(id: 1, text: "a"), into: &output)
        #expect(String(decoding: output, as: UTF8.self) == "{\"id\":1,\"text\":\"a\"}\n")
    }

    @Test(
        "An error follows the values before it, and has its offset from the first byte",
        arguments: [
            ("1\n2\n3x\n4", [1, 2], .invalidJSON, 5), ("1\r\n[", [1], .invalidJSON, 4),
            ("1\n\n\"a\"\n", [1], .unexpectedJSON, 3), ("1\n[[[", [1], .nestedTooDeeply, 4),
            ("1\n12345678901\n", [1], .inputTooLong, 12),
        ] as [(String, [Int], CodecError.Kind, Int64)])
    func errors(text: String, values: [Int], kind: CodecError.Kind, offset: Int64) async throws {
        var lines = JSONLines()
        lines.values.depthLimit = 2
        lines.values.byteLimit = 10
        var found: [Int] = []
        let error = await #expect(throws: CodecError.self) {
            for try await value in lines.decode(
                Int.self, from: Pieces(pieces: [Array(text.utf8)]))
            {
                found.append(value)
            }
        }
        #expect(found == values)
        #expect(error?.kind == kind)
        #expect(error?.offset == offset)
    }

    @Test(
        "Content is lines of JSON if its media type says so, in UTF-8",
        arguments: [
            ("application/x-ndjson", nil), ("application/jsonl; charset=utf-8", nil),
            ("application/x-ndjson; charset=utf-16", .unsupportedCharset),
            ("application/json", .unsupportedMediaType), ("", .unsupportedMediaType),
        ] as [(String, CodecError.Kind?)])
    func mediaTypes(text: String, kind: CodecError.Kind?) {
        var found: CodecError?
        do throws(CodecError) {
            try JSONLines().check(mediaType: MediaType(text))
        } catch {
            found = error
        }
        #expect(found?.kind == kind)
    }
}

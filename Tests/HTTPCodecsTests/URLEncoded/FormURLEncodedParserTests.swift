import HTTPCodecs
import HTTPParser
import Testing

@Suite("URL standard: application/x-www-form-urlencoded parsing")
struct FormURLEncodedParserTests {
    /// The result of parsing the pieces: the pairs as text, or the error.
    static func outcome(
        _ pieces: [ArraySlice<UInt8>], _ options: FormURLEncoded.Options
    ) -> Result<[FormURLEncoded.Pair], CodecError> {
        Result { () throws(CodecError) in
            var parser = FormURLEncodedParser(options: options)
            for piece in pieces { try parser.append(piece.span) }
            return Array(try parser.finish())
        }
    }

    /// Feeds the bytes whole, one by one, and cut at each place and each pair of places.
    static func outcomeAtAllSplits(
        _ bytes: [UInt8], _ options: FormURLEncoded.Options
    ) -> Result<[FormURLEncoded.Pair], CodecError> {
        let whole = outcome([bytes[...]], options)
        #expect(outcome(bytes.indices.map { bytes[$0...$0] }, options) == whole)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]]
                #expect(outcome(pieces, options) == whole, "cut at \(first) and \(second)")
            }
        }
        return whole
    }

    private static func pairs(_ names: [(String, String)]) -> [FormURLEncoded.Pair] {
        names.map { FormURLEncoded.Pair(name: $0.0, value: $0.1) }
    }

    @Test("Pairs are the same for whole input and at every split", arguments: cases)
    func parsing(text: String, expected: [(String, String)]) throws {
        let outcome = Self.outcomeAtAllSplits(Array(text.utf8), .standard)
        #expect(try outcome.get() == Self.pairs(expected))
        #expect(try FormURLEncoded(query: text).elementsEqual(Self.pairs(expected)))
    }

    static let cases: [(String, [(String, String)])] = [
        ("", []), ("&", []), ("&&&", []), ("a=b", [("a", "b")]), ("a", [("a", "")]),
        ("a=", [("a", "")]), ("=", [("", "")]), ("=a", [("", "a")]), ("==", [("", "=")]),
        ("a=b=c", [("a", "b=c")]), ("a=b&a=c", [("a", "b"), ("a", "c")]),
        ("&a=b&&c=d&", [("a", "b"), ("c", "d")]), ("a&b=&=c", [("a", ""), ("b", ""), ("", "c")]),
        ("a+b=c+d", [("a b", "c d")]), ("+", [(" ", "")]), ("a%2Bb=%2b", [("a+b", "+")]),
        ("a%26b%3Dc=%26", [("a&b=c", "&")]), ("%61%3d=%25", [("a=", "%")]),
        ("%=%", [("%", "%")]), ("%4=%4", [("%4", "%4")]), ("%zz", [("%zz", "")]),
        ("%%41", [("%A", "")]), ("%4%41", [("%4A", "")]), ("%+1=%1+", [("% 1", "%1 ")]),
        ("%&%", [("%", ""), ("%", "")]), ("%4&a", [("%4", ""), ("a", "")]),
        ("a;b=c", [("a;b", "c")]), ("?a=b", [("?a", "b")]),
        ("a[]=1&a[]=2", [("a[]", "1"), ("a[]", "2")]),
        ("%00=\0", [("\0", "\0")]), ("ü=%C3%BC", [("ü", "ü")]), ("%F0%9F%8E%88", [("🎈", "")]),
        ("%F0=%9F", [("\u{FFFD}", "\u{FFFD}")]), ("a=%FF", [("a", "\u{FFFD}")]),
        ("%ED%A0%80", [("\u{FFFD}\u{FFFD}\u{FFFD}", "")]), ("%EF%BB%BFa", [("\u{FEFF}a", "")]),
        ("%E2%82x", [("\u{FFFD}x", "")]), ("a\r\n=b", [("a\r\n", "b")]),
    ]

    @Test("Bytes that are not UTF-8 are kept")
    func bytes() throws {
        let form = try FormURLEncoded(Array("a%FF=%80".utf8).span)
        #expect(Array(form.nameBytes(at: 0)) == [0x61, 0xFF])
        #expect(Array(form.valueBytes(at: 0)) == [0x80])
        #expect(form.description == "a%FF=%80")
    }

    @Test("A strict parser refuses invalid escapes at their first byte", arguments: badEscapes)
    func escapes(text: String, offset: Int64) {
        var options = FormURLEncoded.Options()
        options.refusesInvalidEscapes = true
        let outcome = Self.outcomeAtAllSplits(Array(text.utf8), options)
        #expect(outcome == .failure(CodecError(.invalidPercentEncoding, at: offset)))
    }

    static let badEscapes: [(String, Int64)] = [
        ("%", 0), ("%4", 0), ("a=b%", 3), ("a=b%4", 3), ("a%&b", 1), ("a%=b", 1), ("%%41", 0),
        ("%4%41", 0), ("%+1", 0), ("a=%2G", 2), ("%41%4", 3),
    ]

    @Test("A strict parser refuses invalid UTF-8 at its first invalid byte", arguments: badText)
    func text(text: String, offset: Int64) {
        var options = FormURLEncoded.Options()
        options.refusesInvalidText = true
        let bytes = Array(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        let outcome = Self.outcomeAtAllSplits(bytes, options)
        #expect(outcome == .failure(CodecError(.invalidText, at: offset)))
    }

    /// Characters are bytes here.
    static let badText: [(String, Int64)] = [
        ("%FF", 0), ("a=%C3", 5), ("a%C3=%BC", 4), ("a%C3&b", 4), ("a=%C3%28", 5),
        ("%ED%A0%80", 3), ("%E0%80%80", 3), ("%F0%80%80%80", 3), ("%F4%90%80%80", 3), ("%C1%81", 0),
        ("%F5", 0), ("\u{FF}", 0), ("ab\u{C3}", 3), ("ab\u{C3}c", 3), ("\u{C3}%", 1),
    ]

    @Test("A strict parser accepts valid forms")
    func wellFormed() throws {
        let text = "ü=%C3%BC&\u{D7FF}=\u{E000}&\u{10FFFF}=%F4%8F%BF%BF&%EE%80%80=\u{800}%7f&+=%00"
        let strict = Self.outcomeAtAllSplits(Array(text.utf8), .strict)
        #expect(try strict.get() == Array(FormURLEncoded(text)))
        #expect(try strict.get().count == 5)
    }
}

@Suite("Limits of application/x-www-form-urlencoded")
struct FormURLEncodedLimitTests {
    @Test("Pairs below, at and above the limit", arguments: [(9, false), (10, false), (11, true)])
    func pairs(count: Int, fails: Bool) {
        var options = FormURLEncoded.Options()
        options.pairLimit = 10
        let text = "&&" + Array(repeating: "a=", count: count).joined(separator: "&&") + "&&"
        let outcome = FormURLEncodedParserTests.outcomeAtAllSplits(Array(text.utf8), options)
        // After two bytes of `&`, there are ten times four bytes.
        let error = CodecError(.tooManyPairs, at: 42)
        #expect(fails ? outcome == .failure(error) : (try? outcome.get().count) == count)
    }

    @Test("11,000 pairs are refused at the first one above the limit")
    func manyPairs() throws {
        let text = Array(repeating: "ab=c", count: 11_000).joined(separator: "&")
        let error = #expect(throws: CodecError.self) { try FormURLEncoded(text) }
        #expect(error == CodecError(.tooManyPairs, at: 50_000))
        #expect(error?.suggestedStatus == .contentTooLarge)
        #expect(try FormURLEncoded(String(text.prefix(50_000))).count == 10_000)
    }

    @Test("Bytes below, at and above the limit", arguments: [(9, false), (10, false), (11, true)])
    func bytes(count: Int, fails: Bool) {
        var options = FormURLEncoded.Options()
        options.byteLimit = 10
        let bytes = Array(("a=" + String(repeating: "%", count: count - 2)).utf8)
        let outcome = FormURLEncodedParserTests.outcomeAtAllSplits(bytes, options)
        let error = CodecError(.inputTooLong, at: 10)
        #expect(fails ? outcome == .failure(error) : (try? outcome.get().count) == 1)
    }

    @Test("An error before the limit is reported instead of the limit")
    func order() {
        var options = FormURLEncoded.Options.strict
        options.byteLimit = 4
        let outcome = FormURLEncodedParserTests.outcomeAtAllSplits(Array("a%zbcdef".utf8), options)
        #expect(outcome == .failure(CodecError(.invalidPercentEncoding, at: 1)))
    }

    @Test("An error is final")
    func final() throws {
        var parser = FormURLEncodedParser(options: .strict)
        let error = CodecError(.invalidPercentEncoding, at: 2)
        #expect(throws: error) { try parser.append(Array("a=%x".utf8).span) }
        #expect(throws: error) { try parser.append(Array("b=c".utf8).span) }
        #expect(throws: error) { try parser.finish() }
    }

    @Test("The standard limit is 2 MiB")
    func standardLimit() throws {
        let bytes = [UInt8](repeating: 0x61, count: 2 << 20)
        #expect(try FormURLEncoded(bytes.span).first?.name.utf8.count == 2 << 20)
        #expect(throws: CodecError(.inputTooLong, at: 2 << 20)) {
            try FormURLEncoded((bytes + [0x61]).span)
        }
    }

    @Test(
        "2 MiB of a repeated text are read within a minute, whole and byte by byte",
        .timeLimit(.minutes(1)), arguments: ["&", "%", "a=", "%4", "=", "+", "%C3", "%C3%BC"])
    func monotony(unit: String) async throws {
        let bytes = Array(String(repeating: unit, count: (2 << 20) / unit.utf8.count).utf8)
        let form = try FormURLEncoded(bytes.span)
        #expect(form.count == (unit == "&" ? 0 : 1))
        var parser = FormURLEncodedParser()
        for index in bytes.indices {
            try parser.append(bytes.span.extracting(index..<(index + 1)))
            // Gives other tests time to handle responses.
            if index.isMultiple(of: 1 << 16) { await Task.yield() }
        }
        #expect(try parser.finish() == form)
    }
}

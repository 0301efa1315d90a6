import HTTPCodecs
import HTTPParser
import Testing

/// Accepts any JSON, so that input is refused only because of its grammar.
struct AnyJSON: Decodable {
    init(from decoder: any Decoder) throws {}
}

@Suite("RFC 8259: Grammar of JSON")
struct JSONGrammarTests {
    private func error(_ bytes: [UInt8], _ body: JSONBody = JSONBody()) -> CodecError? {
        do throws(CodecError) {
            _ = try body.decode(AnyJSON.self, from: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Every form of the grammar is accepted",
        arguments: [
            "0", "-0", "10", "-1.5", "1e5", "1E+05", "0.0e-0", "123456789012345678901234567890",
            "true", "false", "null", "\"\"", " \t\r\n1 \t\r\n", "[]", "[ ]", "{}", "{ }", "[1]",
            "[1,2 , 3]", "[[],{}]", #"{"a":1}"#, #"{ "a" : [ { "b" : null } ] , "" : "" }"#,
            #"{"a":1,"a":2}"#, #""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000""#,
            "\"é😀\u{7F}\u{FFFF}\"",
            #""[{""#, #"["]","}","\"]"]"#, "\u{FEFF}[]", "1e400",
        ])
    func acceptance(text: String) {
        #expect(error(Array(text.utf8)) == nil)
    }

    @Test(
        "Text that is not JSON is refused at the first invalid byte",
        arguments: [
            ("", 0), ("  ", 2), ("x", 0), ("[", 1), ("[1", 2), ("[1,", 3), ("{", 1), ("]", 0),
            ("}", 0), ("[}", 1), ("{]", 1), ("[1}", 2), (#"{"a":1]"#, 6), ("[1,]", 3), ("[,1]", 1),
            ("[1 2]", 3), (#"{"a":1,}"#, 7), (#"{"a"}"#, 4), (#"{"a" 1}"#, 5), (#"{"a":}"#, 5),
            ("{1:2}", 1), ("{a:1}", 1), ("'a'", 0), ("1 2", 2), ("[] []", 3), ("[]]", 2),
            ("tru", 3), ("truE", 3), ("nulll", 4), ("NaN", 0), ("Infinity", 0), ("+1", 0),
            (".5", 0), ("1.", 2), ("1.e5", 2), ("1e", 2), ("1e+", 3), ("-", 1), ("-x", 1),
            ("01", 1), ("-01", 2), ("0x10", 1), ("1,", 1), ("// a\n1", 0), ("\"a", 2),
            ("\"a\nb\"", 2), ("\"\u{0}\"", 1), (#""\x""#, 1), (#""\u12G4""#, 1), (#""\u123"#, 1),
            (#""\"#, 2), ("\u{FEFF}\u{FEFF}1", 3), ("\u{FEFF}", 3), ("\u{A0}1", 0), ("\u{0}1", 0),
            ("\u{C}1", 0),
        ] as [(String, Int64)])
    func refusal(text: String, offset: Int64) {
        let error = error(Array(text.utf8))
        #expect(error?.kind == .invalidJSON)
        #expect(error?.offset == offset)
        #expect(error?.suggestedStatus == .badRequest)
    }

    @Test(
        "Text that is not UTF-8 is refused (section 8.1)",
        arguments: [
            ([0x22, 0xFF, 0x22], 1), ([0x22, 0x61, 0x80, 0x22], 2), ([0x22, 0xC0, 0x80, 0x22], 1),
            ([0x22, 0xC3, 0x22], 1), ([0x22, 0xC3], 1), ([0x22, 0xE0, 0x9F, 0xBF, 0x22], 1),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], 1), ([0x22, 0xE2, 0x82, 0x22], 1),
            ([0x22, 0xF0, 0x8F, 0xBF, 0xBF, 0x22], 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
            ([0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], 1), ([0x22, 0xF0, 0x9F, 0x98, 0x22], 1),
        ] as [([UInt8], Int64)])
    func encoding(bytes: [UInt8], offset: Int64) {
        #expect(error(bytes)?.kind == .invalidText)
        #expect(error(bytes)?.offset == offset)
    }

    @Test(
        "UTF-16 and UTF-32 are refused, with or without a byte order mark",
        arguments: [
            [0x00, 0x31], [0x31, 0x00], [0xFE, 0xFF, 0x00, 0x31], [0xFF, 0xFE, 0x31, 0x00],
            [0x00, 0x00, 0x00, 0x31], [0x31, 0x00, 0x00, 0x00],
        ] as [[UInt8]])
    func wideEncodings(bytes: [UInt8]) {
        #expect(error(bytes)?.kind == .invalidJSON)
    }

    // MARK: Limits

    @Test(
        "Nesting is accepted up to the limit",
        arguments: [(1, 1), (64, 64), (65, 64), (128, 128), (129, 128), (512, 512), (513, 600)])
    func depth(depth: Int, limit: Int) {
        var body = JSONBody()
        body.depthLimit = limit
        let passes = depth <= min(limit, JSONBody.greatestDepth)
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = open == "[" ? "" : "1"
            let text =
                String(repeating: open, count: depth) + inner
                + String(repeating: close, count: depth)
            let error = error(Array(text.utf8), body)
            #expect(error?.kind == (passes ? nil : .nestedTooDeeply))
            guard !passes else { continue }
            #expect(error?.offset == Int64((depth - 1) * open.utf8.count))
            #expect(error?.suggestedStatus == .badRequest)
        }
    }

    @Test(
        "A million brackets are refused at the first one above the limit",
        arguments: ["[", "{\"a\":"])
    func deep(open: String) {
        let text = String(repeating: open, count: 1_000_000)
        var body = JSONBody()
        body.byteLimit = .max
        let error = error(Array(text.utf8), body)
        #expect(error?.kind == .nestedTooDeeply)
        #expect(error?.offset == Int64(128 * open.utf8.count))
    }

    @Test("Brackets in strings do not nest")
    func quotedBrackets() {
        let text = "[\"" + String(repeating: "[{\\\"", count: 1_000) + "\"]"
        #expect(error(Array(text.utf8)) == nil)
    }

    @Test("Input may be as long as the limit", arguments: [(9, true), (10, true), (11, false)])
    func length(count: Int, passes: Bool) {
        var body = JSONBody()
        body.byteLimit = 10
        let error = error(Array(repeating: 0x20, count: count - 1) + [0x31], body)
        #expect(error == (passes ? nil : CodecError(.inputTooLong, at: 10, "JSON")))
        #expect(passes || error?.suggestedStatus == .contentTooLarge)
    }
}

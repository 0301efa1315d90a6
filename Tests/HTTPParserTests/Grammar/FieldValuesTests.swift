import HTTPParser
import Testing

@Suite("RFC 9110, 5.6: Common Rules for Defining Field Values")
struct FieldValuesTests {
    @Test(
        "5.6.1: Lists skip empty elements and keep commas in quoted strings",
        arguments: [
            ("", []), (",", []), (" , ,\t, ", []),
            ("a", ["a"]), ("a,b", ["a", "b"]), ("a , b", ["a", "b"]), (",a,,b,", ["a", "b"]),
            (#""a,b",c"#, [#""a,b""#, "c"]),
            (#"x="a\"," , y"#, [#"x="a\",""#, "y"]),
            ("a b, c", ["a b", "c"]), ("foo ,bar,charlie", ["foo", "bar", "charlie"]),
        ] as [(String, [String])])
    func lists(text: String, elements: [String]) {
        #expect(FieldValues.list(text) == elements)
    }

    @Test(
        "5.6.1: A list with a broken quoted string is refused",
        arguments: [#"a, "b"#, #""a\"#, "\"a\u{7F}\"", "\"a\nb\"", #"""#])
    func brokenLists(text: String) {
        #expect(FieldValues.list(text) == nil)
    }

    @Test("5.6.1: A list of 100,000 empty elements is read")
    func manyEmptyElements() {
        let text = String(repeating: " ,", count: 100_000) + "end"
        #expect(FieldValues.list(text) == ["end"])
    }

    @Test("5.6.2: Tokens contain letters, digits and fifteen other characters")
    func tokenBytes() {
        let signs = "!#$%&'*+-.^_`|~"
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        let expected = Set((signs + letters + "0123456789").utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(FieldValues.isTokenByte(byte) == expected.contains(byte))
        }
    }

    @Test("5.6.2: Lists with elements that are not tokens are refused")
    func tokenLists() {
        #expect(FieldValues.tokens("close, Upgrade") == ["close", "Upgrade"])
        #expect(FieldValues.tokens("close, a b") == nil)
        #expect(FieldValues.tokens(#"close, "x""#) == nil)
        #expect(!FieldValues.isToken(""))
        #expect(!FieldValues.isToken("é"))
    }

    @Test(
        "5.6.4: Quoted strings are read, and written in the same form",
        arguments: [
            (#""""#, ""), (#""a""#, "a"), (#""a b,c;d""#, "a b,c;d"), ("\"\t\"", "\t"),
            (#""say \"hi\"""#, #"say "hi""#), (#""a\\b""#, #"a\b"#), (#""ü""#, "ü"),
        ])
    func quotedStrings(quoted: String, content: String) {
        #expect(FieldValues.unquoted(quoted) == content)
        #expect(FieldValues.quoted(content) == quoted)
    }

    @Test("5.6.4: An escaped letter stands for itself")
    func needlessEscape() {
        #expect(FieldValues.unquoted(#""\a\b""#) == "ab")
    }

    @Test(
        "5.6.4: Text that is not exactly one quoted string is refused",
        arguments: [
            "", "a", #"""#, #""a"#, #""a"b"#, #""a" "#, #"'a'"#, #""\"#, #""a\""#, "\"\u{0}\"",
            "\"\\\u{1}\"", "\"\r\n\"",
        ])
    func brokenQuotedStrings(text: String) {
        #expect(FieldValues.unquoted(text) == nil)
    }

    @Test("5.6.4: Control characters cannot be quoted", arguments: ["\r", "\n", "\u{0}", "\u{7F}"])
    func unquotable(text: String) {
        #expect(FieldValues.quoted("a" + text) == nil)
    }

    @Test(
        "Numbers consist of digits and fit in 64 bits",
        arguments: [
            ("0", 0), ("5", 5), ("0005", 5), ("9223372036854775807", .max),
            ("0000000000000000000000000001", 1),
        ] as [(String, Int64)])
    func numbers(text: String, number: Int64) {
        #expect(FieldValues.parseDecimal(text) == number)
    }

    @Test(
        "Numbers with signs, blanks, digits of other scripts or overflow are refused",
        arguments: [
            "", "+5", "-5", " 5", "5 ", "5,", "0x5", "1_000", "1.0", "\u{665}", "\u{FF15}", "5\0",
            "9223372036854775808", "9223372036854775810", "18446744073709551617",
            "99999999999999999999999999",
        ])
    func brokenNumbers(text: String) {
        #expect(FieldValues.parseDecimal(text) == nil)
    }

    @Test(
        "12.4.2: Weights have at most three digits after the dot",
        arguments: [
            ("0", 0), ("0.", 0), ("0.000", 0), ("0.001", 1), ("0.5", 500), ("0.05", 50),
            ("0.999", 999), ("1", 1_000), ("1.", 1_000), ("1.000", 1_000),
        ])
    func weights(text: String, weight: Int) {
        #expect(FieldValues.parseWeight(text) == weight)
    }

    @Test(
        "12.4.2: Weights above one or in another form are refused",
        arguments: [
            "", ".5", "1.001", "1.1", "2", "00", "0.0000", "0,5", "+1", "-0", "0.5 ", "1e0", "0.x",
            "01", "10",
        ])
    func brokenWeights(text: String) {
        #expect(FieldValues.parseWeight(text) == nil)
    }
}

import HTTPCodecs
import HTTPParser
import TestSupport
import Testing

@Suite("RFC 7578, 4.2: Content-Disposition of a form's parts")
struct ContentDispositionFormDataTests {
    @Test("Names are read as clients send them", arguments: parts)
    func reading(text: String, name: String?, fileName: String?) throws {
        let disposition = try #require(ContentDisposition(formData: text))
        #expect(disposition.type == "form-data")
        #expect(disposition.name == name)
        #expect(disposition.fileName == fileName)
    }

    static let parts: [(String, String?, String?)] = [
        (#"form-data; name="a""#, "a", nil),
        (#"form-data; name="a"; filename="b.txt""#, "a", "b.txt"),
        (#"form-data; name="a"; filename="""#, "a", ""),
        (#"Form-Data;NAME=a;FILENAME=b.txt"#, "a", "b.txt"),
        (#"form-data; name=items[]; filename=träger.txt"#, "items[]", "träger.txt"),
        (#"form-data; filename="b"; name="a""#, "a", "b"),
        ("form-data", nil, nil),
        (#"form-data; name="ü 🎈"; filename="ö;=.txt""#, "ü 🎈", "ö;=.txt"),
        // Browsers.
        (#"form-data; name="a%22b"; filename="%0D%0A%22.txt""#, #"a"b"#, "\r\n\".txt"),
        (#"form-data; name="a"; filename="50%41%.txt""#, "a", "50%41%.txt"),
        (#"form-data; name="%0d%2"; filename="%0a""#, "%0d%2", "%0a"),
        (#"form-data; name="a"; filename="C:\x\y.txt""#, "a", #"C:\x\y.txt"#),
        (#"form-data; name="a"; filename="b\""#, "a", #"b\"#),
        // Older curl, httpx, Go.
        (#"form-data; name="a\"b"; filename="c\\d\"e""#, #"a"b"#, #"c\d"e"#),
        (#"form-data; name="x\"; filename=\"y"; filename="z""#, #"x"; filename="y"#, "z"),
        // RFC 7578 forbids it, so it is ignored.
        (#"form-data; name="a"; filename*=UTF-8''c"#, "a", nil),
        (#"form-data; name="a"; filename="b"; filename*=UTF-8''c"#, "a", "b"),
    ]

    @Test(
        "Malformed values are refused",
        arguments: [
            "", "form-data name=a", #"form-data; name="a"#, #"form-data; name="a"b""#,
            #"form-data; name="a"; name="b""#, #"form-data; name=a; NAME=a"#,
            #"form-data; filename="a"; filename="b""#, "form-data; name=\"a\rb\"",
            "form-data; name=\"a\0\"", "form-data; name=a b", "form-data; name=",
            // A name that ends with a backslash, or an escaped quote: it is ambiguous.
            #"form-data; name="a\"; filename="b""#, #"form-data; name="a\" "#,
        ])
    func refusal(text: String) {
        #expect(ContentDisposition(formData: text) == nil)
    }

    @Test("An extended file name is used if the caller requests it")
    func extended() {
        let text = #"form-data; name="a"; filename="b"; filename*=UTF-8''%C3%BC"#
        let disposition = ContentDisposition(formData: text, usesExtendedFileName: true)
        #expect(disposition?.fileName == "ü")
        let bad = ContentDisposition(
            formData: #"form-data; filename=b; filename*=x"#, usesExtendedFileName: true)
        #expect(bad?.fileName == "b")
    }

    @Test("Values that are not UTF-8 are read as ISO-8859-1")
    func latin1() {
        let bytes =
            Array("form-data; name=".utf8) + [0xFC, 0x80, 0x3B] + Array("filename=\"".utf8)
            + [0xE2, 0x82, 0xAC, 0x22]
        let disposition = ContentDisposition(formData: bytes.span)
        #expect(disposition?.name == "ü\u{80}")
        #expect(disposition?.fileName == "€")
    }

    @Test("Names are printed as browsers print them", arguments: printed)
    func printing(name: String, value: String) {
        let disposition = ContentDisposition.formData(name: name, fileName: name)
        let text = "form-data; name=\"\(value)\"; filename=\"\(value)\""
        #expect(disposition.description == text)
        #expect(ContentDisposition(formData: text) == disposition)
    }

    static let printed = [
        ("a", "a"), ("", ""), ("ü 🎈;=", "ü 🎈;="), (#"a"b"#, "a%22b"), ("a\r\nb", "a%0D%0Ab"),
        ("a\rb\n", "a%0Db%0A"), ("a%b", "a%b"), (#"a\b"#, #"a\b"#), ("\t", "\t"),
        // A backslash that could be read as an escape is escaped.
        (#"a\"#, #"a\\"#), (#"a\\b"#, #"a\\\\b"#), (#"\"\"#, #"\%22\\"#), (#"\\\"#, #"\\\\\\"#),
    ]

    @Test("A name that contains an escape of the HTML standard is read as the escaped character")
    func ambiguity() {
        let printed = ContentDisposition.formData(name: "%22").description
        #expect(ContentDisposition(formData: printed)?.name == "\"")
    }
}

@Suite("RFC 8187: extended values of parameters")
struct ExtendedValueTests {
    @Test(
        "Valid values are read and printed again",
        arguments: [
            ("UTF-8''a", "a", ""), ("utf-8'en'%C2%A3%20rates", "£ rates", "en"),
            ("iso-8859-1'en'%A3%20rates", "£ rates", "en"), ("UTF-8'de-CH'", "", "de-CH"),
            ("UTF-8''%F0%9F%8E%88", "🎈", ""), ("UTF-8''!#$&+-.^_`|~", "!#$&+-.^_`|~", ""),
        ])
    func reading(value: String, text: String, language: String) {
        let extended = ExtendedValue(value)
        #expect(extended?.text == text)
        #expect(extended?.language == language)
        #expect(extended.flatMap { ExtendedValue($0.description) } == extended)
    }

    @Test(
        "Invalid values are refused",
        arguments: [
            "", "a", "UTF-8'a", "''a", "UTF-16''a", "UTF-8''%", "UTF-8''%4", "UTF-8''%zz",
            "UTF-8''%FF", "UTF-8''%C3", "UTF-8''a b", "UTF-8''a'b", "UTF-8''ü", "UTF-8'e n'a",
            "UTF-8''a*", "UTF-8''(", " UTF-8''a",
        ])
    func refusal(value: String) {
        #expect(ExtendedValue(value) == nil)
    }

    @Test("A charset of 200,000 combining marks is refused within five seconds")
    func marks() async throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
        let isQuick = try await takesLess(than: .seconds(5)) {
            #expect(ExtendedValue("\(marks)''a") == nil)
        }
        #expect(isQuick)
    }
}

import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 6266: Content-Disposition")
struct ContentDispositionTests {
    @Test("Type and file name of the field are read", arguments: fields)
    func reading(text: String, type: String, fileName: String?) throws {
        let disposition = try #require(ContentDisposition(text))
        #expect(disposition.type == type)
        #expect(disposition.fileName == fileName)
        #expect(disposition.place == .field)
    }

    static let fields: [(String, String, String?)] = [
        ("inline", "inline", nil), ("ATTACHMENT", "attachment", nil),
        ("attachment;", "attachment", nil), ("attachment ; ; filename=a", "attachment", "a"),
        (#"attachment; filename="a b.txt""#, "attachment", "a b.txt"),
        ("attachment; FileName=a.txt", "attachment", "a.txt"),
        ("attachment;filename=a[1].txt ", "attachment", "a[1].txt"),
        ("attachment; filename=ä.txt", "attachment", "ä.txt"),
        (#"attachment; filename="a\"b\\c.txt""#, "attachment", #"a"b\c.txt"#),
        (#"attachment; filename="C:\a.txt""#, "attachment", "C:a.txt"),
        (#"attachment; filename="""#, "attachment", ""),
        (#"attachment; filename="%41%22.txt""#, "attachment", "%41%22.txt"),
        ("attachment; filename*=UTF-8''%e2%82%ac%20rates", "attachment", "€ rates"),
        // The examples of section 5, and the other order.
        (
            #"attachment; filename="EURO rates"; filename*=utf-8''%e2%82%ac%20rates"#,
            "attachment", "€ rates"
        ),
        (
            #"attachment; filename*=utf-8''%e2%82%ac%20rates; filename="EURO rates""#,
            "attachment", "€ rates"
        ),
        ("attachment; filename*=iso-8859-1'en'%A3%20rates", "attachment", "£ rates"),
        // Invalid extended values are ignored.
        (#"attachment; filename="a"; filename*=UTF-8''%FF"#, "attachment", "a"),
        (#"attachment; filename="a"; filename*=b"#, "attachment", "a"),
        (#"attachment; filename="a"; filename*="UTF-8''b"; x=y"#, "attachment", "b"),
        (#"attachment; filename="a"; filename*=UTF-16''b"#, "attachment", "a"),
        ("attachment; filename*0=a; filename*1=b", "attachment", nil),
        (#"foo-bar; a="b;c"; filename=d"#, "foo-bar", "d"),
    ]

    @Test(
        "Malformed fields are refused",
        arguments: [
            "", " ", ";", "; filename=a", #""attachment""#, "attachment filename=a",
            "attachment; filename", "attachment; filename=", "attachment; =a",
            "attachment; filename =a", "attachment; filename= a", "attachment, inline",
            "attachment; filename=a b", "attachment; filename=a,b", #"attachment; filename="a"#,
            #"attachment; filename="a"b"#, #"attachment; filename="a\"#, #"a; b="c\"#,
            "attachment; filename=a\u{1}", "attachment; filename=\"a\nb\"", "a/b; filename=c",
            // The same name twice (section 4.1).
            "attachment; filename=a; filename=b", "attachment; filename=a; FILENAME=a",
            "attachment; filename*=UTF-8''a; filename*=UTF-8''b", "attachment; a=b; a=c",
        ])
    func refusal(text: String) {
        #expect(ContentDisposition(text) == nil)
    }

    @Test("Values that are not UTF-8 are read as ISO-8859-1")
    func latin1() {
        let bytes = Array("attachment; filename=\"na".utf8) + [0xEF] + Array("ve\"".utf8)
        #expect(ContentDisposition(bytes.span)?.fileName == "naïve")
    }

    @Test("Other parameters are kept in their order")
    func parameters() {
        let disposition = ContentDisposition("x; b=1; filename=a; A=2; name=n")
        let expected = [FieldParameter(name: "b", value: "1"), .init(name: "a", value: "2")]
        #expect(disposition?.parameters == expected)
        #expect(disposition?.name == "n")
        #expect(disposition?.description == #"x; name="n"; filename="a"; b=1; a=2"#)
    }

    @Test("File names are printed so that all readers understand them", arguments: printed)
    func printing(fileName: String, field: String) throws {
        let disposition = ContentDisposition.attachment(fileName: fileName)
        #expect(disposition.description == "attachment; \(field)")
        let read = try #require(ContentDisposition(disposition.description))
        #expect(read == disposition)
    }

    static let printed = [
        ("a.txt", #"filename="a.txt""#), ("a b;c.txt", #"filename="a b;c.txt""#),
        ("", #"filename="""#),
        ("€.txt", #"filename="_.txt"; filename*=UTF-8''%E2%82%AC.txt"#),
        ("e\u{301}.txt", #"filename="_.txt"; filename*=UTF-8''e%CC%81.txt"#),
        ("50%.txt", #"filename="50_.txt"; filename*=UTF-8''50%25.txt"#),
        (#"a"b\c"#, #"filename="a_b_c"; filename*=UTF-8''a%22b%5Cc"#),
        ("a'(b)*", #"filename="a'(b)*""#),
    ]

    @Test(
        "Control characters never reach the wire",
        arguments: ["\r\nSet-Cookie: a=b", "\0", "\u{85}"])
    func controls(text: String) {
        for disposition in [ContentDisposition.attachment(fileName: text), .inline(fileName: text)]
        {
            let printed = disposition.description
            #expect(printed.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
            #expect(ContentDisposition(printed)?.fileName?.unicodeScalars.first == "_")
        }
        let form = ContentDisposition.formData(name: text, fileName: text)
        #expect(form.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
    }

    @Test("Without a file name, only the type is printed")
    func typeAlone() {
        #expect(ContentDisposition.attachment().description == "attachment")
        #expect(ContentDisposition.inline().description == "inline")
    }

    @Test("50,000 parameters are read within a minute", .timeLimit(.minutes(1)))
    func manyParameters() {
        let names = (0..<50_000).map { "; p\($0)=v" }.joined()
        #expect(ContentDisposition("a" + names)?.parameters.count == 50_000)
        #expect(ContentDisposition("a" + names + "; p0=v") == nil)
    }
}

import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 7578, 4: Forms")
struct MultipartFormTests {
    private static func text(_ fields: String) -> String {
        "--b\r\n\(fields)\r\n\r\n1\r\n--b--\r\n"
    }

    @Test(
        "4.2: Each part has a name, and a file has a file name",
        arguments: [
            (#"form-data; name="a""#, "part name=a"),
            (#"form-data; name=a"#, "part name=a"),
            (#"FORM-DATA; NAME=a; FileName=x.txt"#, "part name=a file=x.txt"),
            (#"form-data; name="""#, "part name="),
            (#"form-data; name="a"; filename="""#, "part name=a file="),
            (#"form-data; name="a"; filename="a;b=c, d.txt""#, "part name=a file=a;b=c, d.txt"),
            (#"form-data; filename="x"; name="a""#, "part name=a file=x"),
            (#"form-data;name="a";filename="x""#, "part name=a file=x"),
            // 4.2 forbids the extended form; readers that accept it see another name.
            (#"form-data; name="a"; filename="x"; filename*=UTF-8''y"#, "part name=a file=x"),
            (#"form-data; name="a"; filename*=UTF-8''y"#, "part name=a"),
            ("form-data; name=\"\u{E9}\u{1F600}\"", "part name=\u{E9}\u{1F600}"),
        ])
    func names(value: String, part: String) throws {
        let events = try MultipartRecording().eventsOfAllSplits(
            Self.text("Content-Disposition: \(value)"))
        #expect(events == [part, "content 1", "part end", "end"])
    }

    @Test(
        "4.2: A part without a valid name or head is refused",
        arguments: [
            ("X: y", "missing part name at byte 5"),
            ("Content-Disposition: form-data", "missing part name at byte 26"),
            (#"Content-Disposition: form-data; filename="x""#, "missing part name at byte 26"),
            (
                #"Content-Disposition: attachment; name="a""#,
                "invalid part head at byte 26: not form-data"
            ),
            (
                #"Content-Disposition: form-data; name="a"#,
                "invalid part head at byte 26: Content-Disposition"
            ),
            (
                #"Content-Disposition: form-data; name="a"; name="b""#,
                "invalid part head at byte 26: Content-Disposition"
            ),
            (
                "Content-Disposition: form-data; name=a\r\ncontent-disposition: form-data; name=b",
                "invalid part head at byte 66: repeated Content-Disposition"
            ),
            (
                "Content-Disposition: form-data; name=a\r\nContent-Type: a/b\r\nContent-Type: c/d",
                "invalid part head at byte 78: repeated Content-Type"
            ),
        ])
    func refused(fields: String, error: String) throws {
        #expect(
            try MultipartRecording().eventsOfAllSplits(Self.text(fields)) == ["error \(error)"])
    }

    @Test("Parts of multipart/mixed need no name, and have a file name where one is valid")
    func mixed() throws {
        let recording = MultipartRecording(kind: .mixed)
        for (fields, part) in [
            ("X: y", "part"), ("Content-Disposition: inline", "part"),
            ("Content-Disposition: attachment; filename*=UTF-8''%E2%82%AC", "part file=€"),
            ("Content-Disposition: ;;;", "part"), ("Content-Type: a/b;c=d", "part type=a/b; c=d"),
            ("Content-Type: nonsense", "part"),
        ] {
            let events = try recording.eventsOfAllSplits(Self.text(fields))
            #expect(events == [part, "content 1", "part end", "end"])
        }
    }

    @Test("A name that is not UTF-8 is read as ISO-8859-1")
    func latin1() throws {
        var bytes = Array(Sample.form("1").utf8)
        let name = try #require(bytes.firstRange(of: Array("name=\"n".utf8)))
        bytes.insert(0xE9, at: name.upperBound)
        #expect(try MultipartRecording().eventsOfAllSplits(bytes).first == "part name=n\u{E9}")
    }

    @Test("4.4: A part has its type and all its fields")
    func fields() throws {
        let text = Array(
            Sample.part("a", "1", "Content-Type: Text/Plain;charset=\"x\"\r\nX-A:  b \r\n").utf8)
        var parser = try PartParser(of: #require(MediaType("multipart/form-data; boundary=b")))
        #expect(parser.kind == .formData)
        var position = 0
        guard case .part(let head) = try parser.next(text.span, from: &position) else {
            Issue.record("no part")
            return
        }
        #expect(head.mediaType?.description == "text/plain; charset=x")
        #expect(head.fields["x-a"] == "b")
        #expect(head.fields.count == 3)
        #expect(!head.isFile && !head.isNested)
    }

    @Test(
        "4.7: A transfer encoding that changes nothing is accepted",
        arguments: ["7bit", "8BIT", "binary"])
    func identity(coding: String) throws {
        let text = Sample.part("a", "1", "Content-Transfer-Encoding: \(coding)\r\n") + "--b--"
        let events = MultipartRecording.part("a", "1") + ["end"]
        #expect(try MultipartRecording().eventsOfAllSplits(text) == events)
    }

    @Test(
        "4.7: Any other transfer encoding is refused in a form, and accepted in multipart/mixed",
        arguments: ["base64", "quoted-printable", "x", ""])
    func transferEncoding(coding: String) throws {
        let text = Sample.part("a", "1", "Content-Transfer-Encoding: \(coding)\r\n") + "--b--"
        let detail = coding.isEmpty ? "" : ": \(coding)"
        #expect(
            try MultipartRecording().eventsOfAllSplits(text) == [
                "error unsupported content coding at byte 74\(detail)"
            ])
        let events = try MultipartRecording(kind: .mixed).eventsOfAllSplits(text)
        #expect(events.last == "end")
    }

    // MARK: 4.3, and RFC 2388: several files of one field in a nested multipart

    private static func nested(_ inside: String, _ type: String = "multipart/mixed") -> String {
        Sample.part("a", "1") + Sample.part("f", inside, "Content-Type: \(type); boundary=bb\r\n")
            + Sample.part("c", "3") + "--b--\r\n"
    }

    private static let files =
        "--bb\r\nContent-Disposition: file; filename=\"x\"\r\n\r\n1\r\n--b2\r\n"
        + "--bb \r\nContent-Disposition: attachment; name=k; filename=\"y\"\r\n\r\n\r\n"
        + "--bb\r\nContent-Type: a/b\r\n\r\n3\r\n--bb--"

    @Test(
        "4.3: Nested parts have the name of the outer one",
        arguments: ["", "\r\n", "\r\nepilogue", " \t\r\nepilogue\r\n--bb\r\n"])
    func nesting(epilogue: String) throws {
        let before = epilogue.isEmpty ? "" : "preamble\r\n"
        let events = try MultipartRecording().eventsOfAllSplits(
            Self.nested(before + Self.files + epilogue))
        #expect(
            events == [
                "part name=a", "content 1", "part end",
                "part name=f file=x nested", #"content 1\r\n--b2"#, "part end",
                "part name=f file=y nested", "part end",
                "part name=f type=a/b nested", "content 3", "part end",
                "part name=c", "content 3", "part end", "end",
            ])
    }

    @Test("A nested multipart without its closing delimiter is truncated, unless it is empty")
    func unclosedNesting() throws {
        let text = Self.nested("--bb\r\nX: y\r\n\r\n1")
        let events = try MultipartRecording().eventsOfAllSplits(text)
        #expect(events.last?.hasPrefix("error truncated at byte") == true)
        #expect(events.last?.hasSuffix(": nested parts") == true)
        #expect(try MultipartRecording().eventsOfAllSplits(Self.nested("")).count == 4)
    }

    @Test(
        "A file, or a part of another multipart type, is not parsed as nested parts",
        arguments: ["multipart/related", "multipart/form-data", "message/rfc822"])
    func opaque(type: String) throws {
        let events = try MultipartRecording().eventsOfAllSplits(Self.nested(Self.files, type))
        #expect(events.filter { $0.hasPrefix("part name") }.count == 3)
        let file =
            "--b\r\nContent-Disposition: form-data; name=f; filename=\"a.eml\"\r\n"
            + "Content-Type: multipart/mixed; boundary=bb\r\n\r\n\(Self.files)\r\n--b--"
        #expect(try MultipartRecording().eventsOfAllSplits(file).count == 4)
        let mixed = MultipartRecording(kind: .mixed)
        #expect(try mixed.eventsOfAllSplits(Self.nested(Self.files)).count == 10)
    }

    @Test(
        "A nested multipart without a separate, valid boundary is refused",
        arguments: [
            "multipart/mixed", "multipart/mixed; boundary=b", "multipart/mixed; boundary=\"@\"",
        ])
    func nestedBoundary(type: String) throws {
        let text = Sample.part("f", "", "Content-Type: \(type)\r\n")
        let events = try MultipartRecording().eventsOfAllSplits(text)
        #expect(events == ["error invalid boundary at byte 61"])
    }
}

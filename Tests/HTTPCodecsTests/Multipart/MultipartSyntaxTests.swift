import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 2046, 5.1: Multipart")
struct MultipartSyntaxTests {
    private static func one(_ content: String) -> [String] {
        MultipartRecording.part("n", content) + ["end"]
    }

    @Test(
        "Content ends at the line end before a delimiter",
        arguments: [
            ("a", "a"),
            ("", ""),
            ("a\r\nb", #"a\r\nb"#),
            ("\r\n", #"\r\n"#),
            ("a\r\n", #"a\r\n"#),
            ("a\r", #"a\r"#),
            ("a\n", #"a\n"#),
            ("\r\r\n\r", #"\r\r\n\r"#),
            ("\u{0}\u{1}", #"\x0\x1"#),
        ])
    func content(content: String, printed: String) throws {
        let events = try MultipartRecording().eventsOfAllSplits(Sample.form(content))
        #expect(events == Self.one(printed))
        let more = Sample.form(content) + "an epilogue\r\n--b\r\n"
        #expect(try MultipartRecording().eventsOfAllSplits(more) == Self.one(printed))
    }

    @Test(
        "Bytes that are only similar to a delimiter are content",
        arguments: [
            "--b", "x--b", "\r\n-b", "\r\n--", "\r\n--B--", "\r\n--bX", "\r\n--b-", "\r\n--b-\r\n",
            "\r\n--b1\r\nContent-Disposition: form-data; name=\"m\"\r\n\r\n", "\r\n --b\r\n",
            "\n--b\r\n", "\r--b\r\n", "\r\r\n--ab", "\r\n\r\n--a", "\r\n---b", "\r\n--b'",
        ])
    func nearDelimiters(content: String) throws {
        // The space is needed because content may begin with a delimiter.
        let events = try MultipartRecording().eventsOfAllSplits(Sample.form(" " + content))
        #expect(events == Self.one(" " + MultipartRecording.printed(Array(content.utf8))))
    }

    @Test("A boundary that is a prefix of another is distinguished from it")
    func prefixes() throws {
        let text = Sample.form("1\r\n--boundary\r\n2") + Sample.form("3")
        var recording = MultipartRecording()
        #expect(try recording.eventsOfAllSplits(text) == Self.one(#"1\r\n--boundary\r\n2"#))
        recording.boundary = "boundary"
        let other = "--boundary\r\n" + Sample.head.dropFirst(4) + "\r\n--b--\r\n--boundary--"
        #expect(try recording.eventsOfAllSplits(other) == Self.one(#"\r\n--b--"#))
    }

    @Test(
        "A part may end directly after its head, and needs no field",
        arguments: [
            ("--b\r\n\r\n\r\n--b--", ["part", "part end", "end"]),
            ("--b\r\n\r\n--b--", ["part", "part end", "end"]),
            (
                "--b\r\n\r\n--b\r\n\r\nx\r\n--b--",
                ["part", "part end", "part", "content x", "part end", "end"]
            ),
            ("--b\r\nX: y\r\n\r\n--b--", ["part", "part end", "end"]),
            ("--b\r\n\r\n--bX\r\n--b--", ["part", "content --bX", "part end", "end"]),
            (
                "--b\r\nContent-Type: text/plain\r\n\r\n1\r\n--b--",
                ["part type=text/plain", "content 1", "part end", "end"]
            ),
        ])
    func emptyParts(text: String, events: [String]) throws {
        let recording = MultipartRecording(kind: .mixed)
        #expect(try recording.eventsOfAllSplits(text) == events)
    }

    @Test(
        "Preamble and epilogue are skipped",
        arguments: [
            ("", ""), ("\r\n", "\r\n"), ("preamble\r\n", "\r\nepilogue"), ("--x\r\n", "\r\n--b--"),
            ("--bb\r\n--b-\r\n", " \t\r\n\r\n"), ("\n--b\n\r\n", " \t"), ("\r\r\n", "\r\n\r"),
        ])
    func surroundings(before: String, after: String) throws {
        let text = before + Sample.head + "1\r\n--b--" + after
        #expect(try MultipartRecording().eventsOfAllSplits(text) == Self.one("1"))
    }

    @Test("Blanks may follow a delimiter", arguments: [" ", "\t", " \t  "])
    func padding(blanks: String) throws {
        let text =
            "--b\(blanks)\r\n" + Sample.head.dropFirst(4) + "1\r\n--b\(blanks)\r\n"
            + Sample.head.dropFirst(4) + "2\r\n--b--\(blanks)\r\nepilogue"
        let events = MultipartRecording.part("n", "1") + Self.one("2")
        #expect(try MultipartRecording().eventsOfAllSplits(text) == events)
    }

    @Test("An empty form is only the closing delimiter, as browsers send it")
    func noParts() throws {
        #expect(try MultipartRecording().eventsOfAllSplits("--b--\r\n") == ["end"])
        #expect(try MultipartRecording().eventsOfAllSplits("\r\n--b--") == ["end"])
    }

    @Test(
        "A line of a delimiter with other bytes is refused",
        arguments: [
            ("--b\n", 3), ("--b\rX", 3), ("--b x", 4), ("--b\u{0}", 3), ("--b\"\r\n", 3),
            ("--b\t;", 4), ("--b--x", 5), ("--b--\nx", 5), ("--b--\rx", 5), ("--b-- x", 6),
        ])
    func spoiltDelimiters(line: String, offset: Int) throws {
        let recording = MultipartRecording()
        #expect(
            try recording.eventsOfAllSplits(line).last
                == "error invalid delimiter at byte \(offset)")
        let behind = Sample.head + "1\r\n" + line
        let place = Sample.head.utf8.count + 3 + offset
        #expect(
            try recording.eventsOfAllSplits(behind).last
                == "error invalid delimiter at byte \(place)")
    }

    @Test("Input that ends before the closing delimiter is reported as truncated")
    func truncation() throws {
        let text = Array((Sample.part("a", "1") + Sample.part("n", "2") + "--b--").utf8)
        for length in 0..<text.count {
            let events = try MultipartRecording().eventsOfAllSplits(Array(text[..<length]))
            #expect(events.last == "error truncated at byte \(length)")
        }
        #expect(try MultipartRecording().events([text[...]]).last == "end")
        let open = try MultipartRecording().eventsOfAllSplits(text + [13])
        #expect(open.suffix(2) == ["end", "error truncated at byte \(text.count + 1)"])
    }

    @Test(
        "Heads of parts that are invalid as HTTP fields are refused",
        arguments: [
            ("X\r\n\r\n", "missing colon", 1), ("X : y\r\n\r\n", "whitespace before colon", 1),
            ("X: y\n\r\n", "bare line feed", 4), ("X: y\rz\r\n\r\n", "bare carriage return", 4),
            ("X: a\u{0}\r\n\r\n", "invalid field value", 4),
            ("X: y\r\n z\r\n\r\n", "obsolete folding", 6), (": y\r\n\r\n", "invalid field name", 0),
            ("--b--\r\n\r\n", "missing colon", 5),
        ])
    func partHeads(head: String, reason: String, offset: Int) throws {
        let text = "--b\r\n" + head + "1\r\n--b--\r\n"
        for kind in [MultipartKind.formData, .mixed] {
            let events = try MultipartRecording(kind: kind).eventsOfAllSplits(text)
            #expect(
                events == [
                    "error invalid part head at byte \(5 + offset): \(reason)"
                ])
        }
    }

    @Test("A bare LF ends a line only if the caller allows it")
    func bareLineFeed() throws {
        let text = """
            preamble
            --b
            Content-Disposition: form-data; name="n"

            1\r
            2
            --b \t
            Content-Disposition: form-data; name="m"

            --b
            Content-Disposition: form-data; name="k"

            3\r\r
            --b--
            epilogue

            """
        var recording = MultipartRecording()
        #expect(
            try recording.eventsOfAllSplits(text).last == "error invalid delimiter at byte 163")
        recording.leniency = .bareLineFeed
        let events =
            MultipartRecording.part("n", #"1\r\n2"#) + MultipartRecording.part("m", "")
            + MultipartRecording.part("k", #"3\r"#) + ["end"]
        #expect(try recording.eventsOfAllSplits(text) == events)
        let strict = Sample.form("1\r\n2\n-\r")
        #expect(try recording.eventsOfAllSplits(strict) == Self.one(#"1\r\n2\n-\r"#))
    }
}

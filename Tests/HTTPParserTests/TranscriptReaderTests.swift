import HTTPParser
import TestSupport
import Testing

@Suite("The reader of transcripts")
struct TranscriptReaderTests {
    @Test("Escapes are written, and read back as the same bytes")
    func escapes() {
        let all = Array(UInt8.min...UInt8.max)
        #expect(Escapes.bytes(Escapes.text(all)) == all)
        #expect(Escapes.text([0x47, 13, 10, 9, 0, 0x5C, 0x7F, 0xE9]) == #"G\r\n\t\0\\\x7f\xe9"#)
    }

    @Test("Unknown escapes are refused", arguments: [#"\"#, #"\q"#, #"\x"#, #"\x1"#, #"\xgg"#])
    func unknownEscapes(text: String) {
        #expect(Escapes.bytes(text) == nil)
    }

    @Test("A case with a heading, a message and events is read")
    func wholeCase() throws {
        let document = #"""
            # Title
            ## One
            Why.
            ```request bareLineFeed fieldCount=7 closes
            GET / \r
            \n
            ```
            ```events
            request
              A: b
            ```
            """#
        let cases = try Transcript.cases(of: document, named: "doc")
        let first = try #require(cases.first)
        #expect(cases.count == 1)
        #expect(first.description == "doc: One")
        #expect(first.bytes == Array("GET / \r\n".utf8))
        #expect(first.expected == "request\n  A: b")
        #expect(first.setup.leniency == .bareLineFeed)
        #expect(first.setup.limits.fieldCount == 7)
        #expect(first.setup.closes)
    }

    @Test(
        "Malformed documents are refused",
        arguments: [
            "", "## A\n", "```request\n```\n```events\n```", "## A\n```request\nG",
            "## A\n```request\n```\n", "## A\n```events\n```", "## A\n```request x\n```\n",
            "## A\n```request fieldCount=x\n```\n", "## A\n```request\n\\q\n```\n",
            "## A\n```other\n```\n",
        ])
    func refused(document: String) {
        #expect(throws: TranscriptError.self) {
            _ = try Transcript.cases(of: document, named: "doc")
        }
    }
}

import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 2046, 5.1, and RFC 7578: Writing multipart")
struct MultipartSerializerTests {
    private let boundary = MultipartBoundary("b") ?? .random()

    @Test("A form is written as browsers send it")
    func form() throws {
        var form = MultipartSerializer<Never>(boundary: boundary)
        try form.append(name: "a", text: "1")
        try form.append(name: "f", fileName: "x.txt", mediaType: .plainText, bytes: [0, 255])
        try form.append(name: "g", fileName: "", bytes: [])
        try form.append(name: "j", mediaType: .json, bytes: Array("{}".utf8))
        let text =
            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n"
            + "Content-Type: text/plain; charset=utf-8\r\n\r\n\0?\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"g\"; filename=\"\"\r\n"
            + "Content-Type: application/octet-stream\r\n\r\n\r\n"
            + "--b\r\nContent-Disposition: form-data; name=\"j\"\r\n"
            + "Content-Type: application/json\r\n\r\n{}\r\n--b--\r\n"
        #expect(form.bytes == text.utf8.map { $0 == UInt8(ascii: "?") ? 255 : $0 })
        #expect(form.length == Int64(text.utf8.count))
        #expect(form.segments == [.bytes(form.bytes)])
        #expect(form.mediaType.description == "multipart/form-data; boundary=b")
    }

    @Test("Content without parts is the closing delimiter, which the parser accepts")
    func empty() throws {
        let form = MultipartSerializer<Never>(boundary: boundary)
        #expect(form.bytes == Array("--b--\r\n".utf8))
        #expect(form.length == 7)
        #expect(try MultipartRecording().events([form.bytes[...]]) == ["end"])
    }

    @Test("Streamed content is a separate segment, and its length is part of the total")
    func sources() throws {
        var form = MultipartSerializer<String>(.mixed, boundary: boundary)
        try form.append(["X": "y"], bytes: [1])
        try form.append([:], source: "file", length: 1_000)
        try form.append([:], source: "other", length: 0)
        let segments: [MultipartSegment<String>] = [
            .bytes(Array("--b\r\nX: y\r\n\r\n\u{1}\r\n--b\r\n\r\n".utf8)),
            .source("file", length: 1_000),
            .bytes(Array("\r\n--b\r\n\r\n".utf8)),
            .source("other", length: 0),
            .bytes(Array("\r\n--b--\r\n".utf8)),
        ]
        #expect(form.segments == segments)
        #expect(form.length == 1_041)
        try form.append(["A": "b"], source: "stream", length: nil)
        try form.append([:], bytes: [2])
        #expect(form.length == nil)
        #expect(form.segments.count == 7)
        #expect(form.mediaType.description == "multipart/mixed; boundary=b")
    }

    @Test("The standard boundary is random; one with special characters is quoted")
    func boundaries() throws {
        let first = MultipartSerializer<Never>()
        let second = MultipartSerializer<Never>()
        #expect(first.boundary != second.boundary)
        #expect(first.mediaType["boundary"] == first.boundary.text)
        let odd = try #require(MultipartBoundary("a b?"))
        let parts = MultipartSerializer<Never>(.byteRanges, boundary: odd)
        #expect(parts.mediaType.description == "multipart/byteranges; boundary=\"a b?\"")
        #expect(try MultipartBoundary(of: parts.mediaType) == odd)
    }

    static let oddNames = [
        "", "a", "a b", "ä", "😀", "a\"b", "a\r\nb", "\r", "\n", "a\r\nX: y", "\\", "a\\", "\\\\",
        "a\\\"b", "\"", "a;b=c", "\t", "\r\n--b\r\n", "\r\n--b--\r\n", "=?utf-8?q?a?=", "../../x",
    ]

    @Test("Names are read back unchanged, and add no parts or fields", arguments: oddNames)
    func names(name: String) throws {
        var form = MultipartSerializer<Never>(boundary: boundary)
        try form.append(name: name, fileName: name, bytes: [0x31])
        try form.append(name: name, text: "2")
        let events = try MultipartRecording().eventsOfAllSplits(form.bytes)
        #expect(
            events == [
                "part name=\(name) file=\(name) type=application/octet-stream", "content 1",
                "part end", "part name=\(name)", "content 2", "part end", "end",
            ])
    }

    @Test(
        "Control characters in a name are not sent",
        arguments: ["a\0b", "\u{1B}", "\u{7F}"])
    func controls(name: String) throws {
        var form = MultipartSerializer<Never>(boundary: boundary)
        try form.append(name: name, text: "")
        #expect(form.bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0D || $0 == 0x0A })
        #expect(try MultipartRecording().events([form.bytes[...]]).last == "end")
    }

    @Test(
        "A field value with a line end or NUL is refused, and nothing is written",
        arguments: ["a\r\nX: y", "a\nb", "a\rb", "a\0b", "\r\n\r\n--b--"])
    func injection(value: String) throws {
        var form = MultipartSerializer<String>(.mixed, boundary: boundary)
        #expect(throws: HTTPMessageError(.invalidFieldValue, "X")) {
            try form.append(["A": "b", "X": value], bytes: [1])
        }
        #expect(throws: HTTPMessageError(.invalidFieldValue, "X")) {
            try form.append(["X": value], source: "s", length: nil)
        }
        #expect(form.segments == [.bytes(Array("--b--\r\n".utf8))])
        #expect(form.length == 7)
    }

    @Test("Parsing returns the written parts")
    func roundTrip() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var form = MultipartSerializer<Never>(.mixed)
            var expected: [String] = []
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let content = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                    [0x0D, 0x0A, 0x2D, UInt8.random(in: 0...255, using: &random)]
                        .randomElement(using: &random) ?? 0
                }
                try form.append(["Content-Type": "a/b"], bytes: content)
                expected.append("part type=a/b")
                if !content.isEmpty {
                    expected.append("content \(MultipartRecording.printed(content))")
                }
                expected.append("part end")
            }
            let recording = MultipartRecording(kind: .mixed, boundary: form.boundary.text)
            let bytes = form.bytes
            let cut = Int.random(in: 0...bytes.count, using: &random)
            #expect(try recording.events([bytes[..<cut], bytes[cut...]]) == expected + ["end"])
            #expect(form.length == Int64(bytes.count))
        }
    }
}

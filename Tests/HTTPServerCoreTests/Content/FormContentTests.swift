import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 7578 and the URL standard: Forms as content")
struct FormContentTests {
    static let urlEncoded = "application/x-www-form-urlencoded"

    private func answer(
        _ mediaType: String?, _ content: [UInt8],
        _ change: @escaping @Sendable (inout UploadedForm.Limits) -> Void = { _ in }
    ) async throws -> (answer: ServerAnswer, goesOn: Bool) {
        try await Content.answer(Content.post(mediaType, content)) { request in
            var limits = UploadedForm.Limits()
            change(&limits)
            let form = try await request.form(limits: limits)
            let fields = form.fields.map { "\($0.name)=\($0.value)" }
            let files = form.files.map { "\($0.name):\($0.fileName):\($0.size)" }
            return .text((fields + files).joined(separator: "|"))
        }
    }

    @Test("Both kinds of forms have the same fields")
    func fields() async throws {
        let encoded = try await answer(Self.urlEncoded, Array("a=1&b=x+y%26&a=%C3%A9".utf8))
        #expect(encoded.answer.text == "a=1|b=x y&|a=é")
        let content = Content.part("a", "1") + Content.part("b", "x y&") + Content.part("a", "é")
        let multipart = try await answer(Content.multipart, content + Content.end)
        #expect(multipart.answer.text == encoded.answer.text)
        #expect(encoded.goesOn && multipart.goesOn)
    }

    @Test(
        "RFC 7578, 4.5 and 4.6: A value has its own charset, or else that of the form",
        arguments: [
            ("text/plain; charset=iso-8859-1", nil, 200, "a=é"), (nil, "ISO-8859-1", 200, "a=é"),
            ("text/plain; charset=utf-8", "iso-8859-1", 200, "a=\u{FFFD}"),
            ("text/plain", "iso-8859-1", 200, "a=é"), (nil, "utf-8", 200, "a=\u{FFFD}"),
            (nil, nil, 200, "a=\u{FFFD}"), (nil, "utf-16", 415, nil),
            ("text/plain; charset=koi8-r", nil, 415, nil),
        ] as [(String?, String?, Int, String?)])
    func charsets(ofField: String?, ofForm: String?, status: Int, text: String?) async throws {
        let type = ofField.map { "\r\nContent-Type: \($0)" } ?? ""
        let head = "--xYzZy\r\nContent-Disposition: form-data; name=\"a\"\(type)\r\n\r\n"
        let field = Array(head.utf8) + [0xE9, 13, 10]
        let charset = ofForm.map { Content.part("_charset_", $0) } ?? []
        for parts in [field + charset, charset + field] {
            let (answer, goesOn) = try await answer(Content.multipart, parts + Content.end)
            #expect(answer.status == status)
            if let text { #expect(answer.text.split(separator: "|").contains { $0 == text }) }
            #expect(goesOn)
        }
    }

    @Test("Files are separate from fields, and file inputs without a chosen file are left out")
    func files() async throws {
        let content =
            Content.part("a", "1") + Content.part("f", Content.noise(300_000), filename: "ü.bin")
            + Content.part("none", [], filename: "") + Content.part("empty", [], filename: "e")
            + Content.end
        let (answer, goesOn) = try await answer(Content.multipart, content)
        #expect(answer.text == "a=1|f:ü.bin:300000|empty:e:0")
        #expect(goesOn)
    }

    private static func pairs(_ count: Int) -> [UInt8] {
        Array((0..<count).map { "a\($0)=" }.joined(separator: "&").utf8)
    }

    @Test(
        "More than 10,000 pairs are 413", arguments: [(10_000, 200), (10_001, 413), (11_000, 413)])
    func tooManyPairs(count: Int, status: Int) async throws {
        let (answer, _) = try await answer(Self.urlEncoded, Self.pairs(count))
        #expect(answer.status == status)
        #expect(status == 200 || answer.text.contains("too many pairs"))
    }

    @Test(
        "Content that is not a valid form gets 415 or 400",
        arguments: [
            (nil, "a=1", 415), ("text/plain", "a=1", 415), ("multipart/mixed; boundary=b", "", 415),
            ("application/x-www-form-urlencoded; charset=iso-8859-1", "a=1", 415),
            ("application/x-www-form-urlencoded; charset=UTF-8", "a=1", 200),
            ("multipart/form-data", "", 400), ("multipart/form-data; boundary=\"\"", "", 400),
            (Content.multipart, "", 400), (Content.multipart, "--xYzZy\r\n\r\nno name\r\n", 400),
            (Content.multipart, "--xYzZy--\r\n", 200),
        ] as [(String?, String, Int)])
    func refusal(mediaType: String?, content: String, status: Int) async throws {
        let (answer, goesOn) = try await answer(mediaType, Array(content.utf8))
        #expect(answer.status == status, "\(answer.text)")
        #expect(goesOn)
    }

    @Test("A form that ends early is 400")
    func truncated() async throws {
        let content = Content.part("a", "1") + Content.part("f", [1, 2, 3], filename: "f")
        let (answer, goesOn) = try await answer(Content.multipart, content)
        #expect(answer.status == 400)
        #expect(answer.text.contains("truncated at byte \(content.count)"))
        #expect(goesOn)
    }

    @Test(
        "All fields together may reach the limit, and 413 follows above it",
        arguments: [(-1, 200), (0, 200), (1, 413)])
    func fieldBytes(more: Int, status: Int) async throws {
        let value = String(repeating: "v", count: 50 + more)
        let content = Content.part("ab", value) + Content.part("cd", value.prefix(46).description)
        let file = Content.part("f", Content.noise(1_000), filename: "f")
        let (answer, _) = try await answer(Content.multipart, content + file + Content.end) {
            $0.fieldBytes = 100
        }
        #expect(answer.status == status, "\(answer.text)")
    }

    @Test(
        "A form may reach the total limit, announced or not, and 413 follows above it",
        arguments: [0, 1],
        [true, false])
    func totalBytes(more: Int, isAnnounced: Bool) async throws {
        let content = Content.part("f", Content.noise(1_000), filename: "f") + Content.end
        let limit = Int64(content.count - more)
        let client = MemoryConnection(
            AsyncHandler { request in
                var limits = UploadedForm.Limits()
                limits.multipart.totalBytes = limit
                return .text("\(try await request.form(limits: limits).files.count)")
            })
        let chunks = Array("\(String(content.count, radix: 16))\r\n".utf8) + content
        let chunked = Array(Content.chunkedHead(Content.multipart).utf8) + chunks
        client.feed([
            isAnnounced
                ? Content.post(Content.multipart, content)
                : .bytes(chunked + Array("\r\n0\r\n\r\n".utf8))
        ])
        try await client.output("HTTP/1.1 \(more == 0 ? 200 : 413) ")
    }

    @Test("A handler can read the parts as a stream")
    func parts() async throws {
        let content =
            Content.part("a", "1") + Content.part("f", Content.noise(100_000), filename: "x")
            + Content.end
        let input = Content.post(Content.multipart, content)
        let (answer, goesOn) = try await Content.answer(input) { request in
            var text = ""
            for try await part in try request.multipart() {
                let matches = try await part.collect() == Content.noise(100_000)
                text += "\(part.name ?? "-") \(part.isFile) \(matches); "
            }
            return .text(text)
        }
        #expect(answer.text == "a false false; f true true; ")
        #expect(goesOn)
    }
}

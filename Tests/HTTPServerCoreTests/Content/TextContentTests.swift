import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9110, 8.3.2: Text as content")
struct TextContentTests {
    private func text(_ mediaType: String?, _ bytes: [UInt8]) async throws -> ServerAnswer {
        let (answer, goesOn) = try await Content.answer(Content.post(mediaType, bytes)) { request in
            .text(try await request.text())
        }
        #expect(goesOn)
        return answer
    }

    @Test(
        "Text is read in the charset of its media type",
        arguments: [
            (nil, [0xC3, 0xA9], "é"), ("text/plain", [0xF0, 0x9F, 0x98, 0x80], "😀"),
            ("text/plain; charset=UTF-8", [0xEF, 0xBB, 0xBF, 0x61], "a"),
            ("text/plain; charset=iso-8859-1", [0x61, 0xE9, 0x80, 0xFF], "aé\u{80}ÿ"),
            ("text/plain; charset=\"ISO-8859-1\"", [0xA4], "¤"),
            ("text/plain; charset=us-ascii", [0x61], "a"), ("application/xml", [], ""),
        ] as [(String?, [UInt8], String)])
    func charsets(mediaType: String?, bytes: [UInt8], text: String) async throws {
        let answer = try await self.text(mediaType, bytes)
        #expect(answer.status == 200)
        #expect(answer.text == text)
    }

    @Test(
        "Another charset is 415, and text that is not in its charset 400",
        arguments: [
            ("text/plain; charset=utf-16", [0x61, 0x00], 415),
            ("text/plain; charset=windows-1252", [0x61], 415),
            ("text/plain", [0x61, 0xE9], 400), ("text/plain; charset=utf-8", [0xC0, 0x80], 400),
            ("text/plain; charset=us-ascii", [0x61, 0x80], 400),
        ] as [(String, [UInt8], Int)])
    func refusal(mediaType: String, bytes: [UInt8], status: Int) async throws {
        #expect(try await text(mediaType, bytes).status == status)
    }

    @Test("The response gives the position of the invalid byte, also after a byte order mark")
    func place() async throws {
        for (bytes, place) in [
            ([0x61, 0xC3, 0xA9, 0xFF], 3), ([0xEF, 0xBB, 0xBF, 0x61, 0xC3], 4),
        ]
            as [([UInt8], Int)]
        {
            let answer = try await text("text/plain", bytes)
            #expect(answer.text.contains("invalid text at byte \(place): UTF-8"), "\(answer.text)")
        }
    }

    @Test(
        "Text may reach the limit, and is 413 above it", arguments: [(3, 200), (4, 200), (5, 413)])
    func limit(count: Int, status: Int) async throws {
        let content = [UInt8](repeating: 0x61, count: count)
        let (answer, goesOn) = try await Content.answer(Content.post(nil, content)) { request in
            .text(try await request.text(upTo: 4))
        }
        #expect(answer.status == status)
        #expect(goesOn)
    }

    @Test("A media type is ignored if it is invalid or has two fields")
    func mediaTypes() async throws {
        let handler = SyncHandler { request in
            .text(request.mediaType?.description ?? "none")
        }
        let client = MemoryConnection(handler)
        client.send(
            Sample.get("/", "Content-Type: TEXT/Plain;charset=x\r\n"),
            Sample.get("/", "Content-Type: a/b\r\nContent-Type: a/b\r\n"),
            Sample.get("/", "Content-Type: a\r\n"), Sample.get("/"))
        let record = try await client.output("HTTP/1.1 200", times: 4)
        let texts = ServerAnswer.all(record.output).map(\.text)
        #expect(texts == ["text/plain; charset=x", "none", "none", "none"])
    }
}

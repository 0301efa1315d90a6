import HTTPCodecs
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("RFC 8259: JSON as content")
struct JSONContentTests {
    struct Note: Codable {
        var text: String
        var tags: [String]?
    }

    private func answer(
        _ content: String, _ mediaType: String? = "application/json"
    ) async throws -> (answer: ServerAnswer, goesOn: Bool) {
        try await Content.answer(Content.post(mediaType, content)) { request in
            let note = try await request.json(Note.self)
            return try .json(Note(text: note.text + "!", tags: note.tags))
        }
    }

    @Test("A value comes in, and a value goes out")
    func values() async throws {
        let (answer, goesOn) = try await answer(#"{"text": "\u00e9"}"#)
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer.text == #"{"text":"é!"}"#)
        #expect(goesOn)
    }

    static let deep = String(repeating: "[", count: 200_000)

    @Test(
        "What cannot be taken is told by its status, and the connection goes on",
        arguments: [
            (#"{"text": "a","#, "application/json", 400, "invalid JSON at byte 13"),
            (deep, "application/json", 400, "nested too deeply at byte 128"),
            ("{}", "application/json", 422, "text: it is missing"),
            (#"{"text": "a", "tags": ["b", 5]}"#, "application/json", 422, "tags[1]: "),
            ("{}", "text/plain", 415, "application/json is wanted, not text/plain"),
            ("{}", nil, 415, "application/json is wanted, not none"),
            ("{}", "application/json; charset=utf-16", 415, "JSON is UTF-8"),
        ] as [(String, String?, Int, String)])
    func refusal(content: String, mediaType: String?, status: Int, text: String) async throws {
        let (answer, goesOn) = try await answer(content, mediaType)
        #expect(answer.status == status)
        #expect(answer.text.contains(text), "\(answer.text)")
        // What nobody read of a short content is thrown away; much of it ends the connection.
        #expect(goesOn)
    }

    @Test("Too much is 413 before any of it is read")
    func announced() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in try .json(try await request.json([Int].self)) })
        client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                + "Expect: 100-continue\r\nContent-Length: \(2 << 20 + 1)\r\n\r\n")
        let record = try await client.output("HTTP/1.1 413 ")
        #expect(record.count(of: "100 Continue") == 0)
        #expect(record.text.contains(Sample.close))
    }

    @Test("Too much is 413 as well where it is only seen while reading")
    func unannounced() async throws {
        var json = JSONBody()
        json.byteLimit = 10
        let client = MemoryConnection(
            AsyncHandler { [json] request in
                try .json(try await request.json([Int].self, using: json))
            })
        client.send(Content.chunkedHead("application/json"), "6\r\n[1,2,3\r\n")
        await client.settle()
        #expect(client.record.output.isEmpty)
        client.send("5\r\n,4,5]\r\n0\r\n\r\n")
        try await client.output("HTTP/1.1 413 ")
    }

    // MARK: Lines

    @Test("Values come in line by line, and go out line by line")
    func lines() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                let notes = try request.jsonLines(Note.self)
                return .jsonLines(notes)
            })
        client.send(
            Content.chunkedHead(JSONLines.mediaType),
            "f\r\n{\"text\":\"a\"}\n{\"\r\n", "e\r\ntext\":\"b\"}\r\n\r\n\r\n", "0\r\n\r\n")
        let record = try await client.output("\r\n0\r\n\r\n")
        let answer = try #require(ServerAnswer.all(record.output).first)
        #expect(answer["Content-Type"] == "application/x-ndjson")
        #expect(answer.text == "{\"text\":\"a\"}\n{\"text\":\"b\"}\n")
    }

    @Test("A line that is no JSON is 400")
    func badLine() async throws {
        let input = Content.post(JSONLines.mediaType, "{\"text\":\"a\"}\n{")
        let (answer, goesOn) = try await Content.answer(input) { request in
            var texts: [String] = []
            for try await note in try request.jsonLines(Note.self) { texts.append(note.text) }
            return .text("\(texts)")
        }
        #expect(answer.status == 400)
        #expect(answer.text.contains("at byte 14"))
        #expect(goesOn)
    }

    @Test("A producer writes lines of its own")
    func producer() async throws {
        let client = MemoryConnection(
            SyncHandler { _ in
                .stream(mediaType: .json) { writer in
                    for number in 1...3 { try await writer.write(line: [number]) }
                }
            })
        client.send(Sample.get("/"))
        let record = try await client.output("\r\n0\r\n\r\n")
        #expect(ServerAnswer.all(record.output).first?.text == "[1]\n[2]\n[3]\n")
    }
}

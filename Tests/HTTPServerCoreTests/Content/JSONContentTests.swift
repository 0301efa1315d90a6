import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
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

    @Test("A value is decoded from the request and encoded into the response")
    func values() async throws {
        let (answer, goesOn) = try await answer(#"{"text": "\u00e9"}"#)
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer.text == #"{"text":"é!"}"#)
        #expect(goesOn)
    }

    static let deep = String(repeating: "[", count: 200_000)

    @Test(
        "Invalid content gets 400, 415 or 422 with a reason, and the connection persists",
        arguments: [
            (#"{"text": "a","#, "application/json", 400, "invalid JSON at byte 13"),
            (deep, "application/json", 400, "nested too deeply at byte 128"),
            ("{}", "application/json", 422, #": unexpected JSON: the field "text" is missing"#),
            (#"{"text": "a", "tags": ["b", 5]}"#, "application/json", 422, "tags[1]: "),
            ("{}", "text/plain", 415, "expected application/json, got text/plain"),
            ("{}", nil, 415, "expected application/json, got none"),
            ("{}", "application/json; charset=utf-16", 415, "JSON must be UTF-8"),
        ] as [(String, String?, Int, String)])
    func refusal(content: String, mediaType: String?, status: Int, text: String) async throws {
        let (answer, goesOn) = try await answer(content, mediaType)
        #expect(answer.status == status)
        #expect(answer.text.contains(text), "\(answer.text)")
        // Unread content is discarded if it is short; otherwise the connection would close.
        #expect(goesOn)
    }

    /// Marks that the canonical form has to reorder, which takes quadratic time.
    private static func marks(_ bytes: Int) -> String {
        String(repeating: "\u{301}\u{323}", count: bytes / 4)
    }

    @Test(
        "A name of more than 1 KiB is 413 before it is hashed",
        arguments: [(1_024, 422), (1_028, 413), (400_000, 413)])
    func nameLength(bytes: Int, status: Int) async throws {
        let content = "{\"\(Self.marks(bytes))\": 1}"
        let isQuick = try await takesLess(than: .seconds(5)) {
            let answered = try await self.answer(content)
            #expect(answered.answer.status == status)
        }
        #expect(isQuick, "half a minute, when it is hashed")
    }

    private struct Colored: Codable {
        enum Color: String, Codable { case red, green }
        var color: Color
    }

    @Test(
        "A text with many combining marks in a row is 413 before it is compared",
        arguments: ["\u{301}\u{323}", "\\u0301\\u0323"], [(64, 422), (65, 413), (80_000, 413)])
    func textOfMarks(_ marks: String, _ length: (count: Int, status: Int)) async throws {
        let padding = String(repeating: "x", count: 1_024)
        let text = padding + String(repeating: marks, count: length.count)
        let isQuick = try await takesLess(than: .seconds(10)) {
            let answered = try await Content.answer(
                Content.post("application/json", "{\"color\": \"\(text)\"}")
            ) { request in try .json(try await request.json(Colored.self)) }
            #expect(answered.answer.status == length.status)
        }
        #expect(isQuick)
    }

    /// A separate loop, so that the tests can recognize its thread.
    private static let loop = try? EventLoop(label: "test.json", linger: 1, firesDeadlines: false)

    private struct Place: Decodable {
        var isOnLoop: Bool
        init(from decoder: any Decoder) throws {
            isOnLoop = JSONContentTests.loop?.isCurrent ?? false
        }
    }

    private func answer(
        _ mediaType: String, _ content: String,
        _ respond: @escaping @Sendable (Request) async throws -> Response
    ) async throws -> String {
        let client = MemoryConnection(AsyncHandler(respond), loop: Self.loop)
        client.feed([Content.post(mediaType, content)])
        client.end()
        return ServerAnswer.all(try await client.closed().output).first?.text ?? ""
    }

    @Test(
        "Long JSON is decoded outside of the event loop, short JSON on it",
        arguments: [(10, true), (8 << 10, true), (8_193, false), (1 << 20, false)])
    func place(bytes: Int, isOnLoop: Bool) async throws {
        let text = "\"" + String(repeating: "a", count: bytes - 2) + "\""
        let answer = try await answer("application/json", text) {
            let place = try await $0.json(Place.self)
            // The handler resumes on the loop.
            return .text("\(place.isOnLoop) \(Self.loop?.isCurrent ?? false)")
        }
        #expect(answer == "\(isOnLoop) true")
    }

    @Test(
        "Only long lines of newline-delimited JSON are decoded outside of the event loop",
        arguments: [(10, true), (9_000, false)])
    func placeOfLines(bytes: Int, isOnLoop: Bool) async throws {
        let text = "1\n\"" + String(repeating: "a", count: bytes - 2) + "\"\n"
        let answer = try await answer("application/x-ndjson", text) {
            var places: [Bool] = []
            for try await place in try $0.jsonLines(Place.self) { places.append(place.isOnLoop) }
            return .text("\(places)")
        }
        #expect(answer == "[true, \(isOnLoop)]")
    }

    @Test("Content announced above the limit is 413 before any of it is read")
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

    @Test("Chunked content above the limit is 413 while it is read")
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

    @Test("JSON may reach the limit, and is 413 above it", arguments: [(5, 200), (4, 413)])
    func limit(limit: Int, status: Int) async throws {
        let (answer, goesOn) = try await Content.answer(
            Content.post("application/json", "[1,2]")
        ) { request in
            try .json(try await request.json([Int].self, upTo: limit))
        }
        #expect(answer.status == status)
        #expect(goesOn)
    }

    // MARK: Lines

    @Test("Values are read and written line by line")
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

    @Test("A line of invalid JSON is 400")
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

    @Test("A producer can write single lines")
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

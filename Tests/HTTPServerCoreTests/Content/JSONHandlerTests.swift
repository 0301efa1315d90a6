import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Routes whose closures take a JSON value")
struct JSONHandlerTests {
    private struct Note: Codable {
        var text: String
        var count: Int?
    }

    /// Whether a route's closure suspends.
    enum Kind: CaseIterable { case immediate, waiting }

    private func router(_ kind: Kind) -> Router {
        var router = Router()
        switch kind {
        case .immediate:
            router.post("/notes/:id", json: Note.self) { request, note in
                .text("\(request.parameters["id"] ?? "") \(note.text.utf8.count)")
            }
        case .waiting:
            router.post("/notes/:id", json: Note.self) { request, note in
                await Task.yield()
                return .text("\(request.parameters["id"] ?? "") \(note.text.utf8.count)")
            }
        }
        return router
    }

    private func post(_ content: String, _ fields: String = Self.type) -> String {
        "POST /notes/7 HTTP/1.1\r\nHost: a\r\n\(fields)Content-Length: \(content.utf8.count)\r\n\r\n"
            + content
    }

    private static let type = "Content-Type: application/json\r\n"

    @Test(
        "A long value and a short one are decoded on one connection",
        arguments: [1, 100, 8_100, 100_000],
        Kind.allCases)
    func lengths(_ count: Int, _ kind: Kind) async throws {
        let text = String(repeating: "é", count: count)
        let client = MemoryConnection(router(kind))
        client.send(post("{\"text\": \"\(text)\"}") + post("{\"text\": \"a\"}"))
        try await client.output(Sample.ok("7 \(2 * count)") + Sample.ok("7 1"))
    }

    @Test("Content that is not JSON of the type is refused", arguments: Kind.allCases)
    func refused(_ kind: Kind) async throws {
        for (request, status) in [
            (post("{\"text\": 1}"), "422"), (post("{\"text\""), "400"), (post(""), "400"),
            (post("{}", "Content-Type: text/plain\r\n"), "415"), (post("{}", ""), "415"),
        ] {
            let client = MemoryConnection(router(kind))
            client.send(request)
            try await client.output("HTTP/1.1 \(status) ")
        }
        let client = MemoryConnection(router(kind))
        client.send(
            "POST /notes/7 HTTP/1.1\r\nHost: a\r\n\(Self.type)Content-Length: 99999999\r\n\r\n")
        try await client.output("HTTP/1.1 413 ")
    }

    @Test(
        "The media type is compared without regard to case, and its only charset is UTF-8",
        arguments: [
            ("application/json", "200"), ("Application/JSON", "200"), ("text/json", "200"),
            ("application/json; charset=utf-8", "200"), ("application/json;charset=UTF-8", "200"),
            ("APPLICATION/JSON; CHARSET=\"UTF-8\"", "200"), ("  application/json \t", "200"),
            ("application/json ; charset=utf-8", "200"), ("application/ld+json", "200"),
            ("application/json; version=1", "200"), ("application/json;", "200"),
            ("application/json; charset=latin1", "415"), ("application/jsonp", "415"),
            ("application/jso", "415"), ("application/json, text/plain", "415"), ("json", "415"),
            ("", "415"), ("application/json\r\nContent-Type: application/json", "415"),
            ("application/json\r\ncontent-type: text/plain", "415"),
        ])
    func mediaTypes(_ type: String, _ status: String) async throws {
        let client = MemoryConnection(router(.immediate))
        client.send(post("{\"text\": \"a\"}", "Content-Type: \(type)\r\n"))
        try await client.output("HTTP/1.1 \(status) ")
    }

    @Test(
        "The response does not depend on how the request is split",
        arguments: Kind.allCases)
    func splits(_ kind: Kind) async throws {
        let request = post("{\"text\": \"é\", \"count\": 3}")
        let bytes = Array(request.utf8)
        for position in 1..<bytes.count {
            let client = MemoryConnection(router(kind))
            client.feed([.bytes(Array(bytes[..<position])), .bytes(Array(bytes[position...]))])
            try await client.output(Sample.ok("7 2"))
        }
        let client = MemoryConnection(router(kind))
        client.sendEachByte(request + request)
        try await client.output(Sample.ok("7 2"), times: 2)
    }

    private actor Notes {
        private(set) var texts: [String] = []
        func add(_ text: String) { texts.append(text) }
    }

    @Test("Each method takes an asynchronous closure, whose errors become responses")
    func waiting() async throws {
        let notes = Notes()
        let respond: Router.RespondToJSONLater<Note> = { request, note in
            if note.count == 0 { throw HTTPError(.conflict, "none") }
            await notes.add("\(request.method) \(note.text)")
            return Response(.created)
        }
        var router = Router()
        router.post("/", json: Note.self, respond: respond)
        router.put("/", json: Note.self, respond: respond)
        router.patch("/", json: Note.self, respond: respond)
        router.on(.delete, "/", json: Note.self, respond: respond)
        let content = #"{"text": "a"}"#
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let answer = try await exchange(
                router, method, "/", "\(Self.type)Content-Length: 13\r\n", content: content)
            #expect(answer.status == 201, "\(method)")
        }
        #expect(await notes.texts == ["POST a", "PUT a", "PATCH a", "DELETE a"])
        let refused = try await exchange(
            router, "PUT", "/", "\(Self.type)Content-Length: 25\r\n",
            content: #"{"text": "b", "count": 0}"#)
        #expect(refused.status == 409)
    }

    @Test("The limit of a route applies to each method", arguments: Kind.allCases)
    func limit(_ kind: Kind) async throws {
        let json = JSONBody(byteLimit: 13)
        var router = Router()
        switch kind {
        case .immediate:
            router.post("/", json: Note.self, using: json) { _, note in .text(note.text) }
            router.put("/", json: Note.self, using: json) { _, note in .text(note.text) }
            router.patch("/", json: Note.self, using: json) { _, note in .text(note.text) }
        case .waiting:
            let respond: Router.RespondToJSONLater<Note> = { _, note in
                await Task.yield()
                return .text(note.text)
            }
            router.post("/", json: Note.self, using: json, respond: respond)
            router.put("/", json: Note.self, using: json, respond: respond)
            router.patch("/", json: Note.self, using: json, respond: respond)
        }
        for method in ["POST", "PUT", "PATCH"] {
            for (text, status) in [("a", 200), ("ab", 413)] {
                let content = "{\"text\": \"\(text)\"}"
                let length = "Content-Length: \(content.utf8.count)\r\n"
                let answer = try await exchange(
                    router, method, "/", Self.type + length, content: content)
                #expect(answer.status == status, "\(method)")
            }
        }
    }

    @Test("An asynchronous closure is cancelled when its client disconnects")
    func cancelled() async throws {
        let (gate, log) = (ServerGate(), ServerLog<String>())
        var router = Router()
        router.post("/notes/:id", json: Note.self) { _, _ in
            log.add("begun")
            await gate.wait()
            log.add(Task.isCancelled ? "cancelled" : "not cancelled")
            return Response(.ok)
        }
        let client = MemoryConnection(router)
        client.send(post(#"{"text": "a"}"#))
        #expect(await log.first() == "begun")
        client.hangUp()
        #expect(await log.first() == "cancelled")
    }
}

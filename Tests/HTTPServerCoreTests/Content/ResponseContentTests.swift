import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Convenience responses")
struct ResponseContentTests {
    private func answer(
        _ request: String = Sample.get("/"),
        _ respond: @escaping @Sendable (Request) throws -> Response
    ) async throws -> ServerAnswer {
        let client = MemoryConnection(SyncHandler(respond))
        client.send(request, Sample.get("/"))
        let record = try await client.output("HTTP/1.1 ", times: 2)
        let heads: Set<Int> = request.hasPrefix("HEAD") ? [0] : []
        return try #require(ServerAnswer.all(record.output, heads: heads).first)
    }

    @Test("Text and pages have their media types")
    func text() async throws {
        let text = try await answer { _ in .text("é", status: .created) }
        #expect(text.status == 201)
        #expect(text["Content-Type"] == "text/plain; charset=utf-8")
        #expect(text.text == "é")
        let page = try await answer { _ in .html("<p>") }
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page.text == "<p>")
    }

    @Test("A JSON response may have another media type and format")
    func json() async throws {
        let answer = try await answer { _ in
            var json = JSONBody()
            json.options.sortsNames = true
            let type = MediaType("application", "problem+json") ?? .json
            return try .json(
                ["title": "a", "a": "b"], status: .conflict, mediaType: type, using: json)
        }
        #expect(answer.status == 409)
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(answer.text == #"{"a":"b","title":"a"}"#)
    }

    @Test("A value that JSON cannot hold is 500")
    func unencodable() async throws {
        #expect(try await answer { _ in try .json([Double.nan]) }.status == 500)
    }

    // MARK: Files

    @Test("A file response supports validators, ranges and HEAD")
    func file() async throws {
        let disk = try ServerDirectory()
        try disk.write("a.css", "0123456789")
        let path = disk.path("a.css")
        let whole = try await answer { try .file(path: path, for: $0) }
        #expect(whole.text == "0123456789")
        #expect(whole["Content-Type"] == "text/css; charset=utf-8")
        let tag = try #require(whole["ETag"])
        let unchanged = try await answer(Sample.get("/", "If-None-Match: \(tag)\r\n")) {
            try .file(path: path, for: $0)
        }
        #expect(unchanged.status == 304)
        let part = try await answer(Sample.get("/", "Range: bytes=2-4\r\n")) {
            try .file(path: path, for: $0, mediaType: "a/b")
        }
        #expect(part.status == 206)
        #expect(part.text == "234")
        #expect(part["Content-Type"] == "a/b")
        let head = try await answer("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n") {
            try .file(path: path, for: $0)
        }
        #expect(head["Content-Length"] == "10")
    }

    @Test("A file in response to POST ignores conditions and ranges")
    func posted() async throws {
        let disk = try ServerDirectory()
        try disk.write("a.txt", "0123456789")
        let answer = try await answer(Sample.post("x", "Range: bytes=2-4\r\nIf-None-Match: *\r\n"))
        {
            try .file(path: disk.path("a.txt"), for: $0)
        }
        #expect(answer.status == 200)
        #expect(answer.text == "0123456789")
    }

    @Test(
        "A file is offered for saving under a name",
        arguments: [
            ("a b.txt", "attachment; filename=\"a b.txt\""),
            ("\u{20AC}.txt", "attachment; filename=\"_.txt\"; filename*=UTF-8''%E2%82%AC.txt"),
        ])
    func attachment(name: String, field: String) async throws {
        let disk = try ServerDirectory()
        try disk.write("a", "x")
        let answer = try await answer {
            try .file(path: disk.path("a"), for: $0, attachmentName: name)
        }
        #expect(answer["Content-Disposition"] == field)
    }

    @Test("A path that is not a file is 404", arguments: ["none", "", "pipe", "a\u{0}b"])
    func missing(name: String) async throws {
        let disk = try ServerDirectory()
        try disk.write("a", "x")
        try disk.makePipe("pipe")
        let answer = try await answer { try .file(path: disk.path(name), for: $0) }
        #expect(answer.status == 404)
    }
}

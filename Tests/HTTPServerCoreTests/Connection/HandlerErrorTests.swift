import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@Suite("RFC 9110, 15.5 and 15.6: Errors of handlers")
struct HandlerErrorTests {
    struct Unknown: Error {}

    static let errors: [(any Error & Sendable, Int)] = [
        (HTTPError(.notFound), 404), (HTTPError(.conflict, "in use"), 409),
        (HTTPError(.insufficientStorage), 507), (Unknown(), 500),
    ]

    @Test(
        "A thrown HTTPError gets its status, any other error 500", arguments: 0..<4, [true, false])
    func thrown(_ index: Int, _ isImmediate: Bool) async throws {
        let (error, status) = Self.errors[index]
        let handler: any Handler =
            isImmediate
            ? SyncHandler { _ in throw error }
            : AsyncHandler { _ in
                await Task.yield()
                throw error
            }
        let client = MemoryConnection(handler)
        client.send(Sample.get("/1"), Sample.get("/2"))
        let record = try await client.output("HTTP/1.1 \(status) ", times: 2)
        #expect(!record.isClosed)
        #expect(!record.text.contains("Unknown"))
    }

    @Test("The reason and the fields of an error are sent")
    func reasonAndFields() async throws {
        let client = MemoryConnection(
            SyncHandler { _ in throw HTTPError(.conflict, "in use", fields: [.retryAfter: "5"]) })
        client.send(Sample.get("/"))
        let record = try await client.output("in use\n")
        let answer = try #require(ServerAnswer.all(record.output).first)
        #expect(answer["Retry-After"] == "5")
        #expect(answer.text == "409 Conflict: in use\n")
    }

    static let injections: [HTTPFields] = [
        ["X": "a\r\nSet-Cookie: b"], ["X": "a\nb"], ["X": "a\rb"], ["X": "a\u{0}b"],
        [.location: "/\r\n\r\n<script>"], [.connection: "x"], [.contentLength: "3"],
        [.transferEncoding: "chunked"],
    ]

    @Test(
        "RFC 9110, 5.5: Fields that would split the message or frame it are not sent; 500 is",
        arguments: injections, [true, false])
    func injection(_ fields: HTTPFields, _ isStream: Bool) async throws {
        let body = isStream ? ResponseBody.stream { try await $0.write("abc") } : .text("abc")
        let client = MemoryConnection(
            SyncHandler { request in
                request.target.text == "/"
                    ? Response(.ok, fields: fields, body: body) : Response(.ok, body: .text("next"))
            })
        client.send(Sample.get("/ok"), Sample.get("/"), Sample.get("/ok"))
        let record = try await client.output("next", times: 2)
        let answers = ServerAnswer.all(record.output)
        #expect(answers.map(\.status) == [200, 500, 200])
        #expect(answers[1].fields.map(\.name) == ["Date", "Content-Length"])
    }

    @Test("An injection through a media type is 500, too")
    func mediaType() async throws {
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(.ok, body: .text("abc", mediaType: "text/plain\r\nX: y"))
            })
        client.send(Sample.get("/"))
        let record = try await client.output("HTTP/1.1 500 ")
        #expect(!record.text.contains("X: y"))
    }

    @Test("An injection through trailers closes the connection")
    func trailers() async throws {
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        try await writer.write("abc")
                        await writer.setTrailers(["X": "a\r\n\r\nHTTP/1.1 200 OK"])
                    })
            })
        client.send(Sample.get("/"))
        let record = try await client.closed()
        #expect(record.text.hasSuffix("3\r\nabc\r\n"))
    }

    @Test("A handler that catches the error of malformed content may still answer")
    func swallowed() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in
                _ = try? await request.body.collect()
                return Response(.ok, body: .text("fine"))
            })
        client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
                + Sample.get("/smuggled"))
        client.end()
        let record = try await client.closed()
        #expect(record.text == Sample.ok("fine", Sample.close))
    }
}

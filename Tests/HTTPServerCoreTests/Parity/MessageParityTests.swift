import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Responses as values")
struct ResponseValueTests {
    private func answer(
        _ request: String = Sample.get("/"),
        _ respond: @escaping @Sendable (Request) throws -> Response
    ) async throws -> ServerAnswer {
        try await RouterTests.answer(SyncHandler(respond), request)
    }

    @Test("A default response is 200 with Content-Length: 0")
    func plain() async throws {
        let answer = try await answer { _ in Response() }
        #expect(answer.status == 200)
        #expect(answer["Content-Length"] == "0")
        #expect(answer["Content-Type"] == nil)
    }

    @Test("A field may be repeated in order, and can be removed")
    func fields() async throws {
        let answer = try await answer { _ in
            var response = Response.text("x")
            response.fields.append(.setCookie, "a=1")
            response.fields.append(.setCookie, "b=2")
            response.fields.append("X-Gone", "x")
            response.fields["X-Gone"] = nil
            return response
        }
        #expect(answer.fields.filter { $0.name == "Set-Cookie" }.map(\.value) == ["a=1", "b=2"])
        #expect(answer["X-Gone"] == nil)
    }

    @Test("Bytes have their media type and length")
    func bytes() async throws {
        let answer = try await answer { _ in
            Response(.created, body: .bytes([0, 255], mediaType: "application/x-data"))
        }
        #expect(answer.status == 201)
        #expect(answer["Content-Type"] == "application/x-data")
        #expect(answer["Content-Length"] == "2")
        #expect(answer.content == [0, 255])
    }

    @Test("The Content-Type field takes precedence over the media type of the body")
    func mediaType() async throws {
        let answer = try await answer { _ in
            Response(fields: [.contentType: "text/x-mine"], body: .text("x"))
        }
        #expect(answer.fields.filter { $0.name == "Content-Type" }.map(\.value) == ["text/x-mine"])
    }

    @Test(
        "RFC 9110, 15.4: Redirects have any status and any URI reference",
        arguments: [
            (.movedPermanently, "/index.html"), (.found, "index.html"), (.seeOther, "../x?y=1"),
            (.temporaryRedirect, "http://a.example/"), (.permanentRedirect, "?page=2"),
        ] as [(HTTPStatus, String)])
    func redirect(status: HTTPStatus, location: String) async throws {
        let answer = try await answer { _ in .redirect(to: location, status) }
        #expect(answer.status == status.code)
        #expect(answer["Location"] == location)
        #expect(answer.content.isEmpty)
    }

    @Test("A response value can be sent several times")
    func reuse() async throws {
        let kept = Response.text("kept")
        let client = MemoryConnection(SyncHandler { _ in kept })
        client.send(Sample.get("/"), Sample.get("/"), Sample.get("/"))
        let record = try await client.output("kept", times: 3)
        #expect(ServerAnswer.all(record.output).map(\.text) == ["kept", "kept", "kept"])
    }

    @Test("Any status can be sent, registered or not", arguments: [299, 418, 451, 599])
    func statuses(code: Int) async throws {
        let status = try #require(HTTPStatus(code))
        #expect(try await answer { _ in Response(status) }.status == code)
    }
}

@Suite("Invalid requests")
struct TroubleTests {
    private static let fields = SyncHandler { request in
        .text(request.fields["Destination"] ?? "none")
    }

    @Test("Field names are not case-sensitive")
    func fieldNames() async throws {
        for name in ["Destination", "destination", "DESTINATION", "dEsTiNaTiOn"] {
            let answer = try await RouterTests.answer(
                Self.fields, Sample.get("/", "\(name): /b\r\n"))
            #expect(answer.text == "/b")
        }
    }

    @Test(
        "An invalid request gets an error response",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 400), ("MOVE /a HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12abc\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
            ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("junk\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ])
    func answers(request: String, status: Int) async throws {
        var router = Router()
        router.route(nil, "/", to: Self.fields)
        let answer = try await RouterTests.answer(router, request)
        #expect(answer.status == status)
    }

    @Test(
        "A handler for reading refuses methods that change files",
        arguments: ["/", "/sub", "/a.txt"])
    func nothingRemoved(target: String) async throws {
        let disk = try ServerDirectory()
        try disk.write("a.txt", "x")
        try disk.makeDirectory("sub")
        let handler = FileHandler(root: disk.path)
        for method in ["DELETE", "PUT", "POST", "MOVE", "MKCOL"] {
            let answer = try await RouterTests.answer(
                handler, RouterTests.request(method, target))
            #expect(answer.status == 405)
        }
        #expect(disk.exists("a.txt") && disk.exists("sub"))
    }

    @Test("Truncated content never looks complete to a handler")
    func cutShort() async throws {
        let whole = Locked([String]())
        let handler = AsyncHandler { request in
            let text = try await request.text()
            whole.withLock { $0.append(text) }
            return .text("taken")
        }
        for request in [
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        ] {
            let client = MemoryConnection(handler)
            client.send(request)
            client.end()
            try await client.closed()
        }
        #expect(whole.withLock { $0 }.isEmpty)
    }

    @Test("If-Modified-Since ignores the fraction of a second of the file's time")
    func subSeconds() async throws {
        // A file that was just written has a time with nanoseconds.
        let disk = try ServerDirectory()
        try disk.write("a.txt", "x")
        let handler = FileHandler(root: disk.path)
        let first = try await RouterTests.answer(handler, Sample.get("/a.txt"))
        let date = try #require(first["Last-Modified"])
        let again = try await RouterTests.answer(
            handler, Sample.get("/a.txt", "If-Modified-Since: \(date)\r\n"))
        #expect(again.status == 304)
    }
}

import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import HTTPToolkitTesting
import Testing

@Suite("An application without a socket")
struct TestApplicationTests {
    private struct User: Codable, Equatable {
        var id: Int
        var name: String
    }

    private static func application() -> TestApplication {
        var router = Router()
        router.get("/users/:id") { request in "user \(request.parameters["id"] ?? "-")\n" }
        router.post("/users", json: User.self) { _, user in try .json(user, status: .created) }
        router.post("/echo") { request in
            Response(.ok, body: .bytes(try await request.body.collect()))
        }
        router.on(.get, "/count") { _ in
            Response(
                .ok,
                body: .stream { writer in
                    for number in 1...3 { try await writer.write("\(number)\n") }
                    await writer.setTrailers(["X-Count": "3"])
                })
        }
        router.on(.get, "/early") { request in
            try await request.sendInterim(.earlyHints, fields: [.link: "</a.css>"])
            return Response(.ok, body: .text("late"))
        }
        router.on(.get, "/broken") { _ in
            Response(
                .ok,
                body: .stream { writer in
                    try await writer.write("some")
                    throw HTTPError(.internalServerError)
                })
        }
        router.on(.get, "/peer") { request in Response(.ok, body: .text(request.peer.host)) }
        return TestApplication(router)
    }

    private let app = Self.application()

    @Test("A request for a route gets its response")
    func route() async throws {
        let response = try await app.response(to: .get("/users/1"))
        #expect(response.status == .ok)
        #expect(response.text == "user 1\n")
        #expect(response.fields[.contentLength] == "7")
        #expect(try await app.response(to: .get("/peer")).text == "127.0.0.1")
    }

    @Test("HEAD gets no content; a wrong method, path or media type gets 405, 404 or 415")
    func rules() async throws {
        let head = try await app.response(to: .head("/users/1"))
        #expect(head.status == .ok && head.content.isEmpty)
        #expect(head.fields[.contentLength] == "7")
        let wrong = try await app.response(to: .delete("/users/1"))
        #expect(wrong.status == .methodNotAllowed)
        #expect(wrong.fields[.allow]?.contains("GET") == true)
        #expect(try await app.response(to: .get("/nothing")).status == .notFound)
        #expect(try await app.response(to: .post("/users", .text("no"))).status.code == 415)
    }

    @Test("JSON is sent in a request and read from a response")
    func json() async throws {
        let ada = User(id: 1, name: "Ada")
        let response = try await app.response(to: .post("/users", .json(ada)))
        #expect(response.status == .created)
        #expect(try response.json(as: User.self) == ada)
        let text = try await app.response(to: .get("/users/1"))
        #expect(throws: CodecError.self) { try text.json(as: User.self) }
    }

    @Test(
        "Content of up to 3 MiB arrives complete in both directions",
        arguments: [0, 1, 100_000, 3 << 20])
    func content(_ count: Int) async throws {
        var configuration = ServerConfiguration()
        configuration.contentLimit = 8 << 20
        var router = Router()
        router.post("/echo") { request in
            Response(.ok, body: .bytes(try await request.body.collect(upTo: 8 << 20)))
        }
        let app = TestApplication(router, configuration: configuration)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let response = try await app.response(to: .post("/echo", .bytes(bytes)))
        #expect(response.content == bytes)
    }

    @Test("A form is sent URL-encoded")
    func form() async throws {
        let response = try await app.response(to: .post("/echo", .form(["a": "b c"])))
        #expect(response.text == "a=b+c")
    }

    // The examples of RFC 7617, sections 2 and 2.1.
    @Test(
        "A login is sent as Basic credentials in UTF-8",
        arguments: [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
        ])
    func login(user: String, password: String, field: String) async throws {
        var router = Router()
        router.get("/") { request in request.fields[.authorization] ?? "-" }
        let request = TestRequest.get("/", fields: [.authorization: "Bearer token"])
        let response = try await TestApplication(router).response(
            to: request.loggedIn(as: user, password: password))
        #expect(response.text == field)
    }

    @Test("A streamed response is collected, with its trailers")
    func stream() async throws {
        let response = try await app.response(to: .get("/count"))
        #expect(response.text == "1\n2\n3\n")
        #expect(response.trailers["X-Count"] == "3")
    }

    @Test("Interim responses are separate from the final response")
    func interim() async throws {
        let response = try await app.response(to: .get("/early"))
        #expect(response.text == "late")
        #expect(response.interim.map(\.status) == [.earlyHints])
        #expect(response.interim.first?.fields[.link] == "</a.css>")
    }

    @Test("An incomplete response is an error with the content so far")
    func cut() async throws {
        let error = await #expect(throws: TestApplicationError.self) {
            try await app.response(to: .get("/broken"))
        }
        guard case .incomplete(let response)? = error else {
            return #expect(Bool(false), "expected incomplete")
        }
        #expect(response.status == .ok && response.text == "some")
    }

    @Test("A request with an invalid target or field value is refused")
    func invalid() async {
        await #expect(throws: HTTPMessageError.self) {
            try await app.response(to: .get("no slash"))
        }
        await #expect(throws: HTTPMessageError.self) {
            try await app.response(to: .get("/", fields: [.referer: "a\r\nb: c"]))
        }
    }

    @Test("A cancelled caller closes the connection, which cancels the handler")
    func cancellation() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        let app = TestApplication(
            AsyncHandler { _ in
                start.finish()
                do { try await Task.sleep(for: .seconds(600)) } catch { end.yield(true) }
                end.finish()
                return Response(.ok)
            })
        let caller = Task { try await app.response(to: .get("/")) }
        for await _ in started {}
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        var wasCancelled = false
        for await value in ended { wasCancelled = value }
        #expect(wasCancelled)
    }

    @Test("Concurrent requests get their own responses")
    func concurrent() async throws {
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for id in 0..<200 {
                group.addTask { (id, try await app.response(to: .get("/users/\(id)")).text) }
            }
            for try await (id, text) in group { #expect(text == "user \(id)\n") }
        }
    }
}

import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Routes whose handlers are closures")
struct RouteClosureTests {
    private static let router: Router = {
        var router = Router()
        router.get("/") { _ in "get" }
        router.get("/later") { request in
            await Task.yield()
            return "later \(request.path)"
        }
        router.post("/") { request in "post \(try await request.text())" }
        router.put("/") { _ in .text("put") }
        router.patch("/") { _ in
            await Task.yield()
            return Response(.ok, body: .text("patch"))
        }
        router.delete("/") { _ in Response(.noContent) }
        router.on(nil, "/any") { request in "any \(request.method.name)" }
        return router
    }()

    private static let requests: [(request: String, answer: String)] = [
        (Sample.get("/"), Sample.ok("get")),
        (Sample.get("/later"), Sample.ok("later /later")),
        (Sample.post("abc"), Sample.ok("post abc")),
        ("PUT / HTTP/1.1\r\nHost: a\r\n\r\n", Sample.ok("put")),
        ("PATCH / HTTP/1.1\r\nHost: a\r\n\r\n", Sample.ok("patch")),
        ("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("LOCK /any HTTP/1.1\r\nHost: a\r\n\r\n", Sample.ok("any LOCK")),
    ]

    @Test("Each method takes a closure that returns a response or a text", arguments: requests)
    func methods(_ request: String, _ answer: String) async throws {
        let client = MemoryConnection(Self.router)
        client.send(request)
        try await client.output(answer)
    }

    @Test(
        "HEAD is answered by a route for GET, unless that is switched off",
        arguments: [true, false])
    func head(_ isMapped: Bool) async throws {
        var router = Self.router
        router.mapsHEADToGET = isMapped
        let client = MemoryConnection(router)
        client.send("HEAD /later HTTP/1.1\r\nHost: a\r\n\r\n")
        let record = try await client.output("HTTP/1.1 \(isMapped ? 200 : 405) ")
        #expect(record.text.contains("Allow: GET, OPTIONS\r\n") == !isMapped)
    }

    @Test("A path with other methods only is 405, with all of them in Allow")
    func otherMethods() async throws {
        let client = MemoryConnection(Self.router)
        client.send("LOCK / HTTP/1.1\r\nHost: a\r\n\r\n")
        let record = try await client.output("HTTP/1.1 405 ")
        #expect(record.text.contains("Allow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r\n"))
    }
}

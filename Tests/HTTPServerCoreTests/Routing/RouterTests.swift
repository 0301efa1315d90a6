import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Router")
struct RouterTests {
    /// The response to one request.
    static func answer(_ handler: any Handler, _ request: String) async throws -> ServerAnswer {
        let client = MemoryConnection(handler)
        client.send(request)
        client.end()
        let record = try await client.closed()
        return try #require(
            ServerAnswer.all(record.output, heads: request.hasPrefix("HEAD") ? [0] : []).first)
    }

    static func request(_ method: String, _ target: String) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n"
    }

    static func named(_ name: String) -> SyncHandler {
        SyncHandler { request in
            let rest = request.pathSegments.map { segments in
                segments.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "|")
            }
            let parameters = ["id", "name"].compactMap { request.parameters[$0] }
            return Response(
                .ok, body: .text("\(name) \(rest ?? "-") \(parameters.joined(separator: ","))"))
        }
    }

    private static var router: Router {
        var router = Router()
        router.route(.get, "/", to: named("root"))
        router.route(.get, "/a/b", to: named("literal"))
        router.route(.get, "/a/b/", to: named("slash"))
        router.route(.post, "/a/b", to: named("post"))
        router.route(.get, "/users/:id", to: named("user"))
        router.route(.get, "/users/:id/notes/:name", to: named("note"))
        router.route(.get, "/users/me", to: named("me"))
        router.route(.get, "/tree/*", to: named("tree"))
        router.route(.get, "/tree/:id/x", to: named("later"))
        router.mount("/files", named("files"))
        return router
    }

    @Test("A mount path needs no leading slash")
    func mountWithoutSlash() async throws {
        var router = Router()
        router.route(.get, "/x", to: Self.named("x"))
        router.mount("files", Self.named("files"))
        for (path, answer) in [("/x", "x x "), ("/files/a", "files a ")] {
            let found = try await Self.answer(router, Self.request("GET", path))
            #expect(found.text == answer)
        }
        #expect(try await Self.answer(router, Self.request("GET", "/other")).status == 404)
    }

    @Test(
        "Each path, in any spelling, finds its route",
        arguments: [
            ("/", "root  "), ("/?x=/a/b", "root  "), ("/a/b", "literal a|b "),
            ("/a/b?", "literal a|b "), ("/a/b/", "slash a|b| "), ("/users/7", "user users|7 7"),
            ("/users/me", "me users|me "), ("/users/7/notes/x", "note users|7|notes|x 7,x"),
            ("/tree/", "tree  "), ("/tree/1/2", "tree 1|2 "), ("/tree/1/x", "later tree|1|x 1"),
            ("/files", "files  "), ("/files/", "files  "), ("/files/1/2", "files 1|2 "),
            ("/files/1/", "files 1| "),
            // RFC 3986, 6.2.2: other spellings of the same path.
            ("/%61/b", "literal a|b "), ("/a/./b", "literal a|b "), ("/a/x/../b", "literal a|b "),
            ("//a//b", "literal a|b "), ("/x/..", "root  "), ("/a/b/.", "slash a|b| "),
            ("/files/../a/b", "literal a|b "), ("/%66iles/%31", "files 1 "),
            ("/files/%2e%2e/a/b", "literal a|b "),
            // An encoded slash is not a separator.
            ("/users/1%2F2", "user users|1/2 1/2"), ("/files/1%2f2", "files 1/2 "),
            ("/users/%C3%BC%20", "user users|ü  ü "),
            // RFC 9112, 3.2.2: the absolute form.
            ("http://a/a/b", "literal a|b "), ("http://a", "root  "), ("http://a/", "root  "),
            ("http://a?x=/a/b", "root  "), ("http://a?/a/b", "root  "),
        ])
    func finds(_ target: String, _ expected: String) async throws {
        let answer = try await Self.answer(Self.router, Self.request("GET", target))
        #expect(answer.status == 200)
        #expect(answer.text == expected)
    }

    @Test(
        "A path without a route is 404",
        arguments: [
            "/a", "/a/b/c", "/A/B", "/users", "/users/", "/users//", "/filesx", "/a%2Fb",
            "/users/%FF", "/..files",
        ])
    func missing(_ target: String) async throws {
        let answer = try await Self.answer(Self.router, Self.request("GET", target))
        #expect(answer.status == 404)
    }

    @Test(
        "A path that cannot be decoded, or rises above its root, is 400",
        arguments: [
            "/%", "/%4", "/%zz", "/a%00", "/..", "/../a/b", "/a/../..", "/%2e%2e/a", "/a/b/%",
        ])
    func invalid(_ target: String) async throws {
        let answer = try await Self.answer(Self.router, Self.request("GET", target))
        #expect(answer.status == 400)
    }

    @Test("RFC 9110, 15.5.6: Another method is 405 with Allow", arguments: ["PUT", "DELETE"])
    func methodNotAllowed(_ method: String) async throws {
        let answer = try await Self.answer(Self.router, Self.request(method, "/a/b"))
        #expect(answer.status == 405)
        #expect(answer["Allow"] == "GET, HEAD, OPTIONS, POST")
        let user = try await Self.answer(Self.router, Self.request(method, "/users/7"))
        #expect(user["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test("RFC 9110, 15.6.2: An unknown method is 501", arguments: ["/a/b", "/nothing"])
    func notImplemented(_ target: String) async throws {
        let answer = try await Self.answer(Self.router, Self.request("BREW", target))
        #expect(answer.status == 501)
    }

    @Test("RFC 9110, 9.3.7: OPTIONS is answered for a path and for the server")
    func options() async throws {
        let path = try await Self.answer(Self.router, Self.request("OPTIONS", "/a/b"))
        #expect(path.status == 204)
        #expect(path["Allow"] == "GET, HEAD, OPTIONS, POST")
        let server = try await Self.answer(Self.router, Self.request("OPTIONS", "*"))
        #expect(server.status == 204)
        #expect(server["Allow"] == "GET, HEAD, OPTIONS, POST")
        let missing = try await Self.answer(Self.router, Self.request("OPTIONS", "/nothing"))
        #expect(missing.status == 404)
        // The methods of a mounted handler are unknown.
        var mounting = Router()
        mounting.mount("/", Sample.target)
        let mounted = try await Self.answer(mounting, Self.request("OPTIONS", "*"))
        #expect(mounted.status == 204 && mounted["Allow"] == nil)
    }

    @Test("RFC 9110, 9.3.2: HEAD is answered by the route of GET")
    func head() async throws {
        let answer = try await Self.answer(Self.router, Self.request("HEAD", "/a/b"))
        #expect(answer.status == 200)
        #expect(answer["Content-Length"] == "12")
    }

    @Test("HEAD is answered by the handler of GET, unless it has a separate route")
    func headOfTheSameResource() async throws {
        var router = Router()
        router.mount("/", Self.named("mount"))
        router.route(.get, "/a", to: Self.named("get"))
        let answer = try await Self.answer(router, Self.request("HEAD", "/a"))
        #expect(answer["Content-Length"] == "\("get a ".utf8.count)")

        router.on(.head, "/b") { _ in Response(.ok, fields: [.via: "own"]) }
        router.route(.get, "/b", to: Self.named("get"))
        let own = try await Self.answer(router, Self.request("HEAD", "/b"))
        #expect(own["Via"] == "own")

        router.mount("/", Self.named("last"))
        let last = try await Self.answer(router, Self.request("HEAD", "/b"))
        #expect(last["Via"] == nil)
    }

    @Test("A mount takes all methods, so those without a route do not get 405")
    func mountAndRoute() async throws {
        let refusing = SyncHandler { _ in throw HTTPError(.unauthorized) }
        var router = Router()
        router.route(.post, "/login", to: Self.named("login"))
        for (method, status) in [("POST", 200), ("GET", 405)] {
            let answer = try await Self.answer(router, Self.request(method, "/login"))
            #expect(answer.status == status)
        }
        var before = Router()
        before.mount("/", refusing)
        before.route(.post, "/login", to: Self.named("login"))
        var after = router
        after.mount("/", refusing)
        for (router, method, status) in [
            (before, "POST", 200), (before, "GET", 401), (after, "POST", 401), (after, "GET", 401),
        ] {
            let answer = try await Self.answer(router, Self.request(method, "/login"))
            #expect(answer.status == status)
        }
    }

    @Test("The newest matching route answers, whatever its kind")
    func lastWins() async throws {
        var router = Router()
        let names = ["first", "second", "third", "fourth", "fifth"]
        router.route(.get, "/a/b", to: Self.named(names[0]))
        var answers = [try await Self.answer(router, Self.request("GET", "/a/b")).text]
        router.route(.get, "/a/:id", to: Self.named(names[1]))
        answers.append(try await Self.answer(router, Self.request("GET", "/a/b")).text)
        router.mount("/a", Self.named(names[2]))
        answers.append(try await Self.answer(router, Self.request("GET", "/a/b")).text)
        router.route(.get, "/a/b", to: Self.named(names[3]))
        answers.append(try await Self.answer(router, Self.request("GET", "/a/b")).text)
        router.route(nil, "/a/b", to: Self.named(names[4]))
        answers.append(try await Self.answer(router, Self.request("GET", "/a/b")).text)
        #expect(answers == ["first a|b ", "second a|b b", "third b ", "fourth a|b ", "fifth a|b "])
    }

    @Test("Many routes are kept apart", arguments: [1, 15, 16, 17, 1_000])
    func many(_ count: Int) async throws {
        var router = Router()
        for index in 0..<count {
            router.on(.get, "/\(index)") { _ in Response(.ok, body: .text("\(index)")) }
        }
        for index in [0, count / 2, count - 1] {
            let answer = try await Self.answer(router, Self.request("GET", "/\(index)"))
            #expect(answer.text == "\(index)")
        }
        let missing = try await Self.answer(router, Self.request("GET", "/\(count)"))
        #expect(missing.status == 404)
    }

    @Test("A copy does not change with its original")
    func copies() async throws {
        var router = Router()
        router.route(.get, "/a", to: Self.named("old"))
        let copy = router
        router.route(.get, "/a", to: Self.named("new"))
        let answer = try await Self.answer(copy, Self.request("GET", "/a"))
        #expect(answer.text == "old a ")
    }

    @Test("A blocking handler runs outside of the event loop")
    func blocking() async throws {
        let loops = ServerLog<EventLoop>()
        var router = Router()
        router.onBlocking(nil, "/a") { _ in
            Response(.ok, body: .text("\(loops.entries.first?.isCurrent ?? true)"))
        }
        let client = MemoryConnection(router)
        loops.add(client.loop)
        client.send(Sample.get("/a"))
        try await client.output(Sample.ok("false"))
    }

    @Test("A request has its path, query, fields and addresses")
    func requestValues() async throws {
        let handler = SyncHandler { request in
            let text = [
                request.path, request.target.query ?? "-", "\(request.version)",
                "\(request.contentLength ?? -1)", request.fields[.host] ?? "-",
                "\(request.peer)", "\(request.local)", "\(request.fields.count)",
                request.fields.list(.accept) ?? "-",
            ]
            return Response(.ok, body: .text(text.joined(separator: ";")))
        }
        let answer = try await Self.answer(
            handler,
            "GET /a%20b%2Fc?x=%20 HTTP/1.1\r\nHost: h:1\r\nAccept: a/b\r\nAccept: c/d\r\n\r\n")
        #expect(answer.text == "/a b/c;x=%20;HTTP/1.1;-1;h:1;unix;unix:test;3;a/b, c/d")
    }

    @Test(
        "The root of a nested router is its mount point",
        arguments: [
            ("/in", "inner root"), ("/in/", "inner root"), ("/in/a", "inner a"),
            ("/in/x/7", "inner id"), ("/in/deep/a/b", "deepest"), ("/%69n/a", "inner a"),
        ])
    func nestedRouter(target: String, expected: String) async throws {
        var deepest = Router()
        deepest.mount("/a", Self.named("deepest"))
        var inner = Router()
        inner.route(.get, "/", to: Self.named("inner root"))
        inner.route(.get, "/a", to: Self.named("inner a"))
        inner.route(.get, "/x/:id", to: Self.named("inner id"))
        inner.mount("/deep", deepest)
        var outer = Router()
        outer.mount("/in", inner)
        let answer = try await Self.answer(outer, Self.request("GET", target))
        #expect(answer.text.hasPrefix(expected))
        let missing = try await Self.answer(outer, Self.request("GET", "/in/nowhere"))
        #expect(missing.status == 404)
        let refused = try await Self.answer(outer, Self.request("DELETE", "/in/a"))
        #expect(refused.status == 405)
        #expect(refused["Allow"] == "GET, HEAD, OPTIONS")
    }
}

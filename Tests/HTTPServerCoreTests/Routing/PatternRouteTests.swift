import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Routes with patterns and conditions")
struct PatternRouteTests {
    private static func text(_ router: Router, _ target: String) async throws -> String {
        let answer = try await RouterTests.answer(router, RouterTests.request("GET", target))
        return answer.status == 200 ? answer.text : "\(answer.status)"
    }

    // MARK: Segments

    @Test("A star matches one segment, and as the last segment any rest")
    func stars() async throws {
        var router = Router()
        router.route(.get, "/a/*/c", to: RouterTests.named("one"))
        router.route(.get, "/b/*/:id/*", to: RouterTests.named("rest"))
        #expect(try await Self.text(router, "/a/b/c") == "one a|b|c ")
        #expect(try await Self.text(router, "/a//c") == "404")
        #expect(try await Self.text(router, "/a/b/x/c") == "404")
        #expect(try await Self.text(router, "/b/x/7/c/d") == "rest c|d 7")
        #expect(try await Self.text(router, "/b/x/7") == "rest  7")
        #expect(try await Self.text(router, "/b/x") == "404")
    }

    @Test("A branch without a match does not hide an older matching route")
    func backtracking() async throws {
        var router = Router()
        router.route(.get, "/:a/x/:id", to: RouterTests.named("wide"))
        router.route(.get, "/u/:b/y", to: RouterTests.named("narrow"))
        router.route(.get, "/u/x/z", to: RouterTests.named("literal"))
        #expect(try await Self.text(router, "/u/x/7") == "wide u|x|7 7")
        #expect(try await Self.text(router, "/u/q/y") == "narrow u|q|y ")
        // Both match; the newer one wins.
        #expect(try await Self.text(router, "/u/x/y") == "narrow u|x|y ")
        #expect(try await Self.text(router, "/u/x/z") == "literal u|x|z ")
    }

    @Test("Parameters of an outer route are available in the inner one")
    func nestedParameters() async throws {
        var inner = Router()
        inner.route(.get, "/notes/:name", to: RouterTests.named("note"))
        var outer = Router()
        outer.route(nil, "/users/:id/*", to: inner)
        #expect(try await Self.text(outer, "/users/7/notes/x") == "note notes|x 7,x")
        #expect(try await Self.text(outer, "/users/7/other") == "404")
    }

    @Test("Many routes with parameters are kept apart", arguments: [1, 100, 2_000])
    func manyPatterns(_ count: Int) async throws {
        var router = Router()
        for index in 0..<count {
            router.route(.get, "/\(index)/:id/\(index % 7)", to: RouterTests.named("r\(index)"))
        }
        for index in [0, count / 2, count - 1] {
            let text = try await Self.text(router, "/\(index)/q/\(index % 7)")
            #expect(text == "r\(index) \(index)|q|\(index % 7) q")
        }
        #expect(try await Self.text(router, "/0/q/8") == "404")
    }

    // MARK: Regular expressions

    private static let captures = SyncHandler { request in
        let groups = request.parameters.captures.map { $0 ?? "nil" }
        return .text("\(groups) \(request.parameters["id"] ?? "-")")
    }

    @Test("A regular expression matches the whole path, and its groups keep their positions")
    func regularExpressions() async throws {
        var router = Router()
        router.route(.get, matching: #"/item(s)?/(?<id>[0-9]+)(\.json)?"#, to: Self.captures)
        #expect(
            try await Self.text(router, "/items/42") == #"["/items/42", "s", "42", "nil"] 42"#)
        #expect(
            try await Self.text(router, "/item/42.json")
                == #"["/item/42.json", "nil", "42", ".json"] 42"#)
        #expect(try await Self.text(router, "/x/items/42") == "404")
        #expect(try await Self.text(router, "/items/42/x") == "404")
        #expect(try await Self.text(router, "/Items/42") == "404")
        #expect(try await Self.text(router, "/item%73/%34%32").hasSuffix(" 42"))
    }

    @Test("An expression can be made from a text, and can ignore case")
    func expressionsOfTexts() async throws {
        var router = Router()
        let text = "(?i)/café/(?<id>.*)"
        router.route(.get, matching: try PathExpression(text), to: Self.captures)
        #expect(try await Self.text(router, "/CAF%C3%89/x").hasSuffix(" x"))
    }

    @Test(
        "A path with an encoded slash or invalid UTF-8 matches no expression",
        arguments: ["/a%2Fb", "/%FF", "/a/%C3"])
    func pathsWithoutText(_ target: String) async throws {
        var router = Router()
        router.route(.get, matching: ".*", to: Self.captures)
        #expect(try await Self.text(router, target) == "404")
    }

    @Test("Below a mount point an expression matches the rest of the path")
    func mountedExpression() async throws {
        var inner = Router()
        inner.route(.get, matching: "/(?<id>[a-z]+)", to: Self.captures)
        var outer = Router()
        outer.mount("/in", inner)
        #expect(try await Self.text(outer, "/in/abc").hasSuffix(" abc"))
        #expect(try await Self.text(outer, "/abc") == "404")
    }

    // MARK: Conditions

    /// Accepts GET requests for Italian.
    private struct Greeter: SelectiveHandler {
        func accepts(_ request: Request) -> Bool {
            request.fields[.acceptLanguage] == "it" && request.method == .get
        }

        func answer(_ request: Request) -> Answer { .now(.text("ciao")) }
    }

    @Test("The newest route or condition that matches answers")
    func selectiveHandlers() async throws {
        var router = Router()
        router.route(.get, "/", to: RouterTests.named("root"))
        router.add(Greeter())
        router.route(
            where: { $0.fields.contains(.range) },
            to: SyncHandler { _ in .text("a part") })
        func text(_ fields: String) async throws -> String {
            let request = "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
            return try await RouterTests.answer(router, request).text
        }
        #expect(try await text("") == "root  ")
        #expect(try await text("Accept-Language: it\r\n") == "ciao")
        #expect(try await text("Accept-Language: it\r\nRange: bytes=0-\r\n") == "a part")
        router.route(.get, "/", to: RouterTests.named("newest"))
        #expect(try await text("Range: bytes=0-\r\n") == "newest  ")
    }

    @Test("A handler for a whole method answers if no newer route matches")
    func wholeMethod() async throws {
        var router = Router()
        router.route(.get, to: RouterTests.named("any"))
        router.route(.get, "/a", to: RouterTests.named("own"))
        #expect(try await Self.text(router, "/a") == "own a ")
        #expect(try await Self.text(router, "/x/y") == "any x|y ")
        let head = try await RouterTests.answer(router, RouterTests.request("HEAD", "/x"))
        #expect(head.status == 200)
        let put = try await RouterTests.answer(router, RouterTests.request("PUT", "/x"))
        #expect(put.status == 405)
        #expect(put["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test("A condition can match OPTIONS *")
    func conditionWithoutPath() async throws {
        var router = Router()
        router.route(
            where: { $0.method == .options },
            to: SyncHandler { _ in Response(.noContent, fields: [.via: "own"]) })
        let answer = try await RouterTests.answer(router, RouterTests.request("OPTIONS", "*"))
        #expect(answer["Via"] == "own")
    }
}

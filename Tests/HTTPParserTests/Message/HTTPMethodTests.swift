import HTTPParser
import Testing

@Suite("RFC 9110, 9: Methods")
struct HTTPMethodTests {
    static let registered: [(HTTPMethod, String)] = [
        (.get, "GET"), (.head, "HEAD"), (.post, "POST"), (.put, "PUT"), (.delete, "DELETE"),
        (.connect, "CONNECT"), (.options, "OPTIONS"), (.trace, "TRACE"), (.patch, "PATCH"),
        (.propfind, "PROPFIND"), (.proppatch, "PROPPATCH"), (.mkcol, "MKCOL"), (.copy, "COPY"),
        (.move, "MOVE"), (.lock, "LOCK"), (.unlock, "UNLOCK"), (.report, "REPORT"),
        (.search, "SEARCH"), (.query, "QUERY"),
    ]

    @Test("9.1: A registered name and its constant are the same", arguments: registered)
    func names(method: HTTPMethod, name: String) {
        #expect(HTTPMethod(name) == method)
        #expect(method.name == name)
        #expect("\(method)" == name)
        #expect(method.isKnown)
    }

    @Test("The table of this test has a row for every known method")
    func completeness() {
        #expect(Self.registered.count == HTTPMethod.Known.allCases.count - 1)
    }

    @Test("9.1: Methods are case-sensitive, and any other token is a separate method")
    func custom() throws {
        let lower = try #require(HTTPMethod("get"))
        #expect(lower != .get)
        #expect(lower.name == "get")
        #expect(!lower.isKnown)
        #expect(HTTPMethod("get") == lower)
        #expect(HTTPMethod("PURGE") != lower)
        #expect(Set([lower, .get, lower]).count == 2)
    }

    @Test(
        "5.6.2: Text that is not a token is refused as a method",
        arguments: ["", " ", "A B", "A\r\n", "\u{C9}", "A:"])
    func tokens(name: String) {
        #expect(HTTPMethod(name) == nil)
    }

    @Test("9.2: Safe methods and some others are idempotent")
    func properties() {
        let safe: Set<HTTPMethod> = [
            .get, .head, .options, .trace, .propfind, .report, .search, .query,
        ]
        let idempotent = safe.union([.put, .delete, .proppatch, .mkcol, .copy, .move, .unlock])
        for (method, _) in Self.registered {
            #expect(method.isSafe == safe.contains(method))
            #expect(method.isIdempotent == idempotent.contains(method))
        }
        let custom = HTTPMethod("PURGE")
        #expect(custom?.isSafe == false)
        #expect(custom?.isIdempotent == false)
    }
}

import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9457 and 9110, 15: Rendering of errors")
struct ErrorRendererTests {
    private static let script = "<script>alert(\"1\" & '2')</script>"
    private static let throwing = SyncHandler { _ in throw HTTPError(.conflict, Self.script) }

    @Test(
        "The format is chosen by Accept",
        arguments: [
            ("", "text/plain"), ("Accept: */*\r\n", "text/plain"),
            ("Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n", "text/html"),
            ("Accept: application/json\r\n", "application/problem+json"),
            ("Accept: application/problem+json\r\n", "application/problem+json"),
            ("Accept: text/html;q=0.1, application/json\r\n", "application/problem+json"),
            ("Accept: image/png\r\n", "text/plain"), ("Accept: ;;;\r\n", "text/plain"),
        ])
    func negotiation(_ fields: String, _ type: String) async throws {
        let answer = try await exchange(Self.throwing, "GET", "/", fields)
        #expect(answer.status == 409)
        #expect(answer["Content-Type"]?.hasPrefix(type) == true)
        #expect(answer["Vary"] == "Accept")
    }

    @Test("The reason is escaped in a page")
    func escapedPage() async throws {
        let answer = try await exchange(Self.throwing, "GET", "/", "Accept: text/html\r\n")
        #expect(answer.text.contains("<h1>409 Conflict</h1>"))
        #expect(answer.text.contains("&lt;script&gt;alert(\"1\" &amp; '2')&lt;/script&gt;"))
        #expect(!answer.text.contains("<script"))
    }

    @Test("A problem is valid JSON for any reason")
    func problem() async throws {
        let answer = try await exchange(
            SyncHandler { _ in throw HTTPError(.conflict, "a\"\\\n\u{1}é<b>") }, "GET", "/",
            "Accept: application/json\r\n")
        #expect(
            answer.text == "{\"title\":\"Conflict\",\"status\":409,"
                + "\"detail\":\"a\\\"\\\\\\n\\u0001é\\u003cb>\"}\n")
        let plain = try await exchange(
            SyncHandler { _ in throw HTTPError(.gone) }, "GET", "/", "Accept: application/json\r\n")
        #expect(plain.text == "{\"title\":\"Gone\",\"status\":410}\n")
    }

    @Test("Errors of the router, of the server and unknown ones use the same renderer")
    func everywhere() async throws {
        struct Unknown: Error {}
        var router = Router()
        router.on(.get, "/a") { _ in Response(.ok) }
        router.on(.get, "/fail") { _ in throw Unknown() }
        let configuration = ServerConfiguration.test {
            $0.contentLimit = 10
            $0.errorRenderer = ErrorRenderer { error, request in
                .text("[\(error.status.code) \(request?.path ?? "-")]")
            }
        }
        let cases: [(method: String, target: String, fields: String, text: String)] = [
            ("GET", "/none", "", "[404 /none]"), ("PUT", "/a", "", "[405 /a]"),
            ("FROB", "/a", "", "[501 /a]"), ("GET", "/fail", "", "[500 /fail]"),
            ("POST", "/a", "Content-Length: 11\r\n", "[413 /a]"),
            ("GET", "/a", "Expect: x\r\n", "[417 /a]"),
            ("GET", "/a", "bad field\r\n", "[400 -]"),
            ("GET", "/" + String(repeating: "a", count: 9_000), "", "[414 -]"),
            ("GET", "/a", String(repeating: "A: b\r\n", count: 200), "[431 -]"),
        ]
        for one in cases {
            let answer = try await exchange(
                router, one.method, one.target, one.fields, configuration: configuration)
            #expect(answer.text == one.text)
        }
    }

    @Test("The fields of an error are kept")
    func fields() async throws {
        var router = Router()
        router.on(.get, "/a") { _ in Response(.ok) }
        let answer = try await exchange(router, "PUT", "/a", "Accept: text/html\r\n")
        #expect(answer.status == 405)
        #expect(answer["Allow"] == "GET, HEAD, OPTIONS")
        #expect(answer["Content-Type"] == "text/html; charset=utf-8")
    }

    @Test("An error response that a handler made itself is not changed")
    func ownErrors() async throws {
        let handler = SyncHandler { _ in Response(.notFound, body: .text("mine")) }
        let answer = try await exchange(handler, "GET", "/", "Accept: text/html\r\n")
        #expect(answer.text == "mine")
    }

    @Test("Parts of a site can have different renderers", arguments: Sample.Speed.allCases)
    func subtree(_ speed: Sample.Speed) async throws {
        let failing = AnyTestHandler(Sample.handler(speed) { _ in throw HTTPError(.notFound) })
        var router = Router()
        router.mount("/api", ErrorPageHandler(failing, renderer: .problemJSON))
        router.mount("/site", ErrorPageHandler(failing, renderer: .html))
        let api = try await exchange(router, "GET", "/api/x", "Accept: text/html\r\n")
        #expect(api["Content-Type"] == "application/problem+json")
        let site = try await exchange(router, "GET", "/site/x")
        #expect(site["Content-Type"] == "text/html; charset=utf-8")
    }

    @Test("An error to HEAD has a length and no content")
    func head() async throws {
        let client = MemoryConnection(Self.throwing)
        client.send("HEAD / HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n")
        let record = try await client.output("\r\n\r\n")
        #expect(record.text.contains("Content-Length: "))
        #expect(record.text.hasSuffix("\r\n\r\n"))
    }
}

import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("A site of templates")
struct TemplateHandlerTests {
    private let directory: ServerDirectory

    init() throws {
        directory = try ServerDirectory()
        try directory.write("page.html", "<p>%name% %other%</p>")
        try directory.write("plain.css", "a { width: 100%; }")
        try directory.write(".hidden.html", "%name%")
        try directory.write("index.html", "index for %name%")
        try directory.makeDirectory("sub")
        try directory.write("sub/page.html", "%path%")
        try directory.write("long.html", String(repeating: "%name%", count: 1_000))
    }

    /// Templates for pages, and plain files for other paths.
    private var site: Router {
        var router = Router()
        router.mount("/", FileHandler(root: directory.path))
        let pages = TemplateHandler(root: directory.path, byteLimit: 1_000) { request in
            ["name": .text(request.target.query ?? "<nobody>"), "path": .text(request.path)]
        }
        router.route(.get, matching: #"/(.*/)?([^/]*\.html)?"#, to: pages)
        return router
    }

    private func get(_ target: String, method: String = "GET") async throws -> ServerAnswer {
        try await RouterTests.answer(site, RouterTests.request(method, target))
    }

    @Test("Pages are filled with escaped values, and other files are served unchanged")
    func pages() async throws {
        let page = try await get("/page.html")
        #expect(page.text == "<p>&lt;nobody&gt; %other%</p>")
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page["Cache-Control"] == "no-cache")
        // The file's validators do not cover the values.
        #expect(page["ETag"] == nil && page["Last-Modified"] == nil)
        #expect(try await get("/page.html?%name%").text == "<p>%name% %other%</p>")
        #expect(try await get("/sub/page.html").text == "/sub/page.html")
        #expect(try await get("/?Ann").text == "index for Ann")
        #expect(try await get("/plain.css").text == "a { width: 100%; }")
        #expect(try await get("/page.html", method: "HEAD")["Content-Length"] == "29")
    }

    @Test(
        "Missing and hidden files, folders and paths outside are refused as for files",
        arguments: [
            ("/sub/", 404), ("/page.html/", 404), ("/nothing.html", 404), ("/.hidden.html", 404),
            ("/page.html/x.html", 404),
            ("/../page.html", 400), ("/%00.html", 400), ("/sub%2Fpage.html", 404),
        ])
    func refused(_ target: String, _ status: Int) async throws {
        #expect(try await get(target).status == status)
    }

    @Test("Only GET and HEAD get a page", arguments: ["POST", "PUT", "DELETE", "OPTIONS"])
    func otherMethods(_ method: String) async throws {
        let pages = TemplateHandler(root: directory.path) { _ in ["name": "secret"] }
        var router = Router()
        router.mount("/", pages)
        let answer = try await RouterTests.answer(
            router, RouterTests.request(method, "/page.html"))
        #expect(!answer.text.contains("secret") && answer["Allow"] == "GET, HEAD, OPTIONS")
        #expect(answer.status == (method == "OPTIONS" ? 204 : 405))
    }

    @Test("A template above the limit is 500, and an error of the values becomes the response")
    func failures() async throws {
        #expect(try await get("/long.html").status == 500)
        let failing = TemplateHandler(root: directory.path) { _ in throw HTTPError(.forbidden) }
        let answer = try await RouterTests.answer(failing, RouterTests.request("GET", "/page.html"))
        #expect(answer.status == 403)
    }
}

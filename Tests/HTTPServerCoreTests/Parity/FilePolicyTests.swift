import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Options of FileHandler: links, fallback and media types")
struct FilePolicyTests {
    private let disk: ServerDirectory

    init() throws {
        disk = try ServerDirectory()
        try disk.write("index.html", "app")
        try disk.write("real.txt", "real")
        try disk.makeDirectory("sub")
        try disk.write("sub/deep.txt", "deep")
        try disk.write("a.note", "note")
        try disk.link("link.txt", to: "real.txt")
        try disk.link("folder", to: "sub")
    }

    private func get(
        _ target: String, _ change: (inout FileHandler.Options) -> Void
    ) async throws -> ServerAnswer {
        var options = FileHandler.Options()
        change(&options)
        return try await RouterTests.answer(
            FileHandler(root: disk.path, options: options), Sample.get(target))
    }

    @Test("With followsLinks off links are neither followed nor listed")
    func noLinks() async throws {
        for target in ["/link.txt", "/folder/", "/folder/deep.txt"] {
            #expect(try await get(target) { $0.followsLinks = false }.status == 404)
            #expect(try await get(target) { _ in }.status == 200)
        }
        #expect(try await get("/sub/deep.txt") { $0.followsLinks = false }.text == "deep")
        let listing = try await get("/") { options in
            options.followsLinks = false
            options.indexFiles = []
        }
        #expect(listing.text.contains("href=\"real.txt\""))
        #expect(!listing.text.contains("link.txt"))
        #expect(!listing.text.contains("href=\"folder"))
    }

    @Test("A mount point without its slash is redirected with followsLinks off, too")
    func mountPoint() async throws {
        var options = FileHandler.Options()
        options.followsLinks = false
        var router = Router()
        router.mount("/files", FileHandler(root: disk.path, options: options))
        let answer = try await RouterTests.answer(router, Sample.get("/files"))
        #expect(answer.status == 301)
        #expect(answer["Location"] == "/files/")
    }

    @Test(
        "The fallback file is served for missing paths without a file extension",
        arguments: [
            ("/users/7", 200, "app"), ("/settings", 200, "app"), ("/real.txt", 200, "real"),
            ("/app.js", 404, nil), ("/users/photo.png", 404, nil), ("/.env", 404, nil),
            ("/sub", 301, nil), ("/%2e%2e/x", 400, nil), ("/real.txt/", 404, nil),
        ] as [(String, Int, String?)])
    func fallback(target: String, status: Int, text: String?) async throws {
        let answer = try await get(target) { $0.fallbackFile = "index.html" }
        #expect(answer.status == status)
        if let text { #expect(answer.text == text) }
        if text == "app" { #expect(answer["Content-Type"] == "text/html; charset=utf-8") }
    }

    @Test(
        "Fetch Metadata 2.2: Only navigations get the fallback, whatever the name",
        arguments: [
            (["Accept": "text/html,application/xml;q=0.9,*/*;q=0.8"], true),
            (["Accept": "*/*"], false), ([:], false), (["Accept": "text/html;q=0"], false),
            (["Accept": "application/json"], false), (["Accept": "text/html, ;;"], false),
            (["Sec-Fetch-Mode": "navigate"], true),
            (["Sec-Fetch-Mode": "cors", "Accept": "text/html"], false),
            (["Sec-Fetch-Mode": "no-cors", "Accept": "*/*"], false),
        ] as [(HTTPFields, Bool)])
    func navigation(_ fields: HTTPFields, _ isShown: Bool) async throws {
        for path in ["/users/7", "/users/ann.lee", "/real.txt"] {
            var options = FileHandler.Options()
            options.fallbackFile = "index.html"
            options.fallbackRequests = .navigations
            let handler = FileHandler(root: disk.path, options: options)
            let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            let answer = try await RouterTests.answer(
                handler, "GET \(path) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
            let isThere = path == "/real.txt"
            #expect(answer.status == (isShown || isThere ? 200 : 404))
            guard !isThere else { continue }
            if isShown { #expect(answer.text == "app") }
            #expect(answer["Vary"]?.hasSuffix("Accept, Sec-Fetch-Mode") == true)
        }
    }

    @Test(
        "A fallback that is outside, missing or a folder is 404",
        arguments: ["../x", "none", "sub"])
    func badFallback(name: String) async throws {
        #expect(try await get("/users/7") { $0.fallbackFile = name }.status == 404)
        #expect(try await get("/users/7") { _ in }.status == 404)
    }

    @Test("One table of media types serves all handlers of a program")
    func mediaTypes() async throws {
        var types = MediaTypeTable.standard
        types["note"] = MediaType("text", "x-note")
        var options = FileHandler.Options()
        options.mediaTypes = types
        let path = disk.path("a.note")
        var router = Router()
        router.mount("/files", FileHandler(root: disk.path, options: options))
        router.route(.get, "/one", to: SingleFileHandler(path: path, options: options))
        router.on(.get, "/answer") { [options] request in
            try .file(path: path, for: request, options: options)
        }
        for target in ["/files/a.note", "/one", "/answer"] {
            let answer = try await RouterTests.answer(router, Sample.get(target))
            #expect(answer["Content-Type"] == "text/x-note; charset=utf-8")
        }
    }
}

@Suite("Normalization of paths")
struct PathNormalizationTests {
    @Test(
        "Empty segments, dots and a last slash are removed, and no path rises above its start",
        arguments: [
            ("", ""), ("/", "/"), ("//", "/"), ("a", "a"), ("/a", "/a"), ("/a/", "/a"),
            ("a//", "a"), ("a//b", "a/b"), ("/a/./b", "/a/b"), ("./a", "a"), ("a/.", "a"),
            ("a/../b", "b"), ("/a/../b", "/b"), ("/a/..", "/"), ("/..", "/"), ("..", ""),
            ("../../a", "a"), ("/../../a/..//b/c/../", "/b"), (".", ""), ("...", "..."),
            ("a/..b/.c", "a/..b/.c"), ("/é/ü/../ö", "/é/ö"),
            ("../\u{301}a", "\u{301}a"), ("/a/\u{301}b/../c", "/a/c"),
        ])
    func normalized(path: String, expected: String) {
        for path in [path, expected] {
            #expect(Array(PathNormalization.normalized(path).utf8) == Array(expected.utf8))
        }
    }
}

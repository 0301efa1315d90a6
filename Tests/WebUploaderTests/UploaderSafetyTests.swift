import Foundation
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import WebDAVKit
import WebUploader

@Suite("The upload page on a hostile network")
struct UploaderSafetyTests {
    private static let changes = [
        ("upload?name=new", "x"), ("create", "path=/new"), ("move", "oldPath=/a&newPath=/new"),
        ("copy", "oldPath=/a&newPath=/new"), ("delete", "path=/a"),
        ("restore", "undo=0"),
    ]

    @Test("A long text of combining characters is refused at once", .timeLimit(.minutes(2)))
    func longText() async throws {
        let client = try await client()
        let bin = try await client.post("delete", "path=/a", "Accept: application/json")
        #expect(bin.status == 200)
        let marks = String(repeating: "%CC%81%CC%96", count: 80_000)
        let isQuick = try await takesLess(than: .seconds(20)) {
            for (action, form, status) in [
                ("create", "path=/new&conflict=", 400),
                ("move", "oldPath=/a&newPath=/n&conflict=", 400),
                ("restore", "undo=", 404),
            ] {
                let answer = try await client.post(action, form + marks)
                #expect(answer.status == status, "\(action)")
            }
        }
        #expect(isQuick, "some milliseconds; minutes where such text is compared as a string")
    }

    private func client(
        user: String? = nil, _ options: UploaderOptions = UploaderOptions()
    ) async throws -> UploaderClient {
        let client = UploaderClient(user: user, options)
        try await client.put("a")
        return client
    }

    private func post(
        _ client: UploaderClient, _ change: (String, String), _ fields: [String]
    ) async throws -> ServerAnswer {
        try await client.send(
            "POST", "/up/" + change.0,
            fields + ["Content-Type: application/x-www-form-urlencoded"], Array(change.1.utf8))
    }

    // MARK: Other sites

    @Test(arguments: [
        ["Origin: http://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-site"], ["Origin: http://example.org:81"],
        ["Origin: http://example.org.evil.example"],
    ])
    func pagesOfOtherSitesChangeNothing(_ fields: [String]) async throws {
        let client = try await client()
        // A valid token does not help them.
        let (cookie, token) = try await client.session()
        for change in Self.changes {
            let answer = try await post(
                client, change, fields + ["Cookie: \(cookie)", "X-Upload-Token: \(token)"])
            #expect(answer.status == 403 && answer.code == "origin" && answer.isProblem)
        }
        #expect(try await client.get("list").names == ["a"])
    }

    @Test(arguments: [
        "Origin: http://example.org", "Sec-Fetch-Site: same-origin", "Cookie: other=1",
        "Referer: http://example.org/up/", "User-Agent: Mozilla/5.0 (X11)",
    ])
    func whatABrowserSendsNeedsAToken(_ field: String) async throws {
        let client = try await client()
        for change in Self.changes {
            let answer = try await post(client, change, [field])
            #expect(answer.status == 403 && answer.code == "token", "\(change.0)")
        }
        let form = try await client.form([("path", nil, "/"), ("f", "new", "x")], field)
        #expect(form.status == 403 && form.code == "token")
        let empty = try await client.form([("path", nil, "/")], field)
        #expect(empty.status == 403 && empty.code == "token")
        #expect(try await client.get("list").names == ["a"])
    }

    @Test func theTokenOfThePageIsAccepted() async throws {
        let client = try await client()
        let (cookie, token) = try await client.session()
        let browser = ["Origin: http://example.org", "Cookie: \(cookie)"]
        let answer = try await post(
            client, ("create", "path=/b"), browser + ["X-Upload-Token: \(token)"])
        #expect(answer.status == 201)
        let field = try await post(client, ("create", "path=/c&token=\(token)"), browser)
        #expect(field.status == 201)
        let form = try await client.form(
            [("token", nil, token), ("f", "new", "x")], "Cookie: \(cookie)",
            "Origin: http://example.org")
        #expect(form.status == 201)
        // The page contains the token, too, and scripts cannot read the cookie.
        let page = try await client.get("", "Cookie: \(cookie)")
        #expect(page.text.contains("name=\"token\" value=\""))
        #expect(page["Set-Cookie"] == nil)
        let fresh = try await client.get("")
        #expect(fresh["Set-Cookie"]?.hasSuffix("; HttpOnly; SameSite=Lax") == true)
        #expect(fresh["Cache-Control"] == "no-store")
    }

    @Test func tokensOfOthersAreRefused() async throws {
        let client = try await client()
        let (cookie, token) = try await client.session()
        let (other, _) = try await client.session()
        let mac = token.split(separator: ".").last.map(String.init) ?? ""
        let wrong = [
            // A token that was observed in another browser.
            (other, token), ("uploader=x", token), ("", token),
            // A token with a later expiry, truncated tokens, and text.
            (cookie, "7fffffff." + mac), (cookie, String(token.dropLast())), (cookie, "." + mac),
            (cookie, "1." + mac), (cookie, ""), (cookie, token + "00"), (cookie, "é.é"),
        ]
        for (cookie, token) in wrong {
            let answer = try await post(
                client, ("create", "path=/b"),
                ["Origin: http://example.org", "Cookie: \(cookie)", "X-Upload-Token: \(token)"])
            #expect(answer.status == 403 && answer.code == "token", "\(cookie) \(token)")
        }
        // Another process has another key.
        let second = try await self.client()
        let replayed = try await post(
            second, ("create", "path=/b"), ["Cookie: \(cookie)", "X-Upload-Token: \(token)"])
        #expect(replayed.status == 403)
    }

    @Test func aTokenIsItsUsers() async throws {
        let user = UserBox()
        var options = UploaderOptions()
        options.role = { _ in .all }
        options.hosts = nil
        let page = UploaderHandler(store: MemoryStore(), options: options)
        let handler = AsyncHandler { request in
            request.identity = Identity(name: user.name)
            return try await page.respond(to: request)
        }
        var router = Router()
        router.mount("/up", handler)
        let client = UploaderClient(over: router)
        let (cookie, token) = try await client.session()
        let fields = ["Cookie: \(cookie)", "X-Upload-Token: \(token)"]
        #expect(try await post(client, ("create", "path=/b"), fields).status == 201)
        user.name = "bob"
        #expect(try await post(client, ("create", "path=/c"), fields).code == "token")
    }

    @Test func aTokenHasAnEnd() async throws {
        var options = UploaderOptions()
        options.tokenLifetime = 0
        let client = try await client(options)
        let (cookie, token) = try await client.session()
        let answer = try await post(
            client, ("create", "path=/b"), ["Cookie: \(cookie)", "X-Upload-Token: \(token)"])
        #expect(answer.code == "token")
    }

    @Test func programsNeedATokenWhereThatIsWished() async throws {
        var options = UploaderOptions()
        options.requiresToken = true
        let client = try await client(options)
        for change in Self.changes {
            #expect(try await post(client, change, []).code == "token")
        }
    }

    @Test(arguments: ["evil.example", "example.org.evil.example", "127.0.0.1.evil.example:80"])
    func otherHostsAreNotAnswered(_ host: String) async throws {
        let client = try await client()
        for path in ["/up/", "/up/list", "/up/download?path=/a", "/up/token"] {
            let answer = try await client.send("GET", path, ["Host: \(host)"])
            #expect(answer.status == 421, "\(path)")
            #expect(!answer.text.contains("content"))
        }
        #expect(try await client.send("GET", "/up/list", ["Host: 127.0.0.1:8080"]).status == 200)
    }

    // MARK: Paths

    @Test(arguments: [
        "..", "/..", "../a", "/x/../../a", "/./a", "%2e%2e/a", "/a%00", "%2e%2e%2fsecret",
        "/x/..%2f..%2fa",
    ])
    func noParameterLeadsOut(_ path: String) async throws {
        let share = FileManager.default.temporaryDirectory.path + "/uploader-\(UUID().uuidString)"
        let root = share + "/root"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { TestFolder.remove(share) }
        for name in [share + "/a", share + "/secret", root + "/file"] {
            try Data("secret".utf8).write(to: URL(fileURLWithPath: name))
        }
        var router = Router()
        var options = UploaderOptions()
        options.hosts = nil
        router.mount("/up", UploaderHandler(store: try LocalStore(root: root), options: options))
        let client = UploaderClient(over: router)
        let answers = [
            try await client.get("list?path=\(path)"),
            try await client.get("download?path=\(path)"),
            try await client.get("download?path=/&path=\(path)"),
            try await client.get("preview?path=\(path)"),
            try await client.get("events?path=\(path)"),
            try await client.get("?path=\(path)"),
            try await client.upload("path=\(path)&name=new"),
            try await client.upload("path=/&name=\(path)"),
            try await client.form([("link", nil, path), ("f", "new", "x")]),
            try await client.post("create", "path=\(path)"),
            try await client.post("create", "path=/&name=\(path)"),
            try await client.post("move", "oldPath=\(path)&newPath=/stolen"),
            try await client.post("move", "oldPath=/file&newPath=\(path)"),
            try await client.post("move", "path=/file&newName=\(path)"),
            try await client.post("copy", "oldPath=\(path)&newPath=/stolen"),
            try await client.post("copy", "oldPath=/file&newPath=\(path)"),
            try await client.post("delete", "path=\(path)"),
        ]
        for (index, answer) in answers.enumerated() {
            #expect([400, 403, 404].contains(answer.status), "\(index): \(answer.status)")
            #expect(!answer.text.contains("secret"), "\(index)")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: share).sorted()
        #expect(left == ["a", "root", "secret"])
        #expect(FileManager.default.contents(atPath: root + "/file") == Data("secret".utf8))
        #expect(!FileManager.default.fileExists(atPath: root + "/stolen"))
    }

    @Test func methodsAndNamesThatThereAreNot() async throws {
        let client = try await client()
        #expect(try await client.send("GET", "/up/delete?path=/a").status == 405)
        #expect(try await client.send("GET", "/up/delete?path=/a")["Allow"] == "POST, OPTIONS")
        #expect(try await client.post("list", "").status == 405)
        #expect(try await client.send("PUT", "/up/upload?name=x", [], [1]).status == 405)
        #expect(try await client.send("OPTIONS", "/up/upload")["Allow"] == "POST, OPTIONS")
        #expect(try await client.get("strange").status == 404)
        #expect(try await client.get("assets/none/page.js").status == 404)
        #expect(try await client.send("GET", "/up")["Location"] == "up/")
        #expect(try await client.text("a") == "content")
    }

    #if os(Linux)
        /// Other systems do not allow such names.
        @Test func namesThatAreNoTextAreReached() async throws {
            let root = FileManager.default.temporaryDirectory.path + "/up-\(UUID().uuidString)"
            try FileManager.default.createDirectory(
                atPath: root, withIntermediateDirectories: true)
            defer { TestFolder.remove(root) }
            let store = try LocalStore(root: root)
            let path = try #require(ResourcePath(segments: [[0x61, 0xFF]]))
            try await store.makeCollection(at: path)
            var options = UploaderOptions()
            options.hosts = nil
            var router = Router()
            router.mount("/up", UploaderHandler(store: store, options: options))
            let client = UploaderClient(over: router)
            let item = try #require(try await client.get("list").items.first)
            #expect(item.name == "a\u{FFFD}" && item.link == "/a%FF/")
            #expect(try await client.get("list?path=\(item.link)").status == 200)
            #expect(try await client.get("?path=\(item.link)").status == 200)
            // The page creates no such names.
            #expect(try await client.post("create", "path=/b%FF").status == 400)
            #expect(try await client.post("copy", "path=/a%FF&newPath=/b").status == 200)
            #expect(try await client.post("delete", "link=/a%25FF/").status == 200)
            #expect(try await client.get("list").names == ["b"])
        }
    #endif

    @Test func hugeFormsAreRefused() async throws {
        let client = try await client()
        // The announced length is refused before any content is read.
        let form = try await client.send(
            "POST", "/up/delete",
            ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 2097152"])
        #expect(form.status == 413)
        let deep = String(repeating: "x/", count: 300)
        #expect(try await client.post("create", "path=" + deep).status == 400)
        var parts: [(name: String, file: String?, content: String)] = []
        for _ in 0..<20 { parts.append(("f", nil, "x")) }
        #expect(try await client.form(parts).status == 413)
    }

    // MARK: The page

    private static let names = [
        "<img src=x onerror=alert(1)>.png", "\"quotes\".txt", "'single'.txt", "a&b.txt",
        "<script>alert(1)<script>", "\u{1F600}.txt", "gpj.\u{202E}exe", "a%2Fb",
        "javascript:alert(1)",
    ]

    @Test func namesAreEscaped() async throws {
        var options = UploaderOptions()
        options.title = "<b>title</b>"
        options.header = "<b>header</b>"
        options.prologue = "<b>prologue</b>"
        options.epilogue = .markup(TrustedMarkup("<b>epilogue</b>"))
        options.footer = "<b>footer</b>"
        let client = UploaderClient(options)
        for name in Self.names {
            let path = try #require(ResourcePath(segments: [Array(name.utf8)]))
            try await client.store.makeCollection(at: path)
        }
        #expect(try await client.get("list").names.sorted() == Self.names.sorted())
        let page = try await client.get("", "Accept: text/html").text
        for mark in ["<img", "<script>", "<b>title", "<b>header", "<b>prologue", "<b>footer"] {
            #expect(!page.contains(mark), "\(mark)")
        }
        #expect(page.contains("<b>epilogue</b>"))
        #expect(page.contains("&lt;b&gt;title&lt;/b&gt;"))
        #expect(!page.contains("\u{202E}"))
        #expect(page.contains("aria-label=\"Select &quot;quotes&quot;.txt\""))
        for name in Self.names {
            let item = try await client.get("list").items.first { $0.name == name }
            let link = try #require(item?.link)
            let inner = try await client.get("?path=\(link)", "Accept: text/html")
            #expect(inner.status == 200)
            #expect(!inner.text.contains("<img") && !inner.text.contains("<script>"))
        }
        let error = try await client.post(
            "create", "path=/<script>x&conflict=%3Cscript%3E", "Accept: text/html")
        #expect(error.status == 400 && !error.text.contains("<script>"))
    }

    @Test func thePolicyAllowsNothingInline() async throws {
        let client = try await client()
        let page = try await client.get("", "Accept: text/html")
        let policy = try #require(page["Content-Security-Policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
        #expect(!policy.contains("unsafe"))
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
        let text = page.text
        #expect(
            !text.contains("<style") && !text.contains(" style=") && !text.contains(" onclick="))
        // Each asset is local and cacheable for ever, because its address depends on its content.
        #expect(text.ranges(of: "<script").count == 1)
        for name in UploaderClient.assets {
            let folder = try #require(text.firstMatch(of: /assets\/[0-9a-f]{12}\//)).0
            let asset = try await client.get(folder + name)
            #expect(asset.status == 200, "\(name)")
            #expect(asset["Cache-Control"] == "public, max-age=31536000, immutable")
            #expect(asset["X-Content-Type-Options"] == "nosniff")
            #expect(!asset.text.contains("http://") || name == "page.css")
            #expect(!asset.text.contains("innerHTML") && !asset.text.contains("eval("))
        }
    }

    @Test func thePageIsSmall() async throws {
        let client = try await client()
        let page = try await client.get("", "Accept: text/html")
        var bytes = page.content.count
        let folder = try #require(page.text.firstMatch(of: /assets\/[0-9a-f]{12}\//)).0
        for name in UploaderClient.assets {
            let asset = try await client.get(folder + name, "Accept-Encoding: gzip")
            #expect(asset["Content-Encoding"] == "gzip")
            bytes += asset.content.count
        }
        #expect(bytes < 60 << 10, "\(bytes)")
    }

    @Test("Links to content download, with and without a script, and do not leave the page")
    func linksToContentDownload() async throws {
        let client = try await client()
        try await client.makeFolder("in")
        let page = try await client.get("", "Accept: text/html").text
        #expect(page.contains("<a href=\"download?path=/a\" download dir=\"auto\">a</a>"))
        #expect(page.contains("<a href=\"?path=/in/\" dir=\"auto\">in</a>"))
        #expect(page.contains("<a id=\"folder\" href=\"download?path=/\" download>"))
    }

    @Test func theLanguageIsTheBrowsers() async throws {
        let client = try await client()
        for (field, mark) in [
            ("de-AT, en;q=0.5", "lang=\"de\""), ("en, de;q=0.9", "lang=\"en\""),
            ("xx, de;q=0.001", "lang=\"de\""), ("xx", "lang=\"en\""), ("de;q=0", "lang=\"en\""),
            (String(repeating: ",", count: 5_000), "lang=\"en\""),
        ] {
            let page = try await client.get("", "Accept-Language: \(field)")
            #expect(page.text.contains(mark), "\(field.prefix(20))")
        }
    }

    @Test func withoutScriptFormsDoIt() async throws {
        let client = try await client()
        let page = try await client.get("", "Accept: text/html,*/*;q=0.8")
        let cookie = String(try #require(page["Set-Cookie"]).prefix { $0 != ";" })
        let token = try #require(
            page.text.firstMatch(of: /name="token" value="([0-9a-f.]+)"/)
        ).1
        let browser = [
            "Accept: text/html,*/*;q=0.8", "Cookie: \(cookie)", "Origin: http://example.org",
        ]
        let made = try await post(
            client, ("create", "token=\(token)&link=%2F&name=new"), browser)
        #expect(made.status == 303 && made["Location"] == "./?path=/")
        let renamed = try await post(
            client, ("move", "token=\(token)&link=%2Fa&newName=b"), browser)
        #expect(renamed.status == 303)
        // The deletion must be confirmed.
        let asked = try await post(
            client, ("delete", "token=\(token)&link=%2Fb&newName="), browser)
        #expect(asked.status == 200 && asked.text.contains("Delete b?"))
        #expect(try await client.get("list").names == ["new", "b"])
        let deleted = try await post(
            client, ("delete", "token=\(token)&link=%2Fb&confirmed=1"), browser)
        #expect(deleted.status == 303)
        #expect(try await client.get("list").names == ["new"])
        let refused = try await post(client, ("delete", "link=%2Fnew&confirmed=1"), browser)
        #expect(refused.status == 403)
        #expect(refused["Content-Type"] == "text/html; charset=utf-8")
    }
}

/// The current user of all requests.
private final class UserBox: @unchecked Sendable {
    private let lock = NSLock()
    private var value = "ann"

    var name: String {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
    }
}

import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9110: Files of a directory")
struct FileHandlerTests {
    private let directory: ServerDirectory

    init() throws {
        directory = try ServerDirectory()
        try directory.write("a.txt", "0123456789")
        try directory.setModified("a.txt", 784_111_777)
        try directory.makeDirectory("sub")
        try directory.write("sub/page.html", "<p>")
        try directory.makeDirectory("site")
        try directory.write("site/index.html", "<title>")
        try directory.write("empty", "")
    }

    private func handler(_ change: (inout FileHandler.Options) -> Void = { _ in }) -> FileHandler {
        var options = FileHandler.Options()
        change(&options)
        return FileHandler(root: directory.path, options: options)
    }

    private func get(
        _ target: String, _ fields: String = "", method: String = "GET",
        handler: (any Handler)? = nil
    ) async throws -> ServerAnswer {
        let request = "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
        let answer = try await RouterTests.answer(handler ?? self.handler(), request)
        guard handler == nil else { return answer }
        // The response is the same if the file is cached in memory.
        let keeping = try FileHandler(directory: directory.path, settlingSeconds: 0)
        for round in ["kept then", "kept before"] {
            let other = try await RouterTests.answer(keeping, request)
            #expect(other.status == answer.status, "\(round)")
            #expect(other.content == answer.content, "\(round)")
            #expect(lasting(other) == lasting(answer), "\(round)")
        }
        return answer
    }

    /// The fields that depend neither on the time nor on whether the end of the requests has been
    /// seen.
    private func lasting(_ answer: ServerAnswer) -> [String] {
        answer.fields.filter { $0.name != "Date" && $0.name != "Connection" }.map {
            "\($0.name): \($0.value)"
        }
    }

    @Test(
        "RFC 9111, 3: A 412 or 416 has no Cache-Control",
        arguments: [("Range: bytes=99-\r\n", 416), ("If-Match: \"x\"\r\n", 412)])
    func errorsAreNotFresh(fields: String, status: Int) async throws {
        let handler = handler { $0.cacheAge = 60 }
        let answer = try await get("/a.txt", fields, handler: handler)
        #expect(answer.status == status)
        #expect(answer["Cache-Control"] == nil && answer["ETag"] != nil)
        let whole = try await get("/a.txt", handler: handler)
        #expect(whole["Cache-Control"] == "public, max-age=60")
        // The same applies to any other response.
        let other = SyncHandler { request in
            let fields: HTTPFields = ["ETag": "\"y\"", "Cache-Control": "public, max-age=60"]
            return try Response(.ok, fields: fields, body: .text("text")).conditional(for: request)
        }
        let error = try await get("/", fields, handler: other)
        #expect(error.status == status && error["Cache-Control"] == nil)
    }

    @Test("8.8.2.1: Last-Modified is never in the future, and conditions agree with it")
    func timeToCome() async throws {
        try directory.setModified("a.txt", 4_102_444_800)
        let answer = try await get("/a.txt")
        let modified = try #require(answer["Last-Modified"])
        let date = try #require(answer["Date"])
        let now = HTTPDate(secondsSinceEpoch: 1_795_287_900)
        #expect(try #require(HTTPDate(modified, now: now)) <= #require(HTTPDate(date, now: now)))
        #expect(try await get("/a.txt", "If-Unmodified-Since: \(modified)\r\n").status == 200)
        #expect(try await get("/a.txt", "If-Modified-Since: \(modified)\r\n").status == 304)
    }

    @Test("A long listing is streamed and complete", arguments: ["text/html", "application/json"])
    func longListing(_ type: String) async throws {
        try directory.makeDirectory("many")
        for number in 100..<400 { try directory.write("many/f\(number)", "") }
        let answer = try await get("/many/", "Accept: \(type)\r\n", handler: handler())
        #expect(answer.status == 200 && answer["Transfer-Encoding"] == "chunked")
        var (text, position) = (answer.text[...], 100)
        while let found = text.firstRange(of: "f\(position)") {
            text = text[found.upperBound...]
            position += 1
        }
        #expect(position == 400)
        #expect(answer.text.hasSuffix(type == "text/html" ? "</html>\n" : "\n]\n"))
    }

    // MARK: Whole files

    @Test("A file has its validators and media type")
    func whole() async throws {
        let answer = try await get("/a.txt")
        #expect(answer.status == 200)
        #expect(answer.text == "0123456789")
        #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(answer["Accept-Ranges"] == "bytes")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer["Cache-Control"] == "no-cache")
        let tag = try #require(answer["ETag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 10)
    }

    @Test(
        "9.3.2: HEAD has the fields of GET without content",
        arguments: ["/a.txt", "/empty", "/sub/"])
    func head(_ target: String) async throws {
        let whole = try await get(target)
        let head = try await get(target, method: "HEAD")
        #expect(head.status == 200)
        #expect(head.content.isEmpty)
        #expect(head["Content-Length"] == "\(whole.content.count)")
        #expect(head["ETag"] == whole["ETag"])
    }

    @Test("An empty file is 200 with length 0, and 416 for a range")
    func empty() async throws {
        let answer = try await get("/empty")
        #expect(answer.status == 200)
        #expect(answer["Content-Length"] == "0")
        let range = try await get("/empty", "Range: bytes=0-0\r\n")
        #expect(range.status == 416)
        #expect(range["Content-Range"] == "bytes */0")
    }

    @Test(
        "Other methods are 405, or 501", arguments: [("PUT", 405), ("DELETE", 405), ("BREW", 501)])
    func methods(_ method: String, _ status: Int) async throws {
        let answer = try await get("/a.txt", method: method)
        #expect(answer.status == status)
        #expect(answer["Allow"] == "GET, HEAD, OPTIONS")
        let options = try await get("/a.txt", method: "OPTIONS")
        #expect(options.status == 204)
        #expect(options["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test("8.8.3: A changed file gets another tag, even with its old modification time")
    func tagChanges() async throws {
        let first = try await get("/a.txt")["ETag"]
        try directory.write("a.txt", "9876543210")
        try directory.setModified("a.txt", 784_111_777)
        let second = try await get("/a.txt")
        #expect(second["ETag"] != first)
        #expect(second["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test("8.8.2.1: Last-Modified is not later than Date")
    func future() async throws {
        try directory.setModified("a.txt", 4_000_000_000)
        let answer = try await get("/a.txt")
        #expect(answer["Last-Modified"] != nil)
        #expect(answer["Last-Modified"]?.contains("2096") == false)
    }

    @Test(
        "Cache-Control follows the option cacheAge",
        arguments: [(nil, nil), (0, "no-cache"), (60, "public, max-age=60")] as [(Int?, String?)])
    func cacheAge(_ age: Int?, _ expected: String?) async throws {
        let answer = try await get("/a.txt", handler: handler { $0.cacheAge = age })
        #expect(answer["Cache-Control"] == expected)
    }

    // MARK: Conditions

    @Test("13.1.2, 15.4.5: If-None-Match with the current tag is 304", arguments: ["GET", "HEAD"])
    func notModified(_ method: String) async throws {
        let tag = try #require(try await get("/a.txt")["ETag"])
        for value in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let answer = try await get("/a.txt", "If-None-Match: \(value)\r\n", method: method)
            #expect(answer.status == 304)
            #expect(answer["ETag"] == tag)
            #expect(answer["Cache-Control"] == "no-cache")
            #expect(answer["Content-Length"] == nil)
        }
        let other = try await get("/a.txt", "If-None-Match: \"x\"\r\n", method: method)
        #expect(other.status == 200)
    }

    struct Condition: Sendable {
        var fields: String
        var status: Int
    }

    @Test(
        "13.2.2: Conditions are evaluated in order",
        arguments: [
            Condition(fields: "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", status: 304),
            Condition(fields: "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", status: 200),
            Condition(fields: "If-Modified-Since: yesterday\r\n", status: 200),
            Condition(
                fields: "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", status: 412),
            Condition(
                fields: "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", status: 200),
            Condition(fields: "If-Match: \"x\"\r\n", status: 412),
            Condition(fields: "If-Match: *\r\n", status: 200),
            Condition(
                fields: "If-None-Match: \"x\"\r\n"
                    + "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", status: 200),
        ])
    func conditions(_ condition: Condition) async throws {
        let answer = try await get("/a.txt", condition.fields)
        #expect(answer.status == condition.status)
    }

    @Test("13.1.1: If-Match compares strongly")
    func ifMatch() async throws {
        let tag = try #require(try await get("/a.txt")["ETag"])
        let strong = try await get("/a.txt", "If-Match: \(tag)\r\n")
        #expect(strong.status == 200)
        let weak = try await get("/a.txt", "If-Match: W/\(tag)\r\n")
        #expect(weak.status == 412)
    }

    // MARK: Ranges

    struct Part: Sendable {
        var range: String
        var contentRange: String
        var text: String
    }

    @Test(
        "14.2, 15.3.7: A range is 206",
        arguments: [
            Part(range: "0-3", contentRange: "0-3/10", text: "0123"),
            Part(range: "8-", contentRange: "8-9/10", text: "89"),
            Part(range: "-3", contentRange: "7-9/10", text: "789"),
            Part(range: "5-100", contentRange: "5-9/10", text: "56789"),
            Part(range: "-100", contentRange: "0-9/10", text: "0123456789"),
            Part(range: "0-2,2-4", contentRange: "0-4/10", text: "01234"),
        ])
    func range(_ part: Part) async throws {
        let answer = try await get("/a.txt", "Range: bytes=\(part.range)\r\n")
        #expect(answer.status == 206)
        #expect(answer["Content-Range"] == "bytes " + part.contentRange)
        #expect(answer.text == part.text)
        #expect(answer["Content-Length"] == "\(part.text.utf8.count)")
        #expect(answer["ETag"] != nil)
    }

    @Test(
        "14.2: An invalid range or another unit is ignored",
        arguments: ["lines=1-2", "bytes=x", "bytes=5-3"])
    func ignoredRange(_ range: String) async throws {
        let answer = try await get("/a.txt", "Range: \(range)\r\n")
        #expect(answer.status == 200)
        #expect(answer.text == "0123456789")
    }

    @Test("15.5.17: A range after the end is 416", arguments: ["10-", "99-100", "-0"])
    func unsatisfiable(_ range: String) async throws {
        let answer = try await get("/a.txt", "Range: bytes=\(range)\r\n")
        #expect(answer.status == 416)
        #expect(answer["Content-Range"] == "bytes */10")
    }

    @Test("14.2: HEAD ignores ranges")
    func rangeOfHead() async throws {
        let answer = try await get("/a.txt", "Range: bytes=0-3\r\n", method: "HEAD")
        #expect(answer.status == 200)
        #expect(answer["Content-Length"] == "10")
    }

    @Test("13.1.5: If-Range allows a range of unchanged content only")
    func ifRange() async throws {
        let tag = try #require(try await get("/a.txt")["ETag"])
        for (condition, status) in [
            (tag, 206), ("W/\(tag)", 200), ("\"x\"", 200),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 206), ("Sun, 06 Nov 1994 08:49:38 GMT", 200),
        ] {
            let answer = try await get(
                "/a.txt", "Range: bytes=0-3\r\nIf-Range: \(condition)\r\n")
            #expect(answer.status == status, "If-Range: \(condition)")
        }
    }

    // MARK: Directories

    @Test("A directory without its slash is redirected within the host, with its query")
    func redirect() async throws {
        for (target, location) in [
            ("/sub", "/sub/"), ("/sub?a=b&c", "/sub/?a=b&c"), ("//sub", "/sub/"),
            ("/x/../sub", "/sub/"), ("/%73ub", "/sub/"), ("http://b/sub", "/sub/"),
        ] {
            let answer = try await get(target)
            #expect(answer.status == 301)
            #expect(answer["Location"] == location)
        }
    }

    @Test("Below a mount the redirect keeps the prefix", arguments: ["/m", "/%6D", "/x/../m"])
    func mountedRedirect(_ target: String) async throws {
        var router = Router()
        router.mount("/m", handler())
        let root = try await get(target, handler: router)
        #expect(root.status == 301)
        #expect(root["Location"] == "/m/")
        let sub = try await get(target + "/sub", handler: router)
        #expect(sub["Location"] == "/m/sub/")
        let file = try await get(target + "/a.txt", handler: router)
        #expect(file.text == "0123456789")
    }

    @Test("An index file is served for its directory")
    func index() async throws {
        let answer = try await get("/site/")
        #expect(answer.text == "<title>")
        #expect(answer["Content-Type"] == "text/html; charset=utf-8")
        let other = try await get(
            "/site/", handler: handler { $0.indexFiles = ["x", "index.html"] })
        #expect(other.text == "<title>")
        let none = try await get("/site/", handler: handler { $0.indexFiles = [] })
        #expect(none.text.contains("index.html"))
    }

    @Test("A listing is HTML, or JSON for clients that prefer it")
    func listing() async throws {
        let page = try await get("/sub/")
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page["Vary"] == "Accept")
        #expect(page["Content-Security-Policy"]?.contains("default-src 'none'") == true)
        #expect(page.text.contains("page.html"))
        let json = try await get("/sub/", "Accept: application/json\r\n")
        #expect(json["Content-Type"]?.hasPrefix("application/json") == true)
        #expect(json.text.contains(#""name":"page.html","type":"file","size":3"#))
        let browser = try await get("/sub/", "Accept: text/html, */*;q=0.8\r\n")
        #expect(browser["Content-Type"] == "text/html; charset=utf-8")
    }

    @Test("A listing links to the upload page of its folder if one is configured")
    func uploadPage() async throws {
        let link = "href=\"../up/?path=/sub/\""
        #expect(try await !get("/sub/").text.contains(">Upload<"))
        let answer = try await get("/sub/", handler: handler { $0.uploadPage = "up/" })
        #expect(answer.text.contains(link))
    }

    @Test(
        "A directory without read permission is 403",
        .enabled(if: geteuid() != 0, "root reads all"))
    func unreadableDirectory() async throws {
        try directory.makeDirectory("closed")
        let (path, manager) = (directory.path("closed"), FileManager.default)
        try manager.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path) }
        let answer = try await get("/closed/", handler: handler { $0.indexFiles = [] })
        #expect(answer.status == 403)
    }

    @Test("Without listings a directory is 404")
    func noListing() async throws {
        let answer = try await get("/sub/", handler: handler { $0.listsDirectories = false })
        #expect(answer.status == 404)
    }

    @Test(
        "A file with a slash after its name is 404", arguments: ["/a.txt/", "/a.txt/x", "/a.txt/."])
    func fileAsDirectory(_ target: String) async throws {
        let answer = try await get(target)
        #expect(answer.status == 404)
    }

    @Test("A missing root is 404, or an error of the throwing initializer")
    func missingRoot() async throws {
        let handler = FileHandler(root: directory.path("nothing"))
        let answer = try await get("/", handler: handler)
        #expect(answer.status == 404)
        #expect(throws: SystemError.self) {
            try FileHandler(directory: directory.path("nothing"))
        }
        #expect(throws: SystemError.self) {
            try FileHandler(directory: directory.path("a.txt"))
        }
    }
}

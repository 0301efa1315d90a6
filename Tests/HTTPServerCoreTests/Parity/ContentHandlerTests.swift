import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Constant content and single files")
struct ContentHandlerTests {
    private static let text = String(repeating: "body { margin: 0 }\n", count: 100)

    private func get(
        _ handler: ContentHandler, _ fields: String = "", method: String = "GET"
    ) async throws -> ServerAnswer {
        try await RouterTests.answer(
            handler, "\(method) / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
    }

    @Test("Content has its type, a tag and Cache-Control")
    func whole() async throws {
        var options = ContentHandler.Options()
        options.cacheAge = 3_600
        options.lastModified = HTTPDate(secondsSinceEpoch: 784_111_777)
        let handler = ContentHandler(Self.text, mediaType: .css, options: options)
        let answer = try await get(handler)
        #expect(answer.text == Self.text)
        #expect(answer["Content-Type"] == "text/css; charset=utf-8")
        #expect(answer["Cache-Control"] == "public, max-age=3600")
        #expect(answer["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(answer["ETag"] == EntityTag(of: Array(Self.text.utf8)).description)
        #expect(answer["Vary"] == "Accept-Encoding")
        let head = try await get(handler, method: "HEAD")
        #expect(head["Content-Length"] == "\(Self.text.utf8.count)")
        #expect(head["ETag"] == answer["ETag"])
        let bytes = try await get(ContentHandler([1, 2, 3]))
        #expect(bytes["Content-Type"] == "application/octet-stream")
        #expect(bytes["Cache-Control"] == "no-cache")
    }

    @Test("RFC 9110, 8.8.1: If-Range accepts no date for content that is also sent compressed")
    func datedRange() async throws {
        let range = "Range: bytes=2-11\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        var options = ContentHandler.Options()
        options.lastModified = HTTPDate(secondsSinceEpoch: 784_111_777)
        for (compresses, status) in [(true, 200), (false, 206)] {
            options.compresses = compresses
            let handler = ContentHandler(Self.text, mediaType: .css, options: options)
            for coding in ["", "Accept-Encoding: gzip\r\n"] {
                #expect(try await get(handler, coding + range).status == status)
            }
        }
    }

    @Test("The tag can be set, and Cache-Control left out")
    func options() async throws {
        var options = ContentHandler.Options()
        options.cacheAge = nil
        options.entityTag = EntityTag("\"release-7\"")
        let answer = try await get(ContentHandler("x", options: options))
        #expect(answer["ETag"] == "\"release-7\"")
        #expect(answer["Cache-Control"] == nil)
    }

    @Test("Clients that accept gzip get a compressed form with a separate tag")
    func compressed() async throws {
        let handler = ContentHandler(Self.text, mediaType: .css)
        let accept = "Accept-Encoding: gzip\r\n"
        let answer = try await get(handler, accept)
        #expect(answer["Content-Encoding"] == "gzip")
        #expect(answer["Accept-Ranges"] == nil)
        #expect(answer["Vary"] == "Accept-Encoding")
        #expect(try answer.content.gunzipped(outputLimit: 10_000) == Array(Self.text.utf8))
        let tag = try #require(answer["ETag"])
        let plain = try #require(try await get(handler)["ETag"])
        #expect(tag != plain)
        #expect(try await get(handler, accept + "If-None-Match: \(tag)\r\n").status == 304)
        #expect(try await get(handler, accept + "If-None-Match: \(plain)\r\n").status == 200)
        #expect(try await get(handler, "If-None-Match: \(plain)\r\n").status == 304)
        let refused = try await get(handler, "Accept-Encoding: gzip;q=0\r\n")
        #expect(refused["Content-Encoding"] == nil)
    }

    @Test("Content that is not compressed has one form, without Vary")
    func oneForm() async throws {
        var options = ContentHandler.Options()
        options.compresses = false
        let handlers = [
            ContentHandler("x"), ContentHandler(Array(Self.text.utf8)),
            ContentHandler(Self.text, options: options),
        ]
        for handler in handlers {
            let answer = try await get(handler, "Accept-Encoding: gzip\r\n")
            #expect(answer["Content-Encoding"] == nil)
            #expect(answer["Vary"] == nil)
        }
    }

    @Test("Ranges are ranges of the plain form")
    func ranges() async throws {
        let handler = ContentHandler(Self.text)
        let part = try await get(handler, "Accept-Encoding: gzip\r\nRange: bytes=0-3\r\n")
        #expect(part.status == 206)
        #expect(part.text == "body")
        #expect(part["Content-Encoding"] == nil)
        #expect(try await get(handler, "Range: bytes=9999-\r\n").status == 416)
    }

    @Test(
        "Other methods are 405, or 501",
        arguments: [("PUT", 405), ("DELETE", 405), ("BREW", 501), ("OPTIONS", 204)])
    func methods(method: String, status: Int) async throws {
        let disk = try ServerDirectory()
        try disk.write("a", "x")
        let handlers: [any Handler] = [
            ContentHandler("x"), SingleFileHandler(path: disk.path("a")),
        ]
        for handler in handlers {
            let answer = try await RouterTests.answer(handler, RouterTests.request(method, "/"))
            #expect(answer.status == status)
            #expect(answer["Allow"] == "GET, HEAD, OPTIONS")
        }
    }

    @Test("One file is served at any path, with ranges, 304 and 416")
    func singleFile() async throws {
        let disk = try ServerDirectory()
        try disk.write("a.txt", "0123456789")
        try disk.write("empty", "")
        var options = FileHandler.Options()
        options.cacheAge = 60
        var router = Router()
        router.route(
            .get, "/manual",
            to: SingleFileHandler(
                path: disk.path("a.txt"), attachmentName: "m.txt", options: options))
        router.route(.get, "/empty", to: SingleFileHandler(path: disk.path("empty")))
        router.route(.get, "/none", to: SingleFileHandler(path: disk.path("none")))
        let whole = try await RouterTests.answer(router, Sample.get("/manual"))
        #expect(whole.text == "0123456789")
        #expect(whole["Content-Disposition"] == "attachment; filename=\"m.txt\"")
        #expect(whole["Cache-Control"] == "public, max-age=60")
        let tag = try #require(whole["ETag"])
        for (target, fields, status, range) in [
            ("/manual", "Range: bytes=4-\r\n", 206, "bytes 4-9/10"),
            ("/manual", "Range: bytes=10-\r\n", 416, "bytes */10"),
            ("/empty", "Range: bytes=0-\r\n", 416, "bytes */0"),
            ("/manual", "If-None-Match: \(tag)\r\n", 304, nil), ("/none", "", 404, nil),
        ] as [(String, String, Int, String?)] {
            let answer = try await RouterTests.answer(router, Sample.get(target, fields))
            #expect(answer.status == status)
            #expect(answer["Content-Range"] == range)
        }
        try disk.write("a.txt", "new")
        #expect(try await RouterTests.answer(router, Sample.get("/manual")).text == "new")
    }
}

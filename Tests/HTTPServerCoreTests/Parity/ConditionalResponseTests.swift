import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9110, 13 and 14: Conditions and ranges of any response")
struct ConditionalResponseTests {
    private func answer(
        _ fields: String = "", method: String = "GET",
        _ respond: @escaping @Sendable (Request) throws -> Response
    ) async throws -> ServerAnswer {
        try await RouterTests.answer(
            SyncHandler { try respond($0).conditional(for: $0) },
            "\(method) / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
    }

    @Sendable private func tagged(_ request: Request) -> Response {
        var response = Response.text("0123456789")
        response.entityTag = EntityTag("\"a\"")
        response.lastModified = HTTPDate(secondsSinceEpoch: 784_111_777)
        response.fields.append(.cacheControl, "max-age=60, private")
        response.fields.append(.vary, "Cookie")
        response.fields.append("Access-Control-Allow-Origin", "*")
        response.fields.append("Content-Language", "en")
        return response
    }

    private static let digestFields: [HTTPFieldName] = [
        "Content-Digest", "Content-MD5", "Digest", "Repr-Digest", "OC-Checksum",
    ]

    @Test(
        "RFC 9530, 2 and 3: Partial responses, 304 and errors keep no digest of other content",
        arguments: [
            ("", 200, 5), ("Range: bytes=2-4\r\n", 206, 2), ("Range: bytes=0-0, 4-5\r\n", 206, 2),
            ("If-None-Match: \"a\"\r\n", 304, 2), ("Range: bytes=99-\r\n", 416, 0),
            ("If-Match: \"b\"\r\n", 412, 0),
        ])
    func digests(fields: String, status: Int, count: Int) async throws {
        let answer = try await answer(fields) { request in
            var response = tagged(request)
            for name in Self.digestFields { response.fields.append(name, "a") }
            return response
        }
        #expect(answer.status == status)
        let sent = Self.digestFields.map(\.text).filter { answer[$0] != nil }
        #expect(sent == Self.digestFields.suffix(count).map(\.text))
    }

    @Test("Validators are set as values and written as fields")
    func validators() async throws {
        let whole = try await answer("", tagged)
        #expect(whole["ETag"] == "\"a\"")
        #expect(whole["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(whole["Accept-Ranges"] == "bytes")
        var response = Response()
        response.entityTag = EntityTag(opaque: "v1", isWeak: true)
        #expect(response.fields[.eTag] == "W/\"v1\"")
        response.lastModified = HTTPDate(secondsSinceEpoch: 253_402_300_799)
        #expect(response.fields[.lastModified]?.hasSuffix("9999 23:59:59 GMT") == false)
        response.entityTag = nil
        response.lastModified = nil
        #expect(response.fields.isEmpty)
    }

    @Test(
        "13.2.2, 15.4.5: 304 keeps fields for caches and scripts; If-None-Match comes first",
        arguments: [
            ("If-None-Match: \"a\"\r\n", 304), ("If-None-Match: W/\"a\", \"b\"\r\n", 304),
            ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 304),
            ("If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 200),
            (
                "If-None-Match: \"b\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 200
            ),
            ("If-Match: \"b\"\r\n", 412),
            ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 412),
        ])
    func conditions(fields: String, status: Int) async throws {
        let answer = try await answer(fields, tagged)
        #expect(answer.status == status)
        // An error that depends on a condition must not be cached for other requests.
        #expect(answer["Cache-Control"] == (status == 412 ? nil : "max-age=60, private"))
        // The format of a 412 depends on Accept.
        #expect(answer["Vary"] == (status == 412 ? "Cookie, Accept" : "Cookie"))
        #expect(answer["Access-Control-Allow-Origin"] == "*")
        #expect(answer["ETag"] == "\"a\"")
        #expect((answer["Content-Language"] == "en") == (status == 200))
        if status == 304 { #expect(answer.content.isEmpty) }
    }

    @Test(
        "14.2, 15.3.7: Content in memory has ranges",
        arguments: [
            ("bytes=2-4", 206, "234", "bytes 2-4/10"), ("bytes=-2", 206, "89", "bytes 8-9/10"),
            ("bytes=8-99", 206, "89", "bytes 8-9/10"), ("bytes=10-", 416, "", "bytes */10"),
            ("lines=1-2", 200, "0123456789", nil),
        ] as [(String, Int, String, String?)])
    func ranges(range: String, status: Int, text: String, contentRange: String?) async throws {
        for isText in [true, false] {
            let answer = try await answer("Range: \(range)\r\n") { _ in
                isText ? .text("0123456789") : Response(body: .bytes(Array("0123456789".utf8)))
            }
            #expect(answer.status == status)
            #expect(answer.text == text)
            #expect(answer["Content-Range"] == contentRange)
        }
    }

    @Test("14.6: Each part of several ranges has the type of the content")
    func parts() async throws {
        let answer = try await answer("Range: bytes=0-1, 8-\r\n") { _ in
            Response(
                fields: [.contentType: "a/b"], body: .bytes(Array("0123456789".utf8)))
        }
        #expect(answer.status == 206)
        #expect(answer["Content-Type"]?.hasPrefix("multipart/byteranges; boundary=") == true)
        let part = "Content-Type: a/b\r\nContent-Range: bytes 0-1/10\r\n\r\n01\r\n--"
        #expect(answer.text.contains(part))
        #expect(answer.text.contains("Content-Range: bytes 8-9/10\r\n"))
    }

    @Test("13.1.5: If-Range allows a range of unchanged content only")
    func ifRange() async throws {
        for (condition, status) in [("\"a\"", 206), ("\"b\"", 200), ("W/\"a\"", 200)] {
            let answer = try await answer("Range: bytes=0-0\r\nIf-Range: \(condition)\r\n", tagged)
            #expect(answer.status == status)
        }
    }

    @Test("Other methods and statuses, streams and coded content get no conditions or ranges")
    func left() async throws {
        let fields = "If-None-Match: *\r\nRange: bytes=0-0\r\n"
        let missing = try await answer(fields) { _ in .text("none", status: .notFound) }
        #expect(missing.status == 404)
        let posted = try await answer(fields, method: "POST", tagged)
        #expect(posted.status == 200)
        #expect(posted["Accept-Ranges"] == nil)
        let range = "Range: bytes=0-0\r\n"
        let stream = try await answer(range) { _ in .stream { try await $0.write("ab") } }
        #expect(stream.text == "ab")
        #expect(stream["Accept-Ranges"] == nil)
        let coded = try await answer(range) { _ in
            Response(fields: [.contentEncoding: "gzip"], body: .bytes([1, 2]))
        }
        #expect(coded.content == [1, 2])
        let head = try await answer(range, method: "HEAD", tagged)
        #expect(head["Content-Length"] == "10")
    }

    @Test("Equal content has equal tags on every machine, and different content different ones")
    func contentTags() {
        // The values of FNV-1a with 128 bits.
        #expect(EntityTag(of: []).description == "\"6c62272e07bb014262b821756295c58d\"")
        #expect(EntityTag(of: [0x61]).description == "\"d228cb696f1a8caf78912b704e4a8964\"")
        let tags = (0..<1_000).map { EntityTag(of: Array("content \($0)".utf8)) }
        #expect(Set(tags).count == 1_000)
        #expect(tags.allSatisfy { !$0.isWeak })
    }

    @Test("ConditionalHandler adds conditions and ranges to all responses of its handler")
    func handler() async throws {
        var router = Router()
        router.on(.get, "/now") { _ in .text("0123456789") }
        router.on(.get, "/later") { _ in
            await Task.yield()
            return .text("0123456789")
        }
        let plain = ConditionalHandler(router)
        #expect(try await RouterTests.answer(plain, Sample.get("/now"))["ETag"] == nil)
        let handler = ConditionalHandler(router, tagsContent: true)
        for path in ["/now", "/later"] {
            let whole = try await RouterTests.answer(handler, Sample.get(path))
            let tag = try #require(whole["ETag"])
            let same = try await RouterTests.answer(
                handler, Sample.get(path, "If-None-Match: \(tag)\r\n"))
            #expect(same.status == 304)
            let part = try await RouterTests.answer(
                handler, Sample.get(path, "Range: bytes=3-3\r\nIf-Range: \(tag)\r\n"))
            #expect(part.text == "3")
        }
        #expect(try await RouterTests.answer(handler, Sample.get("/none")).status == 404)
    }

    @Test("Compressed responses keep separate tags")
    func compressed() async throws {
        let text = String(repeating: "0123456789", count: 1_000)
        let handler = CompressionHandler(
            ConditionalHandler(SyncHandler { _ in .text(text) }, tagsContent: true))
        let whole = try await RouterTests.answer(
            handler, Sample.get("/", "Accept-Encoding: gzip\r\n"))
        #expect(whole["Content-Encoding"] == "gzip")
        let tag = try #require(whole["ETag"])
        #expect(tag.hasSuffix("-gzip\""))
        let same = try await RouterTests.answer(
            handler, Sample.get("/", "Accept-Encoding: gzip\r\nIf-None-Match: \(tag)\r\n"))
        #expect(same.status == 304)
        #expect(same["ETag"] == tag)
    }
}

import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9110, 8.4: Compressed responses")
struct CompressionHandlerTests {
    private static let text = Coded.text(20_000)

    private static func handler(
        _ status: HTTPStatus = .ok, _ fields: HTTPFields = HTTPFields(),
        body: ResponseBody = .text(text),
        _ change: (inout CompressionHandler.Options) -> Void = { _ in }
    ) -> CompressionHandler {
        var options = CompressionHandler.Options()
        change(&options)
        let response = Response(status, fields: fields, body: body)
        return CompressionHandler(SyncHandler { _ in response }, options: options)
    }

    @Test(
        "Texts and bytes are compressed, from immediate answers and from tasks",
        arguments: [0, 1, 2])
    func kinds(_ kind: Int) async throws {
        let response = Response(
            .ok,
            body: kind == 0
                ? .text(Self.text)
                : .bytes(Array(Self.text.utf8), mediaType: "application/json"))
        let handler =
            kind == 2
            ? CompressionHandler(
                AsyncHandler { _ in
                    await Task.yield()
                    return response
                })
            : CompressionHandler(SyncHandler { _ in response })
        let answer = try await Coded.get(handler)
        #expect(answer["Content-Encoding"] == "gzip")
        #expect(answer.content.count < Self.text.utf8.count / 2)
        #expect(try answer.plain == Array(Self.text.utf8))
        #expect(answer["Content-Type"] == response.body.mediaType)
    }

    @Test("Short content is not compressed", arguments: [(1_023, false), (1_024, true)])
    func minimum(_ count: Int, _ isCoded: Bool) async throws {
        let answer = try await Coded.get(Self.handler(body: .text(Coded.text(count))))
        #expect((answer["Content-Encoding"] == "gzip") == isCoded)
        #expect((answer["Vary"] != nil) == isCoded)
        #expect(try answer.plain.count == count)
    }

    @Test(
        "Only compressible media types are compressed",
        arguments: [
            ("text/html; charset=utf-8", true), ("application/json", true),
            ("image/svg+xml", true), ("application/problem+json", true),
            ("application/javascript", true), ("image/png", false), ("video/mp4", false),
            ("application/zip", false), ("application/octet-stream", false), ("", false),
            ("nonsense", false),
        ])
    func mediaTypes(_ type: String, _ isCoded: Bool) async throws {
        let body = ResponseBody.bytes(Array(Self.text.utf8), mediaType: type)
        let answer = try await Coded.get(Self.handler(body: body))
        #expect((answer["Content-Encoding"] == "gzip") == isCoded)
        #expect((answer["Vary"] != nil) == isCoded)
    }

    @Test("The Content-Type field takes precedence over the media type of the body")
    func typeOfFields() async throws {
        let answer = try await Coded.get(Self.handler(.ok, [.contentType: "image/png"]))
        #expect(answer["Content-Encoding"] == nil)
    }

    @Test(
        "Responses that must not be transformed are sent as they are",
        arguments: [
            ("Content-Encoding", "br"), ("Content-Range", "bytes 0-1/2"),
            ("Cache-Control", "no-transform"), ("Cache-Control", "max-age=1, No-Transform"),
            ("Repr-Digest", "sha-256=:AAAA:"), ("Content-Digest", "sha-256=:AAAA:"),
            ("Digest", "x=y"), ("content-md5", "AAAA"), ("Trailer", "Content-Digest"),
            ("trailer", "X-Sum, repr-digest"),
        ])
    func left(_ name: String, _ value: String) async throws {
        var fields = HTTPFields()
        fields.append(try #require(HTTPFieldName(name)), value)
        let answer = try await Coded.get(Self.handler(.ok, fields))
        #expect(answer["Content-Encoding"] == (name == "Content-Encoding" ? "br" : nil))
        #expect(answer.text == Self.text)
        #expect(answer["Vary"] == nil)
    }

    @Test(
        "Other fields do not prevent compression",
        arguments: [
            ("Cache-Control", "no-cache, max-age=1"), ("X-Cache-Contro", "no-transform"),
            ("Trailer", "X-Sum, X-Digest"),
        ])
    func notLeft(_ name: String, _ value: String) async throws {
        var fields = HTTPFields()
        fields.append(try #require(HTTPFieldName(name)), value)
        let answer = try await Coded.get(Self.handler(.ok, fields))
        #expect(answer["Content-Encoding"] == "gzip")
        #expect(answer[name] == value)
    }

    @Test("Partial content and responses to range requests are not compressed")
    func ranges() async throws {
        let part = try await Coded.get(Self.handler(.partialContent))
        #expect(part["Content-Encoding"] == nil)
        let fixed = try await Coded.get(
            Self.handler(
                .partialContent,
                [.contentRange: "bytes 0-19999/30000", .cacheControl: "no-transform"]))
        #expect(fixed["Vary"] == nil)
        let whole = try await Coded.get(
            Self.handler(), "Accept-Encoding: gzip\r\nRange: bytes=0-9\r\n")
        #expect(whole["Content-Encoding"] == nil)
        #expect(whole["Vary"] == "Accept-Encoding")
    }

    @Test("Content of other statuses is compressed, too", arguments: [404, 500, 201])
    func statuses(_ code: Int) async throws {
        let status = try #require(HTTPStatus(code))
        let answer = try await Coded.get(Self.handler(status))
        #expect(answer.status == code)
        #expect(answer["Content-Encoding"] == "gzip")
    }

    @Test("204 and 304 without content are not changed", arguments: [204, 304])
    func noContent(_ code: Int) async throws {
        let status = try #require(HTTPStatus(code))
        let answer = try await Coded.get(Self.handler(status, [:], body: .empty))
        #expect(answer.status == code)
        #expect(answer["Content-Encoding"] == nil && answer["Vary"] == nil)
    }

    @Test("Content that does not get shorter is sent as it is", arguments: [2_000, 20_000])
    func noise(_ count: Int) async throws {
        let noise = Coded.noise(count)
        let handler = Self.handler(body: .bytes(noise, mediaType: "text/plain"))
        for _ in 0..<4 {
            let answer = try await Coded.get(handler)
            #expect(answer["Content-Encoding"] == nil)
            #expect(answer["Vary"] == "Accept-Encoding")
            #expect(answer.content == noise)
        }
    }

    @Test("9.3.2: HEAD has the fields of GET", arguments: ["Accept-Encoding: gzip\r\n", ""])
    func head(_ fields: String) async throws {
        let handler = Self.handler(.ok, [.eTag: "\"v1\""])
        let get = try await Coded.get(handler, fields)
        let head = try await Coded.get(handler, fields, method: "HEAD")
        #expect(head.content.isEmpty)
        for name in ["Content-Length", "Content-Encoding", "ETag", "Vary", "Content-Type"] {
            #expect(head[name] == get[name])
        }
    }

    @Test(
        "12.5.5: Accept-Encoding is merged into Vary",
        arguments: [
            (["Accept"], ["Accept, Accept-Encoding"]), (["*"], ["*"]),
            (["Accept-Encoding"], ["Accept-Encoding"]),
            (["accept-encoding, Accept"], ["accept-encoding, Accept"]),
            (["Accept", "Origin"], ["Accept", "Origin", "Accept-Encoding"]),
            (["Accept", "Accept-Encoding"], ["Accept", "Accept-Encoding"]),
        ])
    func vary(_ given: [String], _ sent: [String]) async throws {
        var fields = HTTPFields()
        for value in given { fields.append(.vary, value) }
        let handler = Self.handler(.ok, fields)
        for accept in ["Accept-Encoding: gzip\r\n", ""] {
            let answer = try await Coded.get(handler, accept)
            #expect(answer.fields.filter { $0.name == "Vary" }.map(\.value) == sent)
        }
    }

    @Test("Compressed responses do not have Accept-Ranges")
    func acceptRanges() async throws {
        let handler = Self.handler(.ok, [.acceptRanges: "bytes"])
        #expect(try await Coded.get(handler)["Accept-Ranges"] == nil)
        #expect(try await Coded.get(handler, "")["Accept-Ranges"] == "bytes")
    }

    @Test("Content can be compressed at levels from 1 to 9", arguments: [1, 6, 9])
    func levels(_ level: Int) async throws {
        let answer = try await Coded.get(Self.handler { $0.level = level })
        #expect(try answer.plain == Array(Self.text.utf8))
    }

    @Test("Long content is compressed while it is sent, and then cached")
    func longContent() async throws {
        let text = Coded.text(300_000)
        let handler = Self.handler(body: .bytes(Array(text.utf8), mediaType: "text/plain")) {
            $0.cacheEntryByteLimit = 1 << 20
        }
        for attempt in 0..<3 {
            let answer = try await Coded.get(handler)
            #expect(answer["Content-Encoding"] == "gzip")
            // From the third time on the length is known.
            #expect((answer["Transfer-Encoding"] == "chunked") == (attempt < 2))
            #expect(try answer.plain == Array(text.utf8))
        }
    }

    @Test("A handler's errors pass through")
    func errors() async throws {
        let handler = CompressionHandler(
            SyncHandler { _ in throw HTTPError(.conflict, Coded.text(4_000)) })
        #expect(try await Coded.get(handler).status == 409)
    }

    @Test("An immediate answer stays immediate")
    func immediate() async throws {
        var router = Router()
        router.on(.get, "/") { _ in Response(.ok) }
        let compressed = CompressionHandler(router)
        let handler = SyncHandler { request in
            guard case .now(let response) = try compressed.answer(request) else {
                throw HTTPError(.internalServerError, "the answer needs a task")
            }
            return response
        }
        #expect(try await Coded.get(handler).status == 200)
    }
}

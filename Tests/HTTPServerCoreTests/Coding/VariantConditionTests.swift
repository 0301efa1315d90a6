import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9110, 8.8.3.3 and 13: Validators of compressed variants")
struct VariantConditionTests {
    private let directory: ServerDirectory
    private let handler: CompressionHandler

    init() throws {
        directory = try ServerDirectory()
        try directory.write("a.txt", Coded.text(5_000))
        handler = CompressionHandler(FileHandler(root: directory.path))
    }

    private func get(_ fields: String, method: String = "GET") async throws -> ServerAnswer {
        try await Coded.get(handler, fields, method: method, target: "/a.txt")
    }

    private func tags() async throws -> (plain: String, coded: String) {
        let plain = try #require(try await get("")["ETag"])
        let coded = try #require(try await get("Accept-Encoding: gzip\r\n")["ETag"])
        return (plain, coded)
    }

    @Test("The variant has a strong tag of its own")
    func ownTag() async throws {
        let tags = try await tags()
        #expect(tags.coded == String(tags.plain.dropLast()) + "-gzip\"")
    }

    @Test(
        "Tags of handlers",
        arguments: [
            ("\"a\"", "\"a-gzip\""), ("\"\"", "\"-gzip\""), ("W/\"a\"", "W/\"a\""),
            ("\"a-gzip\"", "\"a-gzip-gzip\""),
        ])
    func tagForms(_ tag: String, _ coded: String) async throws {
        let response = Response(.ok, fields: [.eTag: tag], body: .text(Coded.text(5_000)))
        let handler = CompressionHandler(SyncHandler { _ in response })
        #expect(try await Coded.get(handler)["ETag"] == coded)
        #expect(try await Coded.get(handler, "")["ETag"] == tag)
    }

    @Test("If-None-Match with the variant's tag is 304 with that tag", arguments: ["GET", "HEAD"])
    func revalidation(_ method: String) async throws {
        let coded = try await tags().coded
        for list in [coded, "\"x\", \(coded)", "W/\(coded)"] {
            let answer = try await get(
                "Accept-Encoding: gzip\r\nIf-None-Match: \(list)\r\n", method: method)
            #expect(answer.status == 304)
            #expect(answer["ETag"] == coded)
            #expect(answer["Vary"] == "Accept-Encoding")
            #expect(answer["Content-Encoding"] == nil)
        }
    }

    @Test("If-None-Match with the plain tag is 304 with the plain tag")
    func plainRevalidation() async throws {
        let tags = try await tags()
        for accept in ["Accept-Encoding: gzip\r\n", ""] {
            let answer = try await get("\(accept)If-None-Match: \(tags.plain)\r\n")
            #expect(answer.status == 304)
            #expect(answer["ETag"] == tags.plain)
        }
        let both = try await get(
            "Accept-Encoding: gzip\r\nIf-None-Match: \(tags.coded), \(tags.plain)\r\n")
        #expect(both.status == 304)
    }

    @Test("Who does not take the variant is not told to use it")
    func otherReader() async throws {
        let coded = try await tags().coded
        let answer = try await get("If-None-Match: \(coded)\r\n")
        #expect(answer.status == 200)
        #expect(answer["Content-Encoding"] == nil)
    }

    @Test("A changed file is 200 with the new tag")
    func changed() async throws {
        let coded = try await tags().coded
        try directory.write("a.txt", Coded.text(6_000, seed: 2))
        let answer = try await get("Accept-Encoding: gzip\r\nIf-None-Match: \(coded)\r\n")
        #expect(answer.status == 200)
        #expect(answer["ETag"] != coded)
        #expect(try answer.plain == Array(Coded.text(6_000, seed: 2).utf8))
    }

    @Test("If-Match knows both tags, whoever asks", arguments: ["Accept-Encoding: gzip\r\n", ""])
    func ifMatch(_ accept: String) async throws {
        let tags = try await tags()
        #expect(try await get("\(accept)If-Match: \(tags.coded)\r\n").status == 200)
        #expect(try await get("\(accept)If-Match: \(tags.plain)\r\n").status == 200)
        #expect(try await get("\(accept)If-Match: \"x-gzip\"\r\n").status == 412)
        #expect(try await get("\(accept)If-Match: W/\(tags.coded)\r\n").status == 412)
    }

    @Test("Changes may name the variant that was read")
    func changes() async throws {
        let handler = CompressionHandler(
            AsyncHandler { request in
                let content = try await request.body.collect()
                let tags = request.fields[.ifMatch] ?? "-"
                return Response(.ok, body: .text("\(tags) \(content.count) \(request.path)"))
            })
        let fields = "If-Match: \"a-gzip\", \"b\"\r\nContent-Length: 3\r\n"
        let answer = try await Coded.get(
            handler, "\(fields)\r\nabc", method: "PUT", target: "/x%20")
        #expect(answer.text == "\"a-gzip\", \"a\", \"b\" 3 /x ")
    }

    @Test("A part of the file does not continue the variant")
    func ifRange() async throws {
        let tags = try await tags()
        let range = "Accept-Encoding: gzip\r\nRange: bytes=10-19\r\n"
        #expect(try await get("\(range)If-Range: \(tags.coded)\r\n").status == 200)
        let part = try await get("\(range)If-Range: \(tags.plain)\r\n")
        #expect(part.status == 206)
        #expect(part["ETag"] == tags.plain)
        #expect(part["Content-Encoding"] == nil)
    }

    @Test("Lists that cannot be read are left to the handler")
    func malformed() async throws {
        let value = "\"a-gzip\" nonsense"
        let handler = CompressionHandler(
            SyncHandler { Response(.ok, body: .text($0.fields[.ifNoneMatch] ?? "-")) })
        let fields = "Accept-Encoding: gzip\r\nIf-None-Match: \(value)\r\n"
        #expect(try await Coded.get(handler, fields).text == value)
    }

    @Test("What the request was stays as it was", arguments: ["/caf%C3%A9?q=1", "/a/../b", "*"])
    func sameRequest(_ target: String) async throws {
        let show = SyncHandler { request in
            let fields = request.fields.filter { $0.name != .ifMatch }.map { "\($0)" }
            return Response(
                .ok,
                body: .text("\(request.method) \(request.target) \(fields) \(request.version)"))
        }
        let extra = "X-Odd: caf\u{E9} \u{1F600}\r\nX-Empty:\r\nx-odd: 2\r\n"
        let method = target == "*" ? "OPTIONS" : "DELETE"
        let plain = try await Coded.get(show, extra, method: method, target: target)
        let translated = try await Coded.get(
            CompressionHandler(show), extra + "If-Match: \"a-gzip\"\r\n", method: method,
            target: target)
        #expect(translated.text == plain.text)
    }
}

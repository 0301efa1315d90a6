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

    @Test("The variant has a separate strong tag")
    func ownTag() async throws {
        let tags = try await tags()
        #expect(tags.coded == String(tags.plain.dropLast()) + "-gzip\"")
    }

    @Test("Entity tags of combining marks are compared in linear time")
    func longTag() async throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 2_000)
        let lines = String(repeating: "If-None-Match: \"\(marks)\"\r\n", count: 7)
        let isQuick = try await takesLess(than: .seconds(10)) {
            for _ in 0..<50 {
                let answer = try await get("Accept-Encoding: gzip\r\n\(lines)")
                #expect(answer.status == 200)
            }
        }
        #expect(isQuick)
    }

    @Test(
        "The variant's tag is derived from the handler's tag, unless that is weak",
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

    @Test("A client that does not accept the variant gets 200, not 304 for its tag")
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

    @Test(
        "If-Match accepts both tags, with and without Accept-Encoding",
        arguments: ["Accept-Encoding: gzip\r\n", ""])
    func ifMatch(_ accept: String) async throws {
        let tags = try await tags()
        #expect(try await get("\(accept)If-Match: \(tags.coded)\r\n").status == 200)
        #expect(try await get("\(accept)If-Match: \(tags.plain)\r\n").status == 200)
        #expect(try await get("\(accept)If-Match: \"x-gzip\"\r\n").status == 412)
        #expect(try await get("\(accept)If-Match: W/\(tags.coded)\r\n").status == 412)
    }

    @Test("A request with If-Match may name the variant's tag, and the handler sees both tags")
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

    @Test("If-Range with the variant's tag gets no part of the file")
    func ifRange() async throws {
        let tags = try await tags()
        let range = "Accept-Encoding: gzip\r\nRange: bytes=10-19\r\n"
        #expect(try await get("\(range)If-Range: \(tags.coded)\r\n").status == 200)
        let part = try await get("\(range)If-Range: \(tags.plain)\r\n")
        #expect(part.status == 206)
        #expect(part["ETag"] == tags.plain)
        #expect(part["Content-Encoding"] == nil)
    }

    @Test(
        "14.2: With Range only the tag of the file itself matches",
        arguments: ["Accept-Encoding: gzip\r\n", ""])
    func rangeTags(_ accept: String) async throws {
        let tags = try await tags()
        let range = "\(accept)Range: bytes=10-19\r\n"
        #expect(try await get("\(range)If-Match: \(tags.coded)\r\n").status == 412)
        #expect(try await get("\(range)If-Match: \(tags.plain)\r\n").status == 206)
        #expect(try await get("\(range)If-None-Match: \(tags.coded)\r\n").status == 206)
        #expect(try await get("\(range)If-None-Match: \(tags.plain)\r\n").status == 304)
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        "8.8.1, 13.1.5: A date shared by file and variant is not accepted in If-Range",
        arguments: ["Accept-Encoding: gzip\r\n", ""])
    func datedRange(_ accept: String) async throws {
        try directory.setModified("a.txt", 784_111_777)
        let answer = try await get(
            "\(accept)Range: bytes=10-19\r\nIf-Range: \(Self.date)\r\n")
        #expect(answer.status == 200)
        #expect(answer["Last-Modified"] == Self.date)
        #expect(answer["Content-Encoding"] == nil && answer["Vary"] == "Accept-Encoding")
        #expect(answer.text == Coded.text(5_000))
    }

    @Test(
        "13.1.5: For content that is never compressed If-Range accepts a date",
        arguments: [
            ("bytes=10-19", date, 206), ("bytes=9999-", date, 416), ("lines=1-2", date, 200),
            ("bytes=10-19", "Sun, 06 Nov 1994 08:49:36 GMT", 200), ("bytes=10-19", "nonsense", 200),
        ])
    func datedRangeOfOneForm(_ range: String, _ date: String, _ status: Int) async throws {
        try directory.write("a.png", Coded.noise(5_000))
        try directory.setModified("a.png", 784_111_777)
        let fields = "Accept-Encoding: gzip\r\nRange: \(range)\r\nIf-Range: \(date)\r\n"
        let answer = try await Coded.get(handler, fields, target: "/a.png")
        #expect(answer.status == status)
        // The same as without compression.
        let files = FileHandler(root: directory.path)
        let plain = try await Coded.get(files, fields, target: "/a.png")
        #expect(plain.status == status && answer.content == plain.content)
        for name in ["Content-Range", "Content-Type", "ETag", "Vary", "Cache-Control"] {
            #expect(answer[name] == plain[name])
        }
    }

    @Test(
        "15.4.5: A client that named no tag may have either form, so its 304 has no tag",
        arguments: ["If-Modified-Since: \(date)", "If-None-Match: *"])
    func unnamedTag(_ condition: String) async throws {
        try directory.setModified("a.txt", 784_111_777)
        let answer = try await get("Accept-Encoding: gzip\r\n\(condition)\r\n")
        #expect(answer.status == 304)
        #expect(answer["ETag"] == nil && answer["Last-Modified"] == Self.date)
        #expect(answer["Vary"] == "Accept-Encoding")
        let plain = try await get("\(condition)\r\n")
        #expect(plain.status == 304)
        let tag = try await tags().plain
        #expect(plain["ETag"] == tag)
    }

    @Test("A 304 keeps a tag that is its only validator, and a weak tag")
    func keptTag() async throws {
        let fields = "Accept-Encoding: gzip\r\nIf-None-Match: *\r\n"
        let cases: [HTTPFields] = [[.eTag: "\"a\""], [.eTag: "W/\"a\"", .lastModified: Self.date]]
        for validators in cases {
            let response = Response(.ok, fields: validators, body: .text(Coded.text(5_000)))
            let handler = CompressionHandler(ConditionalHandler(SyncHandler { _ in response }))
            let answer = try await Coded.get(handler, fields)
            #expect(answer.status == 304)
            #expect(answer["ETag"] == validators[.eTag])
        }
    }

    @Test("Malformed lists of tags are passed to the handler unchanged")
    func malformed() async throws {
        let value = "\"a-gzip\" nonsense"
        let handler = CompressionHandler(
            SyncHandler { Response(.ok, body: .text($0.fields[.ifNoneMatch] ?? "-")) })
        let fields = "Accept-Encoding: gzip\r\nIf-None-Match: \(value)\r\n"
        #expect(try await Coded.get(handler, fields).text == value)
    }

    @Test(
        "Translating If-Match changes nothing else in the request",
        arguments: ["/caf%C3%A9?q=1", "/a/../b", "*"])
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

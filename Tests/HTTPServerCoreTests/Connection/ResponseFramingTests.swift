import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("RFC 9112, 6.3: Content of responses")
struct ResponseFramingTests {
    private static func stream(length: Int64? = nil, _ pieces: [String]) -> SyncHandler {
        SyncHandler { _ in
            Response(
                .ok,
                body: .stream(mediaType: "", length: length) { writer in
                    for piece in pieces { try await writer.write(piece) }
                })
        }
    }

    @Test("A stream of unknown length is chunked")
    func chunked() async throws {
        let client = MemoryConnection(Self.stream(["abc", "", "0123456789abcdefg"]))
        client.send(Sample.get("/"), Sample.get("/"))
        let record = try await client.output("0\r\n\r\n", times: 2)
        let expected =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "3\r\nabc\r\n11\r\n0123456789abcdefg\r\n0\r\n\r\n"
        #expect(record.text == expected + expected)
    }

    @Test("A stream to HTTP/1.0 ends with the connection")
    func untilClose() async throws {
        let client = MemoryConnection(Self.stream(["abc", "def"]))
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        let record = try await client.closed()
        #expect(record.text == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcdef")
        #expect(record.resets == 0)
    }

    @Test(
        "A truncated stream to HTTP/1.0 ends in a reset, because its close looks complete",
        arguments: ["1.0", "1.1"])
    func cutOff(_ version: String) async throws {
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        try await writer.write("abc")
                        throw HTTPError(.internalServerError)
                    })
            })
        client.send("GET / HTTP/\(version)\r\nHost: a\r\n\r\n")
        let record = try await client.closed()
        #expect(record.text.contains("abc") && record.closes == 1)
        // The missing last chunk shows that the content is truncated.
        #expect(record.resets == (version == "1.0" ? 1 : 0))
    }

    @Test("A failed send to HTTP/1.0 ends in a reset, too")
    func slowReader() async throws {
        let client = MemoryConnection(
            SyncHandler { _ in Response(.ok, body: .stream { try await $0.write(Self.long) }) },
            peer: MemoryTransport.Peer(sendLimit: 1_000, failure: (50_000, 104)))
        client.send("GET / HTTP/1.0\r\n\r\n")
        let record = try await client.closed()
        #expect(record.resets == 1)
    }

    private static let long = [UInt8](repeating: 0x61, count: 300_000)

    @Test("A stream of known length has Content-Length", arguments: ["1.0", "1.1"])
    func announced(_ version: String) async throws {
        let client = MemoryConnection(Self.stream(length: 6, ["abc", "def"]))
        client.send("GET / HTTP/\(version)\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
        let record = try await client.output("abcdef")
        #expect(record.text.contains("Content-Length: 6\r\n"))
        #expect(!record.isClosed)
    }

    @Test(
        "A stream of another length than announced closes the connection",
        arguments: [["ab"], ["abcd"], ["ab", "cd"], []])
    func wrongLength(_ pieces: [String]) async throws {
        let log = ServerLog<Bool>()
        let client = MemoryConnection(
            Self.stream(length: 3, pieces),
            configuration: .test { $0.accessLog = { log.add($0.isComplete) } })
        client.send(Sample.get("/") + Sample.get("/"))
        let record = try await client.closed()
        #expect(record.text.hasPrefix("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"))
        #expect(ServerAnswer.all(record.output).first?.content.count ?? 3 < 3)
        #expect(record.count(of: "HTTP/1.1") == 1)
        #expect(log.entries == [false])
    }

    @Test("A write beyond the announced length throws an error and sends nothing")
    func tooLong() async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream(length: 2) { writer in
                        try await writer.write("ab")
                        do { try await writer.write("c") } catch { log.add("\(error)") }
                    })
            })
        client.send(Sample.get("/"))
        #expect(await log.first() == "wrongLength")
        #expect(client.record.text.hasSuffix("ab"))
    }

    @Test(
        "A producer that throws closes the connection before the last chunk", arguments: [0, 1, 3])
    func throwing(_ pieces: Int) async throws {
        struct Failure: Error {}
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        for _ in 0..<pieces { try await writer.write("piece") }
                        throw Failure()
                    })
            })
        client.send(Sample.get("/"))
        let record = try await client.closed()
        #expect(record.count(of: "piece") == pieces)
        #expect(!record.text.contains("0\r\n\r\n"))
        #expect(!record.text.contains("500"))
    }

    struct TrailerCase: Sendable {
        var version: String
        var length: Int64?
        var ending: String
    }

    @Test(
        "7.1.2: Trailers follow chunked content, and are omitted elsewhere",
        arguments: [
            TrailerCase(version: "1.1", ending: "3\r\nabc\r\n0\r\nX-Sum: 3\r\n\r\n"),
            TrailerCase(version: "1.1", length: 3, ending: "abc"),
            TrailerCase(version: "1.0", length: 3, ending: "abc"),
            TrailerCase(version: "1.0", ending: "abc"),
        ])
    func trailers(_ example: TrailerCase) async throws {
        let log = ServerLog<Bool>()
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream(length: example.length) { writer in
                        try await writer.write("abc")
                        await writer.setTrailers(["X-Sum": "3"])
                    })
            }, configuration: .test { $0.accessLog = { log.add($0.isComplete) } })
        client.send("GET / HTTP/\(example.version)\r\nHost: a\r\nConnection: close\r\n\r\n")
        let record = try await client.closed()
        #expect(record.text.hasSuffix("\r\n\r\n" + example.ending))
        #expect(log.entries == [true])
    }

    @Test("RFC 9110, 9.3.2: HEAD has the head of GET and no content")
    func head() async throws {
        let produced = ServerLog<Int>()
        var router = Router()
        router.on(.get, "/text") { _ in Response(.ok, body: .text("abc")) }
        router.on(.get, "/stream") { _ in
            Response(.ok, body: .stream { _ in produced.add(1) })
        }
        router.on(.get, "/long") { _ in
            Response(.ok, body: .stream(length: 9) { _ in produced.add(1) })
        }
        let client = MemoryConnection(router)
        for target in ["/text", "/stream", "/long", "/missing"] {
            client.send("HEAD \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        client.send("HEAD /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Sample.get("/text"))
        let record = try await client.output("abc")
        let answers = ServerAnswer.all(record.output, heads: [0, 1, 2, 3, 4])
        #expect(answers.map(\.status) == [200, 200, 200, 404, 200, 200])
        #expect(answers.map { $0["Content-Length"] } == ["3", nil, "9", "14", nil, "3"])
        #expect(answers[1]["Transfer-Encoding"] == "chunked")
        #expect(answers[4]["Connection"] == "keep-alive")
        #expect(produced.entries.isEmpty)
    }

    @Test("RFC 9110, 15.3.5 and 15.4.5: 204 and 304 have no content", arguments: [204, 304])
    func noContent(_ code: Int) async throws {
        let status = try #require(HTTPStatus(code))
        for body in [
            ResponseBody.empty, .text("abc"), .bytes(Array(repeating: 0, count: 100_000)),
            .stream { try await $0.write("x") }, .stream(length: 3) { try await $0.write("abc") },
        ] {
            let client = MemoryConnection(
                SyncHandler { request in
                    request.target.text == "/" ? Response(status, body: body) : Response(.ok)
                })
            client.send(Sample.get("/"), Sample.get("/next"))
            let record = try await client.output("HTTP/1.1 200 OK")
            let heads = record.text.split(separator: "\r\n\r\n", omittingEmptySubsequences: false)
            #expect(heads.count == 3 && heads[2].isEmpty)
            #expect(!heads[0].contains("Transfer-Encoding"))
            #expect(code == 304 || !heads[0].contains("Content-Length"))
        }
    }

    @Test("Content-Length is sent for empty content, too", arguments: ["", "a"])
    func empty(_ text: String) async throws {
        let client = MemoryConnection(SyncHandler { _ in Response(.ok, body: .text(text)) })
        client.send(Sample.get("/"))
        try await client.output("Content-Length: \(text.utf8.count)\r\n")
    }

    @Test(
        "RFC 9110, 15.2: A final response with an interim status is 500",
        arguments: [100, 101, 103])
    func interimAsFinal(_ code: Int) async throws {
        let status = try #require(HTTPStatus(code))
        let client = MemoryConnection(SyncHandler { _ in Response(status) })
        client.send(Sample.get("/"))
        let record = try await client.output("HTTP/1.1 500 ")
        #expect(record.count(of: "HTTP/1.1 ") == 1)
    }

    @Test("RFC 9110, 6.6.1: Each response has Date and Server")
    func commonFields() async throws {
        let client = MemoryConnection(
            Sample.target, configuration: .test { $0.serverName = "test/1 (x)" })
        let start = Syscalls.realtime().seconds
        client.send(Sample.get("/"), "bad\r\n\r\n")
        let record = try await client.output("HTTP/1.1 400 ")
        let answers = ServerAnswer.all(record.output)
        #expect(answers.map { $0["Server"] } == ["test/1 (x)", "test/1 (x)"])
        let now = Syscalls.realtime().seconds
        for answer in answers {
            let date = try #require(
                HTTPDate(answer["Date"] ?? "", now: HTTPDate(secondsSinceEpoch: now)))
            // A loop formats the date at most once a second, and once per iteration.
            #expect((start - 60...now).contains(date.secondsSinceEpoch))
        }
    }
}

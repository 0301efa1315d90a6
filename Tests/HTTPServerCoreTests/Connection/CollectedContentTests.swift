import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Handlers that need all of the content, but no task")
struct CollectedContentTests {
    /// Answers with method and content.
    private struct Echo: Handler {
        var limit = 100

        func answer(_ request: Request) -> Answer {
            .withContent(limit: limit) { content in
                .now(.text("\(request.method.name) \(String(decoding: content, as: UTF8.self))"))
            }
        }
    }

    private static let chunked =
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// Requests and the texts of their responses.
    private static let dialogues: [(requests: String, answers: [String])] = [
        (Sample.post("abc") + Sample.post("") + Sample.get("/"), ["POST abc", "POST ", "GET "]),
        (
            chunked + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n" + Sample.post("f"),
            ["POST abcde", "POST f"]
        ),
        (
            Sample.post("a", "Expect: 100-continue\r\n") + Sample.post("b"),
            ["POST a", "POST b"]
        ),
    ]

    @Test("The content is complete wherever its bytes are split", arguments: dialogues)
    func everyCut(_ requests: String, _ answers: [String]) async throws {
        let expected = answers.map { Sample.ok($0) }.joined()
        let interim = "HTTP/1.1 100 Continue\r\n\r\n"
        for cut in 1...requests.utf8.count {
            let client = MemoryConnection(Echo())
            let bytes = Array(requests.utf8)
            client.feed([.bytes(Array(bytes[..<cut])), .bytes(Array(bytes[cut...])), .end])
            let text = try await client.closed().text
            let final = text.split(separator: interim, omittingEmptySubsequences: true).joined()
            #expect(final == expected, "cut at \(cut)")
        }
        let client = MemoryConnection(Echo())
        client.sendEachByte(requests)
        let last = try #require(answers.last)
        let record = try await client.output(Sample.ok(last))
        #expect(record.text.split(separator: interim).joined() == expected)
    }

    @Test("A client that waits for 100 (Continue) gets it, or 413 in its place")
    func expectation() async throws {
        let client = MemoryConnection(Echo())
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
        client.send(head + "Content-Length: 3\r\n\r\n")
        try await client.output("HTTP/1.1 100 Continue\r\n\r\n")
        client.send("abc")
        try await client.output(Sample.ok("POST abc"))
        let refused = MemoryConnection(Echo())
        refused.send(head + "Content-Length: 101\r\n\r\n")
        let record = try await refused.output("HTTP/1.1 413 ")
        #expect(!record.text.contains("100 Continue"))
    }

    @Test("Content given back after the connection is lost can be read again in full")
    func givenBackLate() async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            AsyncHandler { request in
                let content = try await request.body.collect()
                log.add("collected")
                // Until the task is cancelled.
                await ServerGate().wait()
                request.giveBack(content)
                log.add(String(decoding: try await request.body.collect(), as: UTF8.self))
                return Response(.ok)
            })
        client.send(Sample.post("abc"))
        _ = await log.first()
        client.hangUp()
        try await client.closed()
        #expect(await log.first() == "abc")
    }

    @Test("Chunked content is refused once it is longer than the limit")
    func tooLong() async throws {
        let client = MemoryConnection(Echo(limit: 4))
        client.send(Self.chunked + "4\r\nabcd\r\n")
        await client.settle()
        #expect(client.record.output.isEmpty)
        client.send("1\r\ne\r\n")
        // The length of the rest is unknown.
        let record = try await client.output("HTTP/1.1 413 ")
        #expect(record.text.contains(Sample.close))
    }

    @Test("The parser's content limit applies wherever the bytes are split")
    func parserLimit() async throws {
        let configuration = ServerConfiguration.test { $0.parserLimits.contentBytes = 4 }
        let message = Array(Sample.post("abcde").utf8)
        for index in 1..<message.count {
            let client = MemoryConnection(Echo(), configuration: configuration)
            client.feed([.bytes(Array(message[..<index])), .bytes(Array(message[index...]))])
            let record = try await client.output("HTTP/1.1 ")
            #expect(record.text.hasPrefix("HTTP/1.1 413 "), "split at \(index)")
        }
    }

    @Test("Content that arrives with its head is accepted at the limit and refused above it")
    func wholeAtLimit() async throws {
        for (content, answer) in [("abc", "POST abc"), ("abcd", "POST abcd")] {
            let client = MemoryConnection(Echo(limit: 4))
            client.send(Sample.post(content) + Sample.get("/"))
            let record = try await client.output(Sample.ok("GET "))
            #expect(record.text == Sample.ok(answer) + Sample.ok("GET "))
        }
        let client = MemoryConnection(Echo(limit: 4))
        client.send(Sample.post("abcde") + Sample.get("/"))
        let record = try await client.output(Sample.ok("GET "))
        #expect(record.text.hasPrefix("HTTP/1.1 413 "))
    }

    @Test("Received content is counted the same wherever it is split")
    func counts() async throws {
        let request = Array(Sample.post("abcdef").utf8)
        for cut in 1...request.count {
            let (records, reports) = (ServerLog<Int64>(), ServerLog<Int64>())
            var configuration = ServerConfiguration.test {
                $0.accessLog = { records.add($0.receivedBytes) }
            }
            configuration.hooks.contentReceived = { _, received, _ in reports.add(received) }
            let client = MemoryConnection(Echo(), configuration: configuration)
            client.feed([.bytes(Array(request[..<cut])), .bytes(Array(request[cut...])), .end])
            _ = try await client.closed()
            #expect(records.entries == [6], "cut at \(cut)")
            #expect(reports.entries.last == 6, "cut at \(cut)")
        }
    }

    @Test("Content longer than the read buffer is collected, too")
    func longContent() async throws {
        let content = String(repeating: "0123456789", count: 60_000)
        let client = MemoryConnection(Echo(limit: 600_000))
        client.send(Sample.post(content) + Sample.post("x"))
        try await client.output(Sample.ok("POST x"))
        #expect(client.record.text.contains("Content-Length: 600005\r\n"))
    }

    @Test("Malformed content is 400, and the handler is not called")
    func malformed() async throws {
        let log = ServerLog<Int>()
        let client = MemoryConnection(
            SyncAnswer { _ in
                .withContent(limit: 100) {
                    log.add($0.count); return .now(.text(""))
                }
            })
        client.send(Self.chunked + "3\r\nabc\r\nx\r\n")
        let record = try await client.output("HTTP/1.1 400 ")
        #expect(record.text.contains(Sample.close))
        #expect(log.entries.isEmpty)
    }

    @Test("The handler is not called with truncated content")
    func cutOff() async throws {
        let log = ServerLog<Int>()
        let client = MemoryConnection(
            SyncAnswer { _ in
                .withContent(limit: 100) {
                    log.add($0.count); return .now(.text(""))
                }
            })
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
        client.end()
        let record = try await client.closed()
        #expect(record.output.isEmpty)
        #expect(log.entries.isEmpty)
    }

    @Test("Slow content is 408")
    func slow() async throws {
        let configuration = ServerConfiguration.test {
            $0.contentGrace = .seconds(2_000)
            $0.contentRate = 5
        }
        let client = MemoryConnection(Echo(limit: 50_000), configuration: configuration)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\nabc")
        await client.settle()
        await client.expire()
        let record = try await client.output("HTTP/1.1 408 ")
        #expect(record.text.contains(Sample.close))
    }

    @Test("Coded content is decoded")
    func coded() async throws {
        let content = try Array("abc".utf8).gzipped(level: 6)
        let client = MemoryConnection(Echo())
        let head =
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n"
            + "Content-Length: \(content.count)\r\n\r\n"
        client.feed([.bytes(Array(head.utf8) + content)])
        try await client.output(Sample.ok("POST abc"))
    }

    @Test("The closure may answer later, throw an error, or ask for the content again")
    func furtherAnswers() async throws {
        let client = MemoryConnection(
            SyncAnswer { request in
                .withContent(limit: 100) { content in
                    switch request.path {
                    case "/later":
                        return .later {
                            await Task.yield()
                            return .text("later \(content.count)")
                        }
                    case "/again":
                        return .withContent(limit: 1) { .now(.text("again \($0.count)")) }
                    default: throw HTTPError(.conflict)
                    }
                }
            })
        for path in ["/later", "/again", "/"] {
            client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
        }
        let record = try await client.output("HTTP/1.1 409 ")
        #expect(record.text.hasPrefix(Sample.ok("later 3") + Sample.ok("again 0")))
    }

    @Test(
        "Content that a handler keeps does not change, and uses little more memory than its bytes")
    func kept() async throws {
        let log = ServerLog<[UInt8]>()
        let client = MemoryConnection(
            SyncAnswer { _ in
                .withContent(limit: 100_000) {
                    log.add($0)
                    return .now(.text("\($0.count)"))
                }
            })
        let texts = [String(repeating: "a", count: 30_000), "b", "c", "de", "last"]
        for text in texts { client.send(Sample.post(text)) }
        _ = try await client.output(Sample.ok("4"))
        #expect(log.entries == texts.map { Array($0.utf8) })
        for content in log.entries { #expect(content.capacity <= 2 * content.count + 64) }
    }

    @Test("Middleware changes such responses, also those of errors")
    func middleware() async throws {
        var router = Router()
        router.route(.post, "/", to: Echo(limit: 4))
        let options = SecurityFieldsHandler.Options()
        let client = MemoryConnection(SecurityFieldsHandler(router, options: options))
        client.send(Sample.post("abc") + Sample.post("abcde"))
        let record = try await client.output("HTTP/1.1 413 ")
        #expect(record.count(of: "X-Content-Type-Options: nosniff") == 2)
        #expect(record.text.contains("\r\n\r\nPOST abc"))
    }

    @Test("An async handler can await such a handler")
    func insideOfAsync() async throws {
        let client = MemoryConnection(
            AsyncHandler { request in try await Echo().respond(to: request) })
        client.send(Sample.post("abc"))
        try await client.output(Sample.ok("POST abc"))
    }
}

/// Answers with the result of a closure, which may be any kind of answer.
private struct SyncAnswer: Handler {
    let body: @Sendable (Request) throws -> Answer

    init(_ body: @escaping @Sendable (Request) throws -> Answer) { self.body = body }

    func answer(_ request: Request) throws -> Answer { try body(request) }
}

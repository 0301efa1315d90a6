import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("RFC 9112, 8 and 9.5: Ends of connections")
struct HalfCloseTests {
    /// Linux numbers; any error code would do.
    private static let (brokenPipe, connectionReset): (CInt, CInt) = (32, 104)

    @Test("A client that ends its stream gets all responses", arguments: [true, false])
    func finAfterRequests(_ isImmediate: Bool) async throws {
        let client = MemoryConnection(isImmediate ? Sample.target : Sample.targetLater)
        client.send(Sample.get("/1") + Sample.get("/2") + Sample.get("/3"))
        client.end()
        let answers = ServerAnswer.all(try await client.closed().output)
        #expect(answers.map(\.text) == ["/1", "/2", "/3"])
    }

    @Test(
        "9.6: After the end of the client's stream the last response has Connection: close",
        arguments: [true, false])
    func lastAnswerCloses(_ isImmediate: Bool) async throws {
        let content = [UInt8](repeating: 0x61, count: 500_000)
        let respond: @Sendable (Request) -> Response = { request in
            request.target.text == "/large"
                ? Response(.ok, body: .bytes(content)) : .text(request.target.text)
        }
        let client = MemoryConnection(
            isImmediate ? SyncHandler(respond) as any Handler : AsyncHandler { respond($0) },
            peer: MemoryTransport.Peer(credit: 100))
        client.send(Sample.get("/large") + Sample.get("/2") + Sample.get("/3"))
        client.end()
        await client.settle()
        client.read(1_000_000)
        let answers = ServerAnswer.all(try await client.closed().output)
        #expect(answers.map { $0["Connection"] } == [nil, nil, "close"])
        #expect(answers.map(\.content.count) == [500_000, 2, 2])
    }

    @Test(
        "9.6: The response before an incomplete request at the end has Connection: close",
        arguments: ["\r\n", "GET /3 HTTP/1.1\r\nHost: a\r\n", "G"], [true, false])
    func lastWholeRequestCloses(_ rest: String, _ isImmediate: Bool) async throws {
        let content = [UInt8](repeating: 0x61, count: 500_000)
        let respond: @Sendable (Request) -> Response = { request in
            request.target.text == "/large"
                ? Response(.ok, body: .bytes(content)) : .text(request.target.text)
        }
        let client = MemoryConnection(
            isImmediate ? SyncHandler(respond) as any Handler : AsyncHandler { respond($0) },
            peer: MemoryTransport.Peer(credit: 100))
        client.send(Sample.get("/large") + Sample.get("/2") + rest)
        client.end()
        await client.settle()
        client.read(1_000_000)
        let answers = ServerAnswer.all(try await client.closed().output)
        #expect(answers.map { $0["Connection"] } == [nil, "close"])
        #expect(answers.map(\.content.count) == [500_000, 2])
    }

    @Test("9.6: Bytes after the last request do not reset the connection before its response")
    func bytesBehindTheLast() async throws {
        let client = MemoryConnection(Sample.target)
        client.send(Sample.get("/last", Sample.close) + "more")
        try await client.output("/last")
        await client.settle()
        // Closing a socket with unread input would reset the connection.
        #expect(client.record.hasShutDownWriting && !client.record.isClosed)
        client.end()
        #expect(try await client.closed().text == Sample.ok("/last", Sample.close))
    }

    @Test(
        "A client that ends its stream gets complete responses, however slowly it reads",
        arguments: [true, false])
    func finAndSlowReader(_ isClosing: Bool) async throws {
        let content = [UInt8](repeating: 0x61, count: 500_000)
        let client = MemoryConnection(
            SyncHandler { _ in Response(.ok, body: .bytes(content)) },
            peer: MemoryTransport.Peer(credit: 100))
        client.send(Sample.get("/", isClosing ? Sample.close : ""))
        client.end()
        await client.settle()
        #expect(!client.record.isClosed)
        client.read(600_000)
        let record = try await client.closed()
        #expect(ServerAnswer.all(record.output).map(\.content.count) == [500_000])
        #expect(record.needlessEvents == 0)
    }

    @Test("A streamed response continues after the client has ended its stream")
    func finDuringStream() async throws {
        let gate = ServerGate()
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        try await writer.write("first ")
                        await gate.wait()
                        try await writer.write("second")
                    })
            })
        client.send(Sample.get("/"))
        try await client.output("first")
        client.end()
        await client.settle()
        #expect(!client.record.isClosed)
        gate.open()
        let record = try await client.closed()
        #expect(ServerAnswer.all(record.output).map(\.text) == ["first second"])
        #expect(record.needlessEvents == 0)
    }

    @Test(
        "The end of the stream within a head runs no handler",
        arguments: ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n", "\r\n"])
    func finInHead(_ part: String) async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            SyncHandler { request in
                log.add(request.target.text)
                return Response(.ok)
            })
        client.send(Sample.get("/whole") + part)
        client.end()
        let record = try await client.closed()
        #expect(log.entries == ["/whole"])
        #expect(record.count(of: "HTTP/1.1 200") == 1)
    }

    enum Ending: Sendable, CaseIterable { case end, reset, hangUp }

    private static let partialContents = [
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
    ]

    @Test(
        "The end of the stream within content is an error for the handler, not the content's end",
        arguments: partialContents, Ending.allCases)
    func endInContent(_ request: String, _ ending: Ending) async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            AsyncHandler { request in
                do {
                    var length = 0
                    for try await piece in request.body {
                        length += piece.count
                        if length == 3 { log.add("begun") }
                    }
                    log.add("whole")
                } catch {
                    log.add("\(error)")
                    throw error
                }
                return Response(.ok)
            })
        client.send(request)
        _ = await log.first { $0 == "begun" }
        switch ending {
        case .end: client.end()
        case .reset: client.feed([.failure(Self.connectionReset)])
        case .hangUp: client.hangUp()
        }
        #expect(await log.first() == "connectionLost")
        let record = try await client.closed()
        #expect(record.output.isEmpty)
        await client.settle()
        #expect(log.entries.count == 2)
    }

    @Test(
        "A queued request with truncated content does not keep the connection open",
        arguments: partialContents, [true, false])
    func endInContentBehindAnother(_ request: String, _ isSlow: Bool) async throws {
        let (gate, log) = (ServerGate(), ServerLog<String>())
        let reasons = ServerLog<ConnectionCloseReason>()
        let client = MemoryConnection(
            AsyncHandler { request in
                guard request.target.text == "/" else {
                    log.add("begun")
                    await gate.wait()
                    return .text(String(repeating: "a", count: 20_000))
                }
                for try await _ in request.body {}
                log.add("whole")
                return Response(.ok)
            },
            // No deadline closes the connection.
            configuration: .test {
                $0.contentRate = 0
                $0.hooks.closed = { reasons.add($1) }
            }, peer: isSlow ? MemoryTransport.Peer(credit: 100) : MemoryTransport.Peer())
        client.send(Sample.get("/1") + request)
        _ = await log.first()
        client.end()
        await client.settle()
        gate.open()
        if isSlow {
            try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
            await client.settle()
            #expect(!client.record.isClosed)
            client.read(1_000_000)
        }
        try await client.wait(for: "the answer") { $0.output.count > 20_000 }
        await client.settle()
        #expect(reasons.entries == [.connectionLost])
        #expect(ServerAnswer.all(client.record.output).map(\.content.count) == [20_000])
        #expect(log.entries == ["begun"])
    }

    @Test("A lost client cancels the handler's task", arguments: [Ending.reset, .hangUp])
    func cancelsHandler(_ ending: Ending) async throws {
        let (gate, log) = (ServerGate(), ServerLog<String>())
        let client = MemoryConnection(
            AsyncHandler { request in
                log.add("begun")
                await gate.wait()
                log.add(Task.isCancelled ? "cancelled" : "not cancelled")
                return Response(.ok)
            })
        client.send(Sample.get("/"))
        _ = await log.first()
        if ending == .hangUp {
            client.hangUp()
        } else {
            client.feed([.failure(Self.connectionReset)])
        }
        #expect(await log.first() == "cancelled")
        let record = try await client.closed()
        #expect(record.output.isEmpty)
        #expect(record.closes == 1)
        await client.settle()
        let isGone = await client.onLoop { $0 == nil }
        #expect(isGone)
    }

    /// How a handler reads content.
    enum Reading: CaseIterable { case inPieces, atOnce, restInPieces, restAtOnce }

    @Test(
        "Reading fails once the client is gone, so received content never looks shorter",
        arguments: Reading.allCases, [Ending.reset, .hangUp])
    func endBehindContent(_ reading: Reading, _ ending: Ending) async throws {
        let (gate, log) = (ServerGate(), ServerLog<String>())
        let client = MemoryConnection(
            AsyncHandler { request in
                let pieces = request.body.makeAsyncIterator()
                do {
                    if reading == .restInPieces || reading == .restAtOnce {
                        var first = pieces
                        log.add(String(decoding: try await first.next() ?? [], as: UTF8.self))
                    }
                    log.add("begun")
                    await gate.wait()
                    var length = 0
                    if reading == .atOnce || reading == .restAtOnce {
                        length = try await request.body.collect().count
                    } else {
                        var rest = pieces
                        while let piece = try await rest.next() { length += piece.count }
                    }
                    log.add("\(length) bytes")
                } catch {
                    log.add("\(error)")
                }
                return Response(.ok)
            })
        // Long, because short pieces would be joined.
        let long = String(repeating: "d", count: 0x4E20)
        let content = "3\r\nabc\r\n4E20\r\n\(long)\r\n0\r\n\r\n"
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + content)
        _ = await log.first { $0 == "begun" }
        await client.settle()
        if ending == .hangUp {
            client.hangUp()
        } else {
            client.feed([.failure(Self.connectionReset)])
        }
        _ = try await client.closed()
        gate.open()
        #expect(await log.first { $0 != "begun" && $0 != "abc" } == "connectionLost")
    }

    @Test("A failing send ends a stream with an error", arguments: [brokenPipe, connectionReset])
    func failingSend(_ code: CInt) async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        do {
                            while true { try await writer.write("0123456789") }
                        } catch {
                            log.add("\(error)")
                            throw error
                        }
                    })
            }, peer: MemoryTransport.Peer(failure: (1_000, code)))
        client.send(Sample.get("/"))
        #expect(await log.first() == "connectionLost")
        let record = try await client.closed()
        #expect(record.output.count == 1_000)
    }

    @Test("A send that fails while bytes wait closes the connection once")
    func failingLater() async throws {
        let client = MemoryConnection(
            SyncHandler { _ in Response(.ok, body: .bytes(Array(repeating: 0, count: 300_000))) },
            peer: MemoryTransport.Peer(
                sendLimit: 1_000, failure: (50_000, Self.connectionReset)))
        client.send(Sample.get("/") + Sample.get("/"))
        let record = try await client.closed()
        #expect(record.output.count == 50_000)
        #expect(record.closes == 1)
    }

    @Test("A write after the end of its response fails")
    func lateWriter() async throws {
        let (writers, results) = (ServerLog<ResponseWriter>(), ServerLog<String>())
        let client = MemoryConnection(
            SyncHandler { _ in
                Response(.ok, body: .stream { writer in writers.add(writer) })
            })
        client.send(Sample.get("/"))
        try await client.output("0\r\n\r\n")
        let writer = try #require(await writers.first())
        do {
            try await writer.write("late")
            results.add("written")
        } catch {
            results.add("\(error)")
        }
        #expect(results.entries == ["connectionLost"])
        client.send(Sample.get("/"))
        let record = try await client.output("0\r\n\r\n", times: 2)
        #expect(record.count(of: "late") == 0)
    }
}

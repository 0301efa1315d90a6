import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Connection hooks")
struct ConnectionHooksTests {
    private let log = ServerLog<String>()

    /// A test configuration. `change` installs hooks, which write to the log.
    private func configuration(
        _ change: (inout ConnectionHooks, ServerLog<String>) -> Void
    ) -> ServerConfiguration {
        let log = log
        return .test { change(&$0.hooks, log) }
    }

    // MARK: Connections

    @Test("A peer that is not admitted is closed before anything is read")
    func refused() async throws {
        let counters = ServerCounters()
        var configuration = configuration { hooks, log in
            hooks.admits = { connection in
                log.add("asked for \(connection.peer.host)")
                return false
            }
            hooks.opened = { _ in log.add("opened") }
            hooks.closed = { _, _ in log.add("closed") }
        }
        configuration.metrics = counters
        let client = MemoryConnection(
            Sample.target, configuration: configuration,
            address: PeerAddress(ipv4: (192, 0, 2, 7), port: 4_000),
            input: [.bytes(Array(Sample.get("/").utf8))])
        let record = try await client.closed()
        await client.settle()
        #expect(record.received == 0)
        #expect(record.output.isEmpty)
        #expect(log.entries == ["asked for 192.0.2.7"])
        #expect(counters.figures.refusedConnections == 1)
        #expect(counters.figures.connections == 0)
    }

    @Test("A connection reports its peer, bytes and number of requests until it closes")
    func properties() async throws {
        let configuration = configuration { hooks, log in
            hooks.opened = { log.add("opened \($0.bytesReceived) \($0.requestCount)") }
            hooks.closed = { connection, reason in
                log.add(
                    "\(reason) \(connection.bytesReceived) \(connection.bytesSent) "
                        + "\(connection.requestCount) \(connection.peer) \(connection.local)")
            }
        }
        let client = MemoryConnection(
            Sample.target, configuration: configuration,
            address: PeerAddress(ipv6: (0x2001_0DB8_0000_0000, 1), port: 80))
        let requests = Sample.get("/1") + Sample.get("/2", Sample.close)
        client.send(requests)
        client.end()
        let record = try await client.closed()
        await client.settle()
        let sizes = "\(requests.utf8.count) \(record.output.count)"
        #expect(
            log.entries == ["opened 0 0", "finished \(sizes) 2 [2001:db8::1]:80 unix:test"])
    }

    @Test("Hooks report raw bytes as they are received and sent")
    func rawBytes() async throws {
        let (received, sent) = (ServerLog<Int>(), ServerLog<Int>())
        let configuration = ServerConfiguration.test {
            $0.hooks.received = { received.add($1) }
            $0.hooks.sent = { sent.add($1) }
        }
        let content = [UInt8](repeating: 0x61, count: 100_000)
        let client = MemoryConnection(
            SyncHandler { _ in Response(.ok, body: .bytes(content)) },
            configuration: configuration, peer: MemoryTransport.Peer(sendLimit: 7_000))
        client.send("GET / HT", "TP/1.1\r\nHost: a\r\n" + Sample.close + "\r\n")
        client.end()
        let record = try await client.closed()
        #expect(received.entries.reduce(0, +) == record.received)
        #expect(received.entries.count == 2)
        #expect(sent.entries.reduce(0, +) == record.output.count)
        #expect(sent.entries.count > 10)
    }

    // MARK: Reasons

    enum Ending: String, Sendable, CaseIterable {
        case finished, clientClosed, endInHead, hangUpIdle, hangUpBusy, malformed, stream, shutdown
        case idle, slowHead, silence
    }

    static let reasons: [Ending: ConnectionCloseReason] = [
        .finished: .finished, .clientClosed: .clientClosed, .endInHead: .connectionLost,
        .hangUpIdle: .clientClosed, .hangUpBusy: .connectionLost, .malformed: .malformedRequest,
        .stream: .responseFailed, .shutdown: .shutdown, .idle: .timedOut(.idle),
        .slowHead: .timedOut(.head), .silence: .timedOut(.head),
    ]

    @Test("The closed hook gets the reason", arguments: Ending.allCases)
    func reason(_ ending: Ending) async throws {
        let reasons = ServerLog<ConnectionCloseReason>()
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                if request.path == "/wait" { await gate.wait() }
                guard request.path == "/stream" else { return Response(.ok, body: .text("a")) }
                return Response(.ok, body: .stream { _ in throw HTTPError(.badGateway) })
            }, configuration: .test { $0.hooks.closed = { reasons.add($1) } })
        try await act(ending, on: client)
        #expect(await reasons.first() == Self.reasons[ending])
        gate.open()
    }

    private func act(_ ending: Ending, on client: MemoryConnection) async throws {
        switch ending {
        case .finished: client.send(Sample.get("/", Sample.close))
        case .clientClosed:
            client.send(Sample.get("/"))
            // If the input ended before the response, the server itself would close after it.
            try await client.output("200 OK")
            await client.settle()
            client.end()
        case .endInHead:
            client.send("GET / HTTP/1.1\r\n")
            client.end()
        case .hangUpIdle:
            client.send(Sample.get("/"))
            try await client.output("200 OK")
            await client.settle()
            client.hangUp()
        case .hangUpBusy:
            client.send(Sample.get("/wait"))
            await client.settle()
            client.hangUp()
        case .malformed:
            client.send("bad\r\n\r\n")
            client.end()
        case .stream: client.send(Sample.get("/stream"))
        case .shutdown:
            client.send(Sample.get("/"))
            try await client.output("200 OK")
            await client.onLoop { $0?.shutDown() }
        case .idle:
            client.send(Sample.get("/"))
            try await client.output("200 OK")
            await client.settle()
            await client.expire()
        case .slowHead:
            client.send("GET")
            await client.settle()
            await client.expire()
            try await client.output("HTTP/1.1 408 ")
            await client.settle()
            await client.expire()
        case .silence: await client.expire()
        }
    }

    // MARK: Requests

    @Test(
        "Hooks report the beginning and the end of each request, with its id",
        arguments: [true, false])
    func requests(_ isImmediate: Bool) async throws {
        let configuration = configuration { hooks, log in
            hooks.requestBegan = { log.add("began \($0.id.number) \($0.path)") }
            hooks.requestEnded = { record in
                let id = record.request.map { "\($0.id.number) \($0.path)" } ?? "no request"
                log.add("ended \(id) \(record.status.code) \(record.isComplete)")
            }
        }
        let client = MemoryConnection(
            isImmediate ? Sample.target : Sample.targetLater, configuration: configuration)
        client.send(Sample.get("/a") + Sample.get("/b") + "bad\r\n\r\n")
        client.end()
        try await client.closed()
        #expect(
            log.entries == [
                "began 1 /a", "ended 1 /a 200 true", "began 2 /b", "ended 2 /b 200 true",
                "ended no request 400 true",
            ])
    }

    @Test("A request id contains the connection's id, and is unique")
    func ids() async throws {
        let ids = ServerLog<RequestID>()
        let handler = SyncHandler { request in
            ids.add(request.id)
            #expect(request.id.connection == request.connection.id)
            return Response(.ok)
        }
        for _ in 0..<3 {
            let client = MemoryConnection(handler)
            client.send(Sample.get("/1") + Sample.get("/2", Sample.close))
            client.end()
            try await client.closed()
        }
        #expect(Set(ids.entries).count == 6)
        #expect(ids.entries.map(\.number) == [1, 2, 1, 2, 1, 2])
    }

    @Test("A lost client cancels the handler, and the requestEnded hook gets the reason")
    func clientGone() async throws {
        let (log, ends) = (log, ServerLog<ConnectionCloseReason?>())
        let configuration = ServerConfiguration.test {
            $0.hooks.requestEnded = { ends.add($0.failure) }
        }
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { _ in
                log.add("begun")
                await gate.wait()
                log.add(Task.isCancelled ? "cancelled" : "not cancelled")
                return Response(.ok)
            }, configuration: configuration)
        client.send(Sample.get("/"))
        _ = await log.first()
        client.hangUp()
        #expect(await log.first() == "cancelled")
        #expect(await ends.first() == .some(.connectionLost))
        try await client.closed()
    }

    @Test("whenAnswered calls back once, even if the client has disconnected")
    func answerEndOfTheGone() async throws {
        let (log, ends) = (log, ServerLog<ConnectionCloseReason?>())
        let gate = ServerGate()
        let client = MemoryConnection(
            AsyncHandler { request in
                request.whenAnswered { ends.add($1) }
                log.add("begun")
                await gate.wait()
                return Response(.ok)
            })
        client.send(Sample.get("/"))
        _ = await log.first()
        client.hangUp()
        try await client.closed()
        gate.open()
        #expect(await ends.first() == .some(.connectionLost))
        await client.settle()
        #expect(ends.entries == [.connectionLost])
    }

    @Test("whenAnswered also calls back after an error of the handler", arguments: [true, false])
    func answerEndOfAnError(_ isLater: Bool) async throws {
        struct Failing: Handler {
            let isLater: Bool
            let ends: ServerLog<ConnectionCloseReason?>
            func answer(_ request: Request) throws -> Answer {
                let ends = ends
                request.whenAnswered { ends.add($1) }
                guard isLater else { throw HTTPError(.conflict) }
                return .later { throw HTTPError(.conflict) }
            }
        }
        let ends = ServerLog<ConnectionCloseReason?>()
        let client = MemoryConnection(Failing(isLater: isLater, ends: ends))
        client.send(Sample.get("/", Sample.close))
        client.end()
        #expect(try await client.closed().text.hasPrefix("HTTP/1.1 409 "))
        #expect(ends.entries == [nil])
    }

    // MARK: Progress

    @Test(
        "A hook reports received content as it arrives, with its total length",
        arguments: [true, false])
    func receivedProgress(_ isChunked: Bool) async throws {
        let configuration = configuration { hooks, log in
            hooks.contentReceived = { request, bytes, total in
                log.add("\(request.path) \(bytes) of \(total.map(String.init) ?? "?")")
            }
        }
        let client = MemoryConnection(Sample.echo, configuration: configuration)
        if isChunked {
            client.send("POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            client.send("3\r\nabc\r\n", "2\r\nde\r\n0\r\n\r\n")
            try await client.output("POST abcde")
            #expect(log.entries == ["/c 3 of ?", "/c 5 of ?"])
        } else {
            client.send("POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n")
            let half = String(repeating: "a", count: 20_000)
            client.send(half, half)
            try await client.output("POST aaa")
            #expect(log.entries == ["/c 20000 of 40000", "/c 40000 of 40000"])
        }
    }

    @Test("A hook reports sent content as it leaves, with its total length")
    func sentProgress() async throws {
        let progress = ServerLog<[Int64?]>()
        let content = [UInt8](repeating: 0x61, count: 100_000)
        let client = MemoryConnection(
            SyncHandler { _ in Response(.ok, body: .bytes(content)) },
            configuration: .test { $0.hooks.contentSent = { progress.add([$1, $2]) } },
            peer: MemoryTransport.Peer(sendLimit: 9_999))
        client.send(Sample.get("/", Sample.close))
        client.end()
        try await client.closed()
        let bytes = progress.entries.compactMap { $0[0] }
        #expect(progress.entries.allSatisfy { $0[1] == 100_000 })
        #expect(bytes.count > 8)
        #expect(bytes == bytes.sorted() && Set(bytes).count == bytes.count)
        #expect(bytes.last == 100_000)
    }

    @Test("A stream of unknown length is reported, too; a response without content is not")
    func sentStream() async throws {
        let progress = ServerLog<[Int64?]>()
        let client = MemoryConnection(
            SyncHandler { request in
                guard request.path == "/s" else { return Response(.noContent) }
                return Response(
                    .ok,
                    body: .stream { writer in
                        try await writer.write("abc")
                        try await writer.write("de")
                    })
            }, configuration: .test { $0.hooks.contentSent = { progress.add([$1, $2]) } })
        client.send(Sample.get("/s") + Sample.get("/none", Sample.close))
        client.end()
        try await client.closed()
        #expect(progress.entries == [[3, nil], [5, nil]])
    }

    // MARK: Descriptions and fields of requests

    @Test("A description shows no secrets and no content")
    func description() async throws {
        let texts = ServerLog<String>()
        let client = MemoryConnection(
            SyncHandler { request in
                texts.add(request.description)
                texts.add(request.debugDescription)
                return Response(.ok)
            })
        client.send(
            Sample.post(
                "hidden content",
                "Authorization: Basic c2VjcmV0\r\nCOOKIE: id=secret\r\nX-Api-Key: secret\r\n"
                    + "User-Agent: test\r\n"
            ).replacing("POST /", with: "POST /path?token=secret", maxReplacements: 1))
        try await client.output("200 OK")
        let all = texts.entries.joined(separator: "\n")
        #expect(all.contains("POST /path?… HTTP/1.1 from unix"))
        #expect(all.contains("User-Agent: test"))
        #expect(all.contains("Authorization: …"))
        for secret in ["secret", "c2VjcmV0", "hidden"] { #expect(!all.contains(secret)) }
    }

    @Test("Field names are not case-sensitive", arguments: ["depth", "DEPTH", "Depth"])
    func spelling(_ name: String) async throws {
        let client = MemoryConnection(
            SyncHandler { Response(.ok, body: .text($0.fields["Depth"] ?? "none")) })
        client.send(Sample.get("/", "\(name): 1\r\n"))
        try await client.output(Sample.ok("1"))
    }

    @Test(
        "Invalid input from a peer does not stop the server",
        arguments: [
            "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "GET /%zz%00/../.. HTTP/1.1\r\nHost: a\r\nCookie: =;=\r\nAccept: ,;q=\r\n\r\n",
        ])
    func junk(_ bytes: String) async throws {
        let client = MemoryConnection(Sample.target)
        client.send(bytes)
        client.end()
        try await client.closed()
        let next = MemoryConnection(Sample.target)
        next.send(Sample.get("/next"))
        try await next.output(Sample.ok("/next"))
    }
}

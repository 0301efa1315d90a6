import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("RFC 9112, 9.5: Slow clients")
struct DeadlineTests {
    private static let configuration = ServerConfiguration.test {
        $0.headTimeout = .seconds(1_000)
        $0.idleTimeout = .seconds(6_000)
        $0.writeTimeout = .seconds(3_000)
        $0.contentGrace = .seconds(2_000)
        $0.contentRate = 5
    }

    private func client(
        _ handler: any Handler, peer: MemoryTransport.Peer = MemoryTransport.Peer()
    ) -> MemoryConnection {
        MemoryConnection(handler, configuration: Self.configuration, peer: peer)
    }

    /// The configured timeout that the deadline belongs to. A test takes far less than the
    /// difference between two timeouts.
    private func deadline(_ client: MemoryConnection) async -> String {
        guard let seconds = await client.secondsLeft() else { return "none" }
        return switch seconds {
        case 500...1_000: "head"
        case 1_500...2_000: "content"
        case 2_500...3_000: "write"
        case 5_500...6_000: "idle"
        default: "\(seconds) s"
        }
    }

    @Test("A client that sends nothing is disconnected without a response")
    func silent() async throws {
        let client = client(Sample.target)
        #expect(await deadline(client) == "head")
        await client.expire()
        let last = try await client.closed()
        #expect(last.output.isEmpty)
    }

    @Test("A slow head is 408 at its deadline, which further bytes do not move")
    func slowHead() async throws {
        let client = client(Sample.target)
        client.sendEachByte("GET / HTTP/1.1\r\nHos")
        await client.settle()
        let before = await client.onLoop { $0?.deadline }
        client.sendEachByte("t: a")
        await client.settle()
        #expect(await client.onLoop { $0?.deadline } == before)
        #expect(await deadline(client) == "head")
        await client.expire()
        let record = try await client.output("HTTP/1.1 408 ")
        #expect(record.text.contains(Sample.close))
        client.send("\r\n\r\n")
        client.end()
        let last = try await client.closed()
        #expect(last.count(of: "HTTP/1.1") == 1)
    }

    @Test("The deadline of a second head starts with its first byte")
    func slowSecondHead() async throws {
        let client = client(Sample.target)
        client.send(Sample.get("/1"))
        try await client.output("/1")
        #expect(await deadline(client) == "idle")
        client.send("GET")
        await client.settle()
        #expect(await deadline(client) == "head")
        await client.expire()
        try await client.output("HTTP/1.1 408 ")
    }

    @Test("An idle connection is closed without a response", arguments: [true, false])
    func idle(_ isImmediate: Bool) async throws {
        let client = client(isImmediate ? Sample.target : Sample.targetLater)
        client.send(Sample.get("/1"))
        try await client.output("/1")
        await client.settle()
        #expect(await deadline(client) == "idle")
        await client.expire()
        let last = try await client.closed()
        #expect(last.text == Sample.ok("/1"))
    }

    @Test("A running handler has no deadline")
    func slowHandler() async throws {
        let gate = ServerGate()
        let client = client(
            AsyncHandler { _ in
                await gate.wait()
                return Response(.ok, body: .text("done"))
            })
        client.send(Sample.get("/"))
        await client.settle()
        #expect(await deadline(client) == "none")
        gate.open()
        try await client.output("done")
    }

    private static let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n"

    @Test("A client that reads the system's buffer at the minimum rate gets a new write deadline")
    func slowButSteadyReader() async throws {
        let handler = SyncHandler { _ in
            Response(.ok, body: .text(String(repeating: "a", count: 100_000)))
        }
        let client = client(handler, peer: MemoryTransport.Peer(credit: 1_000))
        client.leave(unacknowledged: 100_000)
        client.send(Sample.get("/"))
        try await client.wait(for: "a part") { $0.output.count == 1_000 }
        #expect(await deadline(client) == "write")
        // 5 bytes a second in 3,000 seconds.
        for left in [85_000, 20_000] {
            client.leave(unacknowledged: left)
            await client.expire()
            #expect(await deadline(client) == "write")
        }
        client.leave(unacknowledged: 5_001)
        await client.expire()
        try await client.closed()
    }

    @Test("The bytes of an unfinished TLS record count for the content rate")
    func slowRecord() async throws {
        let client = client(Sample.echo)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n")
        await client.settle()
        #expect(await deadline(client) == "content")
        for _ in 0..<2 {
            client.send(unreadable: 10_000)
            await client.expire()
            #expect(await deadline(client) == "content")
        }
        await client.expire()
        try await client.output("HTTP/1.1 408 ")
    }

    @Test("Content slower than the minimum rate is 408")
    func slowContent() async throws {
        let client = client(Sample.echo)
        client.send(Self.head + String(repeating: "a", count: 9_999))
        await client.settle()
        #expect(await deadline(client) == "content")
        await client.expire()
        let record = try await client.output("HTTP/1.1 408 ")
        #expect(record.text.contains(Sample.close))
    }

    @Test("Content at the minimum rate gets a new deadline each time")
    func steadyContent() async throws {
        let client = client(Sample.echo)
        client.send(Self.head)
        for _ in 0..<5 {
            client.send(String(repeating: "a", count: 10_000))
            await client.settle()
            if client.record.output.isEmpty { #expect(await deadline(client) == "content") }
            await client.expire()
        }
        try await client.output("HTTP/1.1 200 ")
    }

    @Test("The content rate is not checked while the handler does not read")
    func handlerBehind() async throws {
        let gate = ServerGate()
        let client = client(
            AsyncHandler { request in
                await gate.wait()
                return Response(.ok, body: .text("\(try await request.body.collect().count)"))
            })
        client.send(Self.head + "abc")
        for _ in 0..<3 {
            await client.settle()
            await client.expire()
        }
        #expect(client.record.output.isEmpty)
        gate.open()
        client.send(String(repeating: "a", count: 49_997))
        try await client.output(Sample.ok("50000"))
    }

    @Test("Slow content after the response closes the connection")
    func slowDiscard() async throws {
        let client = client(Sample.target)
        client.send(Self.head + "abc")
        try await client.output(Sample.ok("/"))
        #expect(await deadline(client) == "content")
        await client.expire()
        try await client.closed()
    }

    @Test("A client that sends nothing after 100 gets 408")
    func silentAfterContinue() async throws {
        let client = client(Sample.echo)
        client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        try await client.output("100 Continue")
        #expect(await deadline(client) == "content")
        await client.expire()
        try await client.output("HTTP/1.1 408 ")
    }

    @Test("A client that stops reading a response is disconnected; progress moves the deadline")
    func writeStall() async throws {
        let content = [UInt8](repeating: 0x61, count: 500_000)
        let client = client(
            SyncHandler { _ in Response(.ok, body: .bytes(content)) },
            peer: MemoryTransport.Peer(credit: 1_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        #expect(await deadline(client) == "write")
        let before = await client.onLoop { $0?.deadline } ?? 0
        client.read(1_000)
        try await client.wait(for: "progress") { $0.output.count == 2_000 }
        await client.settle()
        #expect(await client.onLoop { $0?.deadline ?? 0 } > before)
        await client.expire()
        let last = try await client.closed()
        #expect(last.output.count == 2_000)
    }

    @Test("After a blocked response is sent the idle deadline applies")
    func afterBlockedWrite() async throws {
        let content = [UInt8](repeating: 0x61, count: 100_000)
        let client = client(
            SyncHandler { _ in Response(.ok, body: .bytes(content)) },
            peer: MemoryTransport.Peer(credit: 1_000))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        client.read(200_000)
        try await client.wait(for: "all") { $0.output.count > 100_000 }
        await client.settle()
        #expect(await deadline(client) == "idle")
    }

    @Test("A head that begins during a blocked response has the head deadline afterwards")
    func headBehindBlockedWrite() async throws {
        let content = [UInt8](repeating: 0x61, count: 100_000)
        let client = client(
            SyncHandler { _ in Response(.ok, body: .bytes(content)) },
            peer: MemoryTransport.Peer(credit: 1_000))
        client.send(Sample.get("/") + "GET / HTTP")
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        client.read(200_000)
        try await client.wait(for: "all") { $0.output.count > 100_000 }
        await client.settle()
        #expect(await deadline(client) == "head")
    }

    @Test("A stream whose client stops reading is cancelled")
    func stalledStream() async throws {
        let log = ServerLog<String>()
        let client = client(
            SyncHandler { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        do {
                            while true { try await writer.write("0123456789") }
                        } catch {
                            log.add("\(error) \(Task.isCancelled)")
                            throw error
                        }
                    })
            }, peer: MemoryTransport.Peer(credit: 10))
        client.send(Sample.get("/"))
        try await client.wait(for: "a blocked send") { $0.interest.contains(.write) }
        await client.settle()
        #expect(await deadline(client) == "write")
        await client.expire()
        try await client.closed()
        #expect(await log.first() == "connectionLost true")
    }

    @Test("The event loop fires a deadline by itself")
    func realTime() async throws {
        let brief = ServerConfiguration.test { $0.headTimeout = .milliseconds(100) }
        let client = MemoryConnection(
            Sample.target, configuration: brief, loop: try EventLoop(label: "test.loop", linger: 1),
            input: [.bytes(Array("GET / HT".utf8))])
        try await client.output("HTTP/1.1 408 ")
    }

    @Test("A loop that has slept updates its time when it wakes")
    func wakingLoop() async throws {
        let loop = try EventLoop(label: "test.loop", linger: 0)
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume() }
        }
        // The test needs time to pass.
        try await Task.sleep(for: .milliseconds(200))
        let before = Syscalls.monotonic()
        let now = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: loop.now) }
        }
        #expect(now >= before)
    }
}

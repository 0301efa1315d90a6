import HTTPParser
import HTTPServerCore
import HTTPServerKit
import HTTPServerWebSocket
import TestSupport
import Testing
import ToolkitSystem
import WebSocketFrames

/// Sends every message back.
private func echo(
    origins: WebSocketOrigins = .sameHost, options: WebSocketOptions = WebSocketOptions(),
    ends: Locked<[WebSocketEnd]>? = nil
) -> SyncHandler {
    SyncHandler { request in
        try request.webSocket(protocols: ["b", "a"], origins: origins, options: options) { socket in
            defer { if let end = socket.end { ends?.withLock { $0.append(end) } } }
            for try await message in socket { try await socket.send(message) }
        }
    }
}

@Suite("RFC 6455: the server's side of a WebSocket")
struct WebSocketServerTests {
    @Test("The handshake of section 1.3 is accepted, and messages come back")
    func echoes() async throws {
        let client = Client(echo(), fields: "Sec-WebSocket-Protocol: x, a, b\r\n")
        let record = try await client.connection.output("\r\n\r\n")
        #expect(record.text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(record.text.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(record.text.contains("Sec-WebSocket-Protocol: a\r\n"))
        #expect(record.text.contains("Connection: upgrade\r\n"))
        client.send(1, "hello")
        try await client.output(serverFrame(1, "hello"))
        client.send(2, "bytes")
        try await client.output(serverFrame(2, "bytes"))
        client.send(1, "in ", isFinal: false)
        client.send(0, "parts")
        try await client.output(serverFrame(1, "in parts"))
    }

    @Test("Messages that come with the handshake, at every split, come back in order")
    func splits() async throws {
        let frames =
            Client.maskedFrame(1, Array("one".utf8)) + Client.maskedFrame(1, Array("two".utf8))
        for index in 0...frames.count {
            let client = Client(echo())
            client.connection.feed(
                [
                    .bytes(Array(frames[..<index])), .bytes(Array(frames[index...])),
                ].filter { if case .bytes(let bytes) = $0 { !bytes.isEmpty } else { true } })
            try await client.output(serverFrame(1, "one") + serverFrame(1, "two"))
        }
    }

    @Test("Each ping gets a pong although no task reads")
    func pings() async throws {
        let handler = SyncHandler { request in
            try request.webSocket { _ in try await Task.sleep(for: .seconds(600)) }
        }
        let client = Client(handler)
        client.send(9, "a")
        client.send(9, "b")
        try await client.output(serverFrame(10, "a") + serverFrame(10, "b"))
        client.connection.hangUp()
        try await client.connection.closed()
    }

    @Test("The client's close gets a close with the same code, which the handler sees")
    func clientCloses() async throws {
        let ends = Locked<[WebSocketEnd]>([])
        let client = Client(echo(ends: ends))
        client.send(1, "x")
        client.close(4000)
        try await client.output(serverFrame(1, "x") + closeFrame(4000))
        try await client.connection.closed()
        try await waitUntil { ends.withLock { !$0.isEmpty } }
        #expect(ends.withLock { $0.first?.code } == CloseCode(rawValue: 4000))
        #expect(ends.withLock { $0.first?.cause } == .peer)
    }

    @Test("Returning closes with 1000, throwing with 1011; the client's close frame is awaited")
    func handlerEnds() async throws {
        struct Fault: Error {}
        let returning = Client(SyncHandler { try $0.webSocket { try await $0.send("bye") } })
        try await returning.output(serverFrame(1, "bye") + closeFrame(1000))
        #expect(!returning.connection.record.isClosed)
        returning.close(1000)
        try await returning.connection.closed()
        let before = await MemoryConnection.now()
        let throwing = Client(SyncHandler { try $0.webSocket { _ in throw Fault() } })
        try await throwing.output(closeFrame(1011))
        // Without the client's close frame the connection ends after five seconds.
        #expect(await throwing.connection.hasDeadline(in: 5, since: before))
        await throwing.connection.expire()
        throwing.connection.end()
        try await throwing.connection.closed()
    }

    @Test("The client's close frame is read after messages that the handler has not read")
    func messagesLeft() async throws {
        let client = Client(SyncHandler { try $0.webSocket { try await $0.send("bye") } })
        try await client.output(serverFrame(1, "bye") + closeFrame(1000))
        let message = Client.maskedFrame(2, [UInt8](repeating: 1, count: 100))
        let batch = Array(repeating: message, count: 100).flatMap { $0 }
        client.connection.feed(Array(repeating: .bytes(batch), count: 20))
        client.close(1000)
        try await client.connection.closed()
    }

    @Test("A message above the limit is refused with 1009, and one without a mask with 1002")
    func violations() async throws {
        var options = WebSocketOptions()
        options.messageBytes = 4
        let ends = Locked<[WebSocketEnd]>([])
        let long = Client(echo(options: options, ends: ends))
        long.send(1, "four")
        try await long.output(serverFrame(1, "four"))
        long.send(1, "12345")
        let record = try await long.connection.wait(for: "1009") {
            Client.frames($0).firstRange(of: [0x03, 0xF1]) != nil
        }
        #expect(!record.isClosed)
        long.connection.end()
        try await long.connection.closed()
        let bare = Client(echo())
        bare.connection.feed([.bytes([0x81, 1, 0x61])])
        _ = try await bare.connection.wait(for: "1002") {
            Client.frames($0).firstRange(of: [0x03, 0xEA]) != nil
        }
    }

    @Test("The first deadline is after 30 seconds, and no ping is sent earlier")
    func keepAlive() async throws {
        let before = await MemoryConnection.now()
        let client = Client(echo())
        try await client.connection.output("\r\n\r\n")
        await client.connection.settle()
        #expect(await client.connection.hasDeadline(in: 30, since: before))
        await client.connection.onLoop { connection in
            guard let connection else { return }
            connection.deadline = .max
            connection.deadlineReached()
        }
        // The state machine has its own clock: an early call changes nothing.
        #expect(Client.frames(client.connection.record).isEmpty)
    }

    @Test("A server that stops sends 1001")
    func shutdown() async throws {
        let client = Client(echo())
        client.send(1, "x")
        try await client.output(serverFrame(1, "x"))
        await client.connection.onLoop { $0?.shutDown() }
        try await client.output(closeFrame(1001))
        client.close(1001)
        try await client.connection.closed()
    }

    /// A client that has taken 4 KiB and reads no further.
    private func slowClient(of handler: some Handler) async throws -> MemoryConnection {
        let handshake =
            "GET / HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        let connection = MemoryConnection(
            handler, peer: MemoryTransport.Peer(credit: 4_096),
            input: [.bytes(Array(handshake.utf8))])
        try await connection.output("101")
        for _ in 0..<20 { await connection.settle() }
        return connection
    }

    @Test("A client that does not read suspends the sender above 64 KiB")
    func backPressure() async throws {
        let sent = Locked(0)
        let handler = SyncHandler { request in
            try request.webSocket(compression: nil) { socket in
                let piece = [UInt8](repeating: 7, count: 16 << 10)
                for _ in 0..<1_000 {
                    try await socket.send(piece)
                    sent.withLock { $0 += 1 }
                }
            }
        }
        let connection = try await slowClient(of: handler)
        #expect(sent.withLock { $0 } <= 5)
        connection.read(1 << 20)
        try await waitUntil { sent.withLock { $0 } > 60 }
        connection.hangUp()
        try await connection.closed()
    }

    @Test("The server does not retry sending on each turn while the client does not read")
    func stalledClient() async throws {
        let handler = SyncHandler { request in
            try request.webSocket(compression: nil) { socket in
                try await socket.send([UInt8](repeating: 7, count: 20 << 10))
                try await Task.sleep(for: .seconds(600))
            }
        }
        let connection = try await slowClient(of: handler)
        let before = connection.record.blockedSends
        for _ in 0..<20 { await connection.settle() }
        #expect(connection.record.blockedSends < before + 5)
        connection.hangUp()
        try await connection.closed()
    }

    @Test("Input that arrives while output waits is read in order")
    func inputBehindOutput() async throws {
        let texts = Locked<[WebSocketMessage]>([])
        let handler = SyncHandler { request in
            try request.webSocket(compression: nil) { socket in
                try await socket.send([UInt8](repeating: 7, count: 100 << 10))
                for try await message in socket { texts.withLock { $0.append(message) } }
            }
        }
        let connection = try await slowClient(of: handler)
        let frames = (1...4).map { Client.maskedFrame(1, Array("\($0)".utf8)) }
        connection.feed([.bytes(frames[0] + frames[1]), .bytes(frames[2] + frames[3])])
        for _ in 0..<20 { await connection.settle() }
        // Less output waits now than the amount that stops the input.
        connection.read(80 << 10)
        for _ in 0..<20 { await connection.settle() }
        connection.read(1 << 20)
        try await waitUntil { texts.withLock { $0.count >= 4 } }
        #expect(texts.withLock { $0 } == (1...4).map { .text("\($0)") })
        connection.hangUp()
        try await connection.closed()
    }

    @Test("A ping is answered before the end of long output that the client reads at once")
    func turns() async throws {
        let gate = ServerGate()
        let client = Locked<MemoryConnection?>(nil)
        let handler = SyncHandler { request in
            try request.webSocket(compression: nil) { socket in
                await gate.wait()
                client.withLock { $0 }?.feed([.bytes(Client.maskedFrame(9, [0x70]))])
                let piece = [UInt8](repeating: 7, count: 16 << 10)
                for _ in 0..<64 { try await socket.send(piece) }
            }
        }
        let opened = Client(handler).connection
        client.withLock { $0 = opened }
        try await opened.output("\r\n\r\n")
        gate.open()
        let record = try await opened.wait(for: "1000") {
            $0.output.suffix(4).elementsEqual(closeFrame(1000))
        }
        let pong = try #require(record.output.firstRange(of: [0x8A, 1, 0x70]))
        #expect(pong.lowerBound < record.output.count - (256 << 10))
    }

    @Test("A ping is answered while the handler sends faster than the client reads")
    func pingsInAStream() async throws {
        let handler = SyncHandler { request in
            try request.webSocket(compression: nil) { socket in
                let piece = [UInt8](repeating: 7, count: 16 << 10)
                while true { try await socket.send(piece) }
            }
        }
        let connection = try await slowClient(of: handler)
        connection.feed([.bytes(Client.maskedFrame(9, [0x70]))])
        let pong: [UInt8] = [0x8A, 1, 0x70]
        var taken = 0
        while taken < 100, connection.record.output.firstRange(of: pong) == nil {
            connection.read(16 << 10)
            for _ in 0..<5 { await connection.settle() }
            taken += 1
        }
        #expect(taken < 100, "the ping waits for the end of the stream")
        connection.hangUp()
        try await connection.closed()
    }

    @Test("A task that is cancelled before it reads, on the loop or off it, does not wait")
    func cancelledBefore() async throws {
        let outcomes = Locked<[String]>([])
        let handler = SyncHandler { request in
            try request.webSocket { socket in
                let read: @Sendable () async -> Void = {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    let messages = socket.makeAsyncIterator()
                    let outcome: String
                    do {
                        outcome = "\(String(describing: try await messages.next()))"
                    } catch {
                        outcome = "\(type(of: error))"
                    }
                    outcomes.withLock { $0.append(outcome) }
                }
                await Task { await read() }.value
                await Task.detached { await read() }.value
                // A later read waits as usual.
                for try await message in socket { try await socket.send(message) }
            }
        }
        let client = Client(handler)
        try await waitUntil { outcomes.withLock { $0.count == 2 } }
        #expect(outcomes.withLock { $0 } == ["CancellationError", "CancellationError"])
        client.send(1, "x")
        try await client.output(serverFrame(1, "x"))
    }

    @Test("Messages that no task reads stop the input")
    func unread() async throws {
        let handler = SyncHandler { request in
            try request.webSocket { _ in try await Task.sleep(for: .seconds(600)) }
        }
        let client = Client(handler)
        let message = Client.maskedFrame(2, [UInt8](repeating: 1, count: 100))
        let batch = Array(repeating: message, count: 100).flatMap { $0 }
        client.connection.feed(Array(repeating: .bytes(batch), count: 50))
        for _ in 0..<20 { await client.connection.settle() }
        #expect(client.connection.record.received < 200 << 10)
        client.connection.hangUp()
        try await client.connection.closed()
    }

    @Test(
        "A page of another origin is refused, unless it is listed",
        arguments: [
            ("http://test", WebSocketOrigins.sameHost, true), ("http://evil", .sameHost, false),
            ("null", .sameHost, false), ("http://evil", .any, true),
            ("http://evil", .listed(["http://evil"]), true),
            ("http://evil2", .listed(["http://evil"]), false), ("http://test", .listed([]), true),
            ("http://\u{C5}", .listed(["http://\u{212B}"]), false),
        ])
    func origins(_ origin: String, _ origins: WebSocketOrigins, _ isAllowed: Bool) async throws {
        let client = Client(echo(origins: origins), fields: "Origin: \(origin)\r\n")
        let record = try await client.connection.output("\r\n\r\n")
        #expect(record.text.hasPrefix(isAllowed ? "HTTP/1.1 101 " : "HTTP/1.1 403 "))
    }

    @Test("A request that is no handshake gets 426 with the version, or 400")
    func noHandshake() async throws {
        let plain = MemoryConnection(echo())
        plain.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        let record = try await plain.output("\r\n\r\n")
        #expect(record.text.hasPrefix("HTTP/1.1 426 "))
        #expect(record.text.contains("Sec-WebSocket-Version: 13\r\n"))
        #expect(record.text.contains("Upgrade: websocket\r\n"))
        #expect(record.text.contains("Connection: upgrade\r\n"))
        let short = MemoryConnection(echo())
        short.send(
            "GET / HTTP/1.1\r\nHost: test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==\r\n\r\n")
        #expect(try await short.output("\r\n\r\n").text.hasPrefix("HTTP/1.1 400 "))
    }
}

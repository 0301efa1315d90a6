import HTTPCodecs
import HTTPParser
import TestSupport
import Testing

@testable import WebSocketFrames

@Suite("RFC 6455 section 7: closing; sections 5.5.2 and 5.5.3: pings")
struct WebSocketMachineTests {
    private func machine(
        _ role: WebSocketRole = .server, options: WebSocketOptions = WebSocketOptions()
    ) -> WebSocketMachine {
        WebSocketMachine(role: role, options: options, at: .zero)
    }

    @Test("this side closes first, and the peer responds")
    func localClose() {
        var machine = machine()
        var output = ByteBuffer()
        machine.close(.goingAway, reason: "bye", at: .seconds(1), into: &output)
        #expect(PlainFrame.read(output.content) == [.close(1001, Array("bye".utf8))])
        #expect(machine.phase == .closeSent)
        #expect(machine.deadline == .seconds(6))
        // Messages are still received; pings are not answered any more.
        let frames: [PlainFrame] = [.text("late"), .ping("p"), .close(1001), .text("never")]
        output.removeAll()
        let events = machine.receive(frames.bytes(by: .client), into: &output)
        let end = WebSocketEnd(.goingAway, cause: .local)
        #expect(events == [.message(.text("late")), .ping(Array("p".utf8)), .closed(end)])
        #expect(output.count == 0)
        #expect(machine.phase == .ended)
        #expect(machine.closesTransport == true)
    }

    @Test("the peer closes first; nothing is sent after the response")
    func peerClose() {
        var machine = machine()
        var output = ByteBuffer()
        let events = machine.receive(
            PlainFrame.close(4000, Array("why".utf8)).bytes(by: .client), into: &output)
        let end = WebSocketEnd(CloseCode(rawValue: 4000), reason: "why", cause: .peer)
        #expect(events == [.closed(end)])
        #expect(PlainFrame.read(output.content) == [.close(4000)])
        output.removeAll()
        machine.close(at: .zero, into: &output)
        #expect(throws: WebSocketSendError.closed) {
            try machine.send(.text("x"), into: &output)
        }
        #expect(throws: WebSocketSendError.closed) { try machine.ping(into: &output) }
        #expect(output.count == 0)
        #expect(machine.transportEnded() == nil)
    }

    @Test("both sides close at the same time")
    func simultaneousClose() {
        var machine = machine()
        var output = ByteBuffer()
        machine.close(.normal, at: .zero, into: &output)
        let events = machine.receive(PlainFrame.close(3000).bytes(by: .client), into: &output)
        #expect(events == [.closed(WebSocketEnd(CloseCode(rawValue: 3000), cause: .local))])
        #expect(PlainFrame.read(output.content) == [.close(1000)])
    }

    @Test("a close frame without a response within 5 s ends the connection")
    func closeTimeout() {
        var machine = machine()
        var output = ByteBuffer()
        machine.close(at: .seconds(10), into: &output)
        output.removeAll()
        #expect(machine.tick(at: .milliseconds(14_999), into: &output) == nil)
        let end = WebSocketEnd(
            .abnormal, reason: "close timeout", cause: .failure(WebSocketError(.closeTimeout)))
        #expect(machine.tick(at: .seconds(15), into: &output) == .closed(end))
        #expect(machine.closesTransport == true)
        #expect(machine.deadline == nil)
        #expect(output.count == 0)
    }

    @Test("messages may be sent after a held protocol error until it is released")
    func heldFault() throws {
        let frames: [PlainFrame] = [.text("before"), .reserved, .text("dropped")]
        let bytes = frames.bytes(by: .server)
        for cut in 0...bytes.count {
            var machine = machine(.client)
            machine.holdsFaults = true
            var output = ByteBuffer()
            let events =
                machine.receive(Array(bytes[..<cut]), into: &output)
                + machine.receive(Array(bytes[cut...]), into: &output)
            #expect(events == [.message(.text("before"))])
            #expect(machine.heldFault?.kind == .reservedOpcode)
            #expect(machine.phase == .open && !machine.closesTransport && output.count == 0)
            try machine.send(.text("answer"), into: &output)
            guard case .closed(let end) = machine.releaseFault(into: &output) else {
                Issue.record("the fault does not end the connection")
                continue
            }
            #expect(end.code == .protocolError && machine.closesTransport)
            let sent = PlainFrame.read(output.content)
            #expect(sent.count == 2 && sent.first == .text("answer"))
            #expect(sent.last?.opcode == 8)
            #expect(machine.releaseFault(into: &output) == nil)
        }
    }

    @Test("a held error ends the connection after 5 s, with the transport, and after a close")
    func endsOfHeldFault() {
        func held(_ output: inout ByteBuffer) -> WebSocketMachine {
            var machine = machine(.client)
            machine.holdsFaults = true
            #expect(machine.receive(PlainFrame.reserved.bytes(by: .server), into: &output) == [])
            return machine
        }
        func isFault(_ event: WebSocketEvent?) -> Bool {
            guard case .closed(let end) = event, case .failure(let error) = end.cause else {
                return false
            }
            return error.kind == .reservedOpcode
        }
        var output = ByteBuffer()
        var late = held(&output)
        #expect(late.deadline == .seconds(5))
        #expect(late.tick(at: .milliseconds(4_999), into: &output) == nil)
        #expect(isFault(late.tick(at: .seconds(5), into: &output)))
        var lost = held(&output)
        #expect(isFault(lost.transportEnded()))
        output.removeAll()
        var closed = held(&output)
        closed.close(.goingAway, at: .seconds(1), into: &output)
        #expect(closed.deadline == .seconds(1))
        #expect(isFault(closed.tick(at: .seconds(1), into: &output)))
        #expect(PlainFrame.read(output.content) == [.close(1001)])
    }

    @Test("a client waits at most 5 s for the server to end the connection")
    func clientWaits() {
        var machine = machine(.client)
        var output = ByteBuffer()
        _ = machine.receive(
            PlainFrame.close().bytes(by: .server), at: .seconds(1), into: &output)
        #expect(machine.phase == .ended)
        #expect(machine.closesTransport == false)
        #expect(machine.deadline == .seconds(6))
        #expect(machine.tick(at: .seconds(5), into: &output) == nil)
        #expect(machine.closesTransport == false)
        #expect(machine.tick(at: .seconds(6), into: &output) == nil)
        #expect(machine.closesTransport == true)
    }

    @Test("a connection that ends without a close frame has the code 1006")
    func transportEnds() {
        var machine = machine()
        #expect(machine.transportEnded() == .closed(WebSocketEnd(.abnormal, cause: .transport)))
        #expect(machine.transportEnded() == nil)
        #expect(machine.phase == .ended)
    }

    @Test("a failure after this side's close frame sends no second close frame")
    func failureAfterClose() {
        var machine = machine()
        var output = ByteBuffer()
        machine.close(at: .zero, into: &output)
        output.removeAll()
        let events = machine.receive([0x83], into: &output)
        let error = WebSocketError(.reservedOpcode)
        let end = WebSocketEnd(
            .protocolError, reason: "reserved opcode", cause: .failure(error))
        #expect(events == [.closed(end)])
        #expect(output.count == 0)
    }

    @Test("another message cannot be sent before the last piece of a message")
    func piecesDoNotMix() throws {
        var machine = machine()
        var output = ByteBuffer()
        try machine.send(piece: Array("a".utf8).span, of: .text, isLast: false, into: &output)
        #expect(throws: WebSocketSendError.messageUnfinished) {
            try machine.send(.text("b"), into: &output)
        }
        #expect(throws: WebSocketSendError.messageUnfinished) {
            try machine.send(piece: Span(), of: .binary, isLast: true, into: &output)
        }
        try machine.ping(into: &output)
        try machine.send(piece: Array("b".utf8).span, of: .text, isLast: true, into: &output)
        try machine.send(.text("c"), into: &output)
        let expected: [PlainFrame] = [
            .text("a", isFinal: false), .ping(), .continuation("b"), .text("c"),
        ]
        #expect(PlainFrame.read(output.content) == expected)
    }

    @Test(
        "a message above the limit fails with 1009 at its header",
        arguments: [(9, true), (10, true), (11, false)])
    func messageLimit(count: Int, fits: Bool) {
        let frame = PlainFrame.binary([UInt8](repeating: 1, count: count)).bytes(by: .client)
        let outcome = WebSocketMachine.outcome(
            of: [frame[..<(fits ? frame.count : 2)]], options: .init(messageBytes: 10))
        #expect(
            outcome.description
                == (fits ? "binary(\(count))" : "messageTooLong-1009 wrote-1009"))
    }

    @Test("each frame of a client has a separate mask")
    func masksFrames() throws {
        var machine = machine(.client)
        var output = ByteBuffer()
        for _ in 0..<20 { try machine.send(.binary([0, 0, 0, 0]), into: &output) }
        let bytes = output.content
        let masks = Set(
            stride(from: 0, to: bytes.count, by: 10).map { Array(bytes[($0 + 2)..<($0 + 6)]) })
        #expect(masks.count > 15)
        #expect(PlainFrame.read(bytes) == (0..<20).map { _ in .binary([0, 0, 0, 0]) })
    }

    @Test("a reader of pieces gets a long message in pieces, the last of which is marked")
    func deliversPieces() throws {
        for deflate in [nil, DeflateExtension()] {
            var sender = WebSocketMachine(role: .server, deflate: deflate, at: .zero)
            var output = ByteBuffer()
            let text = (0..<60_000).map { "\($0)," }.joined()
            try sender.send(.text(text), into: &output)
            var reader = WebSocketMachine(
                role: .client, deflate: deflate, options: .init(deliversPieces: true), at: .zero)
            var answers = ByteBuffer()
            var (content, count) = ([UInt8](), 0)
            for event in reader.receive(output.content, into: &answers) {
                guard case .piece(let piece) = event else { continue }
                #expect(piece.kind == .text)
                content += piece.bytes
                count += 1
                #expect(piece.isLast == (content.count == text.utf8.count))
            }
            #expect(String(decoding: content, as: UTF8.self) == text)
            // An uncompressed frame that is available as a whole may be one piece.
            #expect(count >= (deflate == nil ? 1 : 3))
        }
    }
}

@Suite("Pings that check whether the peer responds")
struct KeepAliveTests {
    private var machine: WebSocketMachine { WebSocketMachine(role: .server, at: .zero) }

    @Test("a ping is sent every 30 s, and its pong is no event")
    func pingsEach30Seconds() {
        var machine = machine
        var output = ByteBuffer()
        for round in 1...3 {
            #expect(machine.deadline == .seconds(30 * round))
            #expect(machine.tick(at: .seconds(30 * round) - .nanoseconds(1), into: &output) == nil)
            #expect(output.count == 0)
            #expect(machine.tick(at: .seconds(30 * round), into: &output) == nil)
            let pings = PlainFrame.read(output.content)
            #expect(pings.map(\.opcode) == [9])
            // The ping is not sent yet, so there is no deadline.
            #expect(machine.deadline == nil)
            machine.sent(output.count, at: .seconds(30 * round + 1))
            #expect(machine.unsentCount == 0)
            #expect(machine.deadline == .seconds(30 * round + 21))
            output.removeAll()
            let pong = PlainFrame(opcode: 10, payload: pings.flatMap(\.payload))
            #expect(machine.receive(pong.bytes(by: .client), into: &output).isEmpty)
        }
    }

    @Test("the time limit for a pong starts when the ping and all bytes before it are sent")
    func countsFromDeparture() throws {
        var machine = machine
        var output = ByteBuffer()
        try machine.send(.binary([UInt8](repeating: 0, count: 100_000)), into: &output)
        let message = output.count
        _ = machine.tick(at: .seconds(30), into: &output)
        machine.sent(message, at: .seconds(100))
        #expect(machine.tick(at: .seconds(100), into: &output) == nil)
        machine.sent(output.count - message - 1, at: .seconds(150))
        #expect(machine.deadline == nil)
        machine.sent(1, at: .seconds(200))
        #expect(machine.deadline == .seconds(220))
        #expect(machine.tick(at: .seconds(219), into: &output) == nil)
        output.removeAll()
        let end = WebSocketEnd(
            .internalError, reason: "pong timeout", cause: .failure(WebSocketError(.pongTimeout)))
        #expect(machine.tick(at: .seconds(220), into: &output) == .closed(end))
        #expect(PlainFrame.read(output.content) == [.close(1011, Array("pong timeout".utf8))])
        #expect(machine.closesTransport == true)
    }

    @Test("the time limit for a pong restarts while the caller does not read")
    func heldInput() {
        var machine = machine
        var output = ByteBuffer()
        _ = machine.tick(at: .seconds(30), into: &output)
        machine.sent(output.count, at: .seconds(30))
        machine.holdsInput(at: .seconds(49))
        #expect(machine.tick(at: .seconds(50), into: &output) == nil)
        #expect(machine.deadline == .seconds(69))
        #expect(machine.tick(at: .seconds(69), into: &output) != nil)
    }

    @Test("a pong with another payload is no response to the ping")
    func otherPong() {
        var machine = machine
        var output = ByteBuffer()
        _ = machine.tick(at: .seconds(30), into: &output)
        machine.sent(output.count, at: .seconds(30))
        let events = machine.receive(PlainFrame.pong("x").bytes(by: .client), into: &output)
        #expect(events == [.pong([0x78])])
        #expect(machine.deadline == .seconds(50))
    }

    @Test("RFC 6455, 5.5.3: the pong of the ping, or of a later ping of the caller, is a response")
    func laterPings() throws {
        for (payload, own) in [("later", false), ("", true)] {
            var machine = machine
            var output = ByteBuffer()
            try machine.ping(Array("before".utf8), into: &output)
            output.removeAll()
            _ = machine.tick(at: .seconds(30), into: &output)
            let ping = PlainFrame.read(output.content).flatMap(\.payload)
            try machine.ping(Array("later".utf8), into: &output)
            machine.sent(machine.unsentCount, at: .seconds(30))
            let earlier = machine.receive(
                PlainFrame.pong("before").bytes(by: .client), into: &output)
            #expect(earlier == [.pong(Array("before".utf8))])
            #expect(machine.deadline == .seconds(50))
            #expect(machine.pingCount == 1 && machine.answeredPingCount == 0)
            let pong = PlainFrame(opcode: 10, payload: own ? ping : Array(payload.utf8))
            let events = machine.receive(pong.bytes(by: .client), into: &output)
            #expect(events == (own ? [] : [.pong(Array(payload.utf8))]))
            #expect(machine.deadline == .seconds(60))
            #expect(machine.answeredPingCount == 1)
        }
    }

    @Test("late pongs of many later pings of the caller are a response, too")
    func manyLaterPings() throws {
        var machine = machine
        var output = ByteBuffer()
        _ = machine.tick(at: .seconds(30), into: &output)
        machine.sent(machine.unsentCount, at: .seconds(30))
        // The peer is twenty pings behind.
        for number in 0..<40 {
            try machine.ping(Array("\(number)".utf8), into: &output)
            guard number >= 20 else { continue }
            let pong = PlainFrame.pong("\(number - 20)").bytes(by: .client)
            #expect(machine.receive(pong, into: &output).count == 1)
        }
        #expect(machine.answeredPingCount == 1 && machine.deadline == .seconds(60))
    }

    @Test("the time limit for a pong restarts while a long frame arrives")
    func longFrame() {
        var machine = machine
        var output = ByteBuffer()
        _ = machine.tick(at: .seconds(30), into: &output)
        machine.sent(output.count, at: .seconds(30))
        let frame = PlainFrame.binary([UInt8](repeating: 0, count: 1_000)).bytes(by: .client)
        #expect(machine.receive(Array(frame[..<100]), at: .seconds(45), into: &output).isEmpty)
        #expect(machine.deadline == .seconds(65))
        // The rest of the frame, and still no pong.
        #expect(machine.receive(Array(frame[100...]), at: .seconds(60), into: &output).count == 1)
        #expect(machine.deadline == .seconds(65))
    }

    @Test("without an interval no pings are sent")
    func off() {
        var machine = WebSocketMachine(
            role: .client, options: .init(pingInterval: nil), at: .zero)
        var output = ByteBuffer()
        #expect(machine.deadline == nil)
        #expect(machine.tick(at: .seconds(1_000), into: &output) == nil)
        #expect(output.count == 0)
    }
}

@Suite("The memory of an idle WebSocket")
struct WebSocketMemoryTests {
    @Test("A machine takes less than 400 bytes, and shares equal options with others")
    func size() {
        #expect(MemoryLayout<WebSocketMachine>.size < 400)
        let plain = WebSocketOptions()
        // With the thread sanitizer nothing is shared, because it does not understand the lock.
        #if !THREAD_SANITIZER
            #expect(SharedOptions.like(plain) === SharedOptions.like(plain))
        #endif
        var other = WebSocketOptions()
        other.messageBytes = 17
        let shared = SharedOptions.like(other)
        #expect(shared.value == other)
        #expect(SharedOptions.like(plain).value == plain)
    }

    @Test("An idle connection without a kept context keeps no compressor", arguments: [9, 14, 15])
    func idleCompressor(_ bits: Int) throws {
        var machine = WebSocketMachine(
            role: .server, deflate: DeflateExtension(serverWindowBits: bits), at: .zero)
        var output = ByteBuffer()
        try machine.send(.text(String(repeating: "abc", count: 300)), into: &output)
        #expect(output.count < 600)
        #expect(machine.streams == nil)
    }

    @Test("Setting a limit of messages below zero traps")
    func negativeLimit() async {
        await #expect(processExitsWith: .failure) { _ = WebSocketOptions(messageBytes: -1) }
        await #expect(processExitsWith: .failure) {
            var options = WebSocketOptions()
            options.messageBytes = -1
        }
    }

    @Test("Streams of compression are released when no message needs them")
    func streams() throws {
        var pool: MessageStreams?
        let streams = MessageStreams.made(in: &pool)
        streams.inflater = try MessageInflater(
            limits: ContentDecodingLimits(outputBytes: 1, ratio: 1, ratioFloor: 1))
        streams.deflater = try MessageDeflater()
        MessageStreams.endInflating(&pool)
        #expect(pool === streams && !streams.isInflating)
        MessageStreams.endDeflating(&pool)
        #expect(pool == nil)
    }
}

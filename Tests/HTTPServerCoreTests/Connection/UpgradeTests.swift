import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Logging
import TestSupport
import Testing
import ToolkitSystem

/// Echoes its input with the case of each letter swapped; a `.` ends the protocol.
private final class EchoProtocol: UpgradedProtocol {
    private let carrier: any UpgradeCarrier
    private let log: Locked<[String]>
    private(set) var wantsInput: Bool
    private(set) var deadline = UInt64.max

    init(_ carrier: any UpgradeCarrier, _ log: Locked<[String]>, wantsInput: Bool) {
        self.carrier = carrier
        self.log = log
        self.wantsInput = wantsInput
    }

    func receive(_ bytes: UnsafeMutableRawBufferPointer) {
        for index in bytes.indices { unsafe bytes[index] ^= 0x20 }
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        log.withLock { $0.append("received \(text)") }
        carrier.write { $0.append(text) }
        // The case of these characters has already been swapped.
        if text.contains("\u{0E}") { carrier.finish(leavesInput: false) }
        if text.contains("P") { wantsInput = false }
        if text.contains("D") {
            deadline = carrier.loop.now &+ 5_000_000_000
            carrier.deadlineChanged()
        }
    }

    func goOn() {
        wantsInput = true
        carrier.readOn()
    }

    func hasRoom() {}

    func deadlineReached() {
        deadline = .max
        log.withLock { $0.append("deadline") }
        carrier.write { $0.append("late") }
        carrier.flush()
    }

    func serverStops() {
        carrier.write { $0.append("bye") }
        carrier.flush()
        carrier.finish(leavesInput: true)
        carrier.flush()
    }

    func connectionClosed(_ reason: ConnectionCloseReason) {
        log.withLock { $0.append("closed \(reason)") }
    }
}

/// Hands each connection to an echo.
private struct UpgradingHandler: Handler {
    let log = Locked<[String]>([])
    let protocols = Locked<[ObjectIdentifier: EchoProtocolBox]>([:])
    var status = HTTPStatus.switchingProtocols
    var isLater = false
    var wantsInput = true

    func answer(_ request: Request) -> Answer {
        let body = ResponseBody(
            .upgrade { [log, protocols, wantsInput] carrier in
                let made = EchoProtocol(carrier, log, wantsInput: wantsInput)
                protocols.withLock { $0[ObjectIdentifier(carrier)] = EchoProtocolBox(made) }
                return made
            }, mediaType: "")
        let response = Response(
            status, fields: [.upgrade: "echo"], body: body)
        guard isLater else { return .now(response) }
        return .later { response }
    }

    func goOn() {
        for box in protocols.withLock({ Array($0.values) }) { box.made?.goOn() }
    }
}

/// Answers `/gate` with long content once a gate opens; other paths go to another handler.
private struct Gated: Handler {
    let gate: ServerGate
    let others: any Handler

    func answer(_ request: Request) throws -> Answer {
        guard request.path == "/gate" else { return try others.answer(request) }
        return .later {
            await gate.wait()
            return Response(.ok, body: .text(String(repeating: "x", count: 20_000)))
        }
    }
}

/// Reaches a protocol from its loop.
private final class EchoProtocolBox: @unchecked Sendable {
    weak var made: EchoProtocol?
    init(_ made: EchoProtocol) { self.made = made }
}

private let offer =
    "GET /echo HTTP/1.1\r\nHost: test\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"

@Suite("RFC 9110, 7.8: Upgrades")
struct UpgradeTests {
    @Test("The other protocol gets the bytes after the request, sent with it or later")
    func echo() async throws {
        for isLater in [false, true] {
            let handler = UpgradingHandler(isLater: isLater)
            let connection = MemoryConnection(handler)
            connection.send(offer + "ab", "cd")
            let record = try await connection.output("CD")
            #expect(record.text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\nUpgrade: "))
            #expect(record.text.contains("\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n"))
            #expect(!record.text.contains("Content-Length"))
            #expect(record.text.hasSuffix("\r\n\r\nABCD"))
            connection.hangUp()
            try await connection.closed()
            // The socket is closed first; the protocol is notified in the same loop iteration.
            await connection.settle()
            #expect(handler.log.withLock { $0.last } == "closed connectionLost")
        }
    }

    @Test("Every split of request and first bytes gives the same output")
    func splits() async throws {
        let text = Array((offer + "abcd.").utf8)
        for index in 1..<text.count {
            let connection = MemoryConnection(UpgradingHandler())
            connection.feed([.bytes(Array(text[..<index])), .bytes(Array(text[index...]))])
            let record = try await connection.closed()
            #expect(record.text.hasSuffix("\r\n\r\nABCD\u{0E}"), "split at \(index)")
        }
    }

    @Test("Input waits while the protocol does not want it, and is delivered in order")
    func backPressure() async throws {
        let handler = UpgradingHandler()
        let connection = MemoryConnection(handler)
        connection.send(offer + "p", "x", "y", "z")
        try await connection.output("P")
        await connection.settle()
        #expect(!connection.record.text.contains("X"))
        await connection.onLoop { _ in handler.goOn() }
        try await connection.output("PXYZ")
    }

    @Test("Unwanted input after the handshake does not cause repeated events")
    func unwantedFromTheBeginning() async throws {
        let handler = UpgradingHandler(wantsInput: false)
        let connection = MemoryConnection(handler)
        connection.send(offer + "ab", "cd")
        try await connection.output("101")
        await connection.settle()
        #expect(connection.record.needlessEvents == 0)
        await connection.onLoop { _ in handler.goOn() }
        let record = try await connection.output("ABCD")
        #expect(record.needlessEvents == 0)
    }

    /// The client has read a part of the long response before the handshake, and so much input
    /// follows that the connection has stopped reading.
    @Test("Long input after a blocked handshake is delivered once the client has read")
    func inputBehindBlockedOutput() async throws {
        let gate = ServerGate()
        let handler = Gated(gate: gate, others: UpgradingHandler())
        let connection = MemoryConnection(handler, peer: MemoryTransport.Peer(credit: 10_000))
        let gated = "GET /gate HTTP/1.1\r\nHost: test\r\n\r\n"
        connection.send(
            gated + offer + String(repeating: "a", count: 60_000),
            String(repeating: "b", count: 65_536), String(repeating: "c", count: 65_536))
        await connection.settle()
        gate.open()
        try await connection.wait(for: "a part of the answer") { $0.output.count >= 10_000 }
        await connection.settle()
        connection.read(1 << 20)
        let record = try await connection.wait(for: "the echo") { record in
            record.count(of: "C") >= 65_536
        }
        #expect(record.text.hasSuffix(String(repeating: "C", count: 65_536)))
    }

    @Test("The deadline of the other protocol is applied to the connection")
    func deadline() async throws {
        let handler = UpgradingHandler()
        let before = await MemoryConnection.now()
        let connection = MemoryConnection(handler)
        connection.send(offer + "d")
        try await connection.output("D")
        #expect(await connection.hasDeadline(in: 5, since: before))
        await connection.expire()
        try await connection.output("Dlate")
        #expect(await connection.secondsLeft() == nil)
    }

    @Test("The protocol may write when the server stops; the end of the peer's stream closes it")
    func ends() async throws {
        let handler = UpgradingHandler()
        let stopped = MemoryConnection(handler)
        stopped.send(offer)
        try await stopped.output("101")
        await stopped.onLoop { $0?.shutDown() }
        try await stopped.output("bye")
        stopped.end()
        try await stopped.closed()
        let left = MemoryConnection(handler)
        left.send(offer + "a")
        try await left.output("A")
        left.end()
        try await left.closed()
        #expect(handler.log.withLock { $0.last } == "closed clientClosed")
    }

    @Test(
        "A request with content, or the stream's end, refuses the upgrade by 400 and logs nothing")
    func keptAway() async throws {
        let lines = ServerLog<String>()
        let gate = ServerGate()
        let withContent = offer.replacing("\r\n\r\n", with: "\r\nContent-Length: 1\r\n\r\n")
        for isLater in [false, true] {
            let connection = MemoryConnection(
                UpgradingHandler(isLater: isLater),
                configuration: KeptLines.configuration(lines, .info))
            connection.send(withContent)
            #expect(try await connection.output("400").text.hasPrefix("HTTP/1.1 400 "))
        }
        let handler = Gated(gate: gate, others: UpgradingHandler())
        let ended = MemoryConnection(
            handler, configuration: KeptLines.configuration(lines, .info))
        ended.send("GET /gate HTTP/1.1\r\nHost: test\r\n\r\n" + offer)
        ended.end()
        await ended.settle()
        gate.open()
        #expect(try await ended.closed().text.contains("xHTTP/1.1 400 "))
        #expect(lines.entries.isEmpty)
    }

    @Test("HTTP/1.0 requests and statuses other than 101 do not upgrade")
    func refused() async throws {
        let old = MemoryConnection(UpgradingHandler())
        old.send(offer.replacing("HTTP/1.1", with: "HTTP/1.0"))
        #expect(try await old.closed().text.hasPrefix("HTTP/1.1 500 "))
        let other = MemoryConnection(UpgradingHandler(status: .ok))
        other.send(offer)
        let record = try await other.output("\r\n\r\n")
        #expect(record.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(record.text.contains("Content-Length: 0"))
    }
}

import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

/// Sends back what it receives, each letter in the other case; a `.` ends it.
private final class EchoProtocol: UpgradedProtocol {
    private let carrier: any UpgradeCarrier
    private let log: Locked<[String]>
    private(set) var wantsInput = true
    private(set) var deadline = UInt64.max

    init(_ carrier: any UpgradeCarrier, _ log: Locked<[String]>) {
        self.carrier = carrier
        self.log = log
    }

    func receive(_ bytes: UnsafeMutableRawBufferPointer) {
        for index in bytes.indices { unsafe bytes[index] ^= 0x20 }
        let text = unsafe String(decoding: bytes, as: UTF8.self)
        log.withLock { $0.append("received \(text)") }
        carrier.write { $0.append(text) }
        // Each of these letters comes in the other case.
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

    func answer(_ request: Request) -> Answer {
        let body = ResponseBody(
            .upgrade { [log, protocols] carrier in
                let made = EchoProtocol(carrier, log)
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

/// Reaches a protocol from its loop.
private final class EchoProtocolBox: @unchecked Sendable {
    weak var made: EchoProtocol?
    init(_ made: EchoProtocol) { self.made = made }
}

private let offer =
    "GET /echo HTTP/1.1\r\nHost: test\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"

@Suite("RFC 9110 section 7.8: upgrades")
struct UpgradeTests {
    @Test("The other protocol gets what follows the request, together with it or later")
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
            // The socket is closed first; the protocol hears of it in the same turn of the loop.
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

    @Test("Input waits while the protocol does not want it, and comes in order")
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

    @Test("Its deadline is the connection's")
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

    @Test("A server that stops has it say goodbye; the end of the peer's stream is its end")
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

    @Test("A request of HTTP/1.0, and another status than 101, are no upgrade")
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

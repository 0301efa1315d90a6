import Foundation
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient
import WebSocketFrames

/// Responses of scripted peers to the handshake.
enum WebSocketPeer {
    static func key(_ head: String) -> WebSocketKey? {
        let line = head.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }
        return line.flatMap { WebSocketKey(String($0.dropFirst(19))) }
    }

    /// The response to a handshake.
    static func response(_ head: String, _ more: String = "") -> String {
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Accept: \(key(head)?.accept ?? "")\r\n\(more)\r\n"
    }

    static let accept: @Sendable (PeerConnection) -> Void = { connection in
        guard let head = connection.head() else { return }
        connection.send(response(head))
    }
}

@Suite(
    "RFC 6455, 4.1 and 7: servers that respond wrongly, stop reading or lose the connection",
    .timeLimit(.minutes(3)))
struct WebSocketPeerTests {
    private func open(
        _ answer: @escaping @Sendable (String) -> String,
        _ protocols: [String] = []
    ) async throws -> (WebSocketTask, ClientError?) {
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            connection.send(answer(head))
            connection.waitForEnd()
        }
        let socket = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, peer.url("/chat?x=1")), protocols: protocols)
        do {
            try await socket.opened()
        } catch let error as ClientError {
            return (socket, error)
        }
        return (socket, nil)
    }

    @Test(
        "A status other than 101 is an error with that status",
        arguments: [200, 302, 401, 404, 426, 503])
    func status(_ code: Int) async throws {
        let (socket, error) = try await open { _ in
            "HTTP/1.1 \(code) X\r\nContent-Length: 100\r\nX-Why: tests\r\n\r\n"
        }
        let status = try #require(HTTPStatus(code))
        #expect(error?.kind == .webSocketRefused(status))
        #expect(socket.response?.status == status)
        #expect(socket.response?.fields["X-Why"] == "tests")
        #expect(error?.exitCode == 22)
    }

    @Test(
        "Section 4.1: a 101 that does not match the request is refused",
        arguments: [
            ("Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept: x"),
            ("Upgrade: websocket\r\n", ""), ("Connection: Upgrade\r\n", ""),
            ("Upgrade: websocket", "Upgrade: h2c"),
            ("\r\n\r\n", "\r\nSec-WebSocket-Protocol: other\r\n\r\n"),
            ("\r\n\r\n", "\r\nSec-WebSocket-Protocol: a, b\r\n\r\n"),
            ("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"),
        ])
    func unfit(_ change: (String, String)) async throws {
        let (_, error) = try await open(
            { head in
                var response = WebSocketPeer.response(head)
                guard let range = response.firstRange(of: change.0) else { return "" }
                response.replaceSubrange(range, with: change.1)
                return response
            }, ["a", "b"])
        #expect(error?.kind == .badResponse)
        #expect(error?.underlying is WebSocketHandshakeError)
    }

    @Test(
        "A malformed, too long or incomplete response, a closed port and a wrong scheme are errors")
    func faults() async throws {
        #expect(try await open { _ in "SSH-2.0-x\r\n\r\n" }.1?.kind == .badResponse)
        let long = String(repeating: "X-A: \(String(repeating: "a", count: 1_000))\r\n", count: 200)
        let kind = try await open { WebSocketPeer.response($0, long) }.1?.kind
        #expect(kind == .headTooLong || kind == .badResponse)
        let peer = try ScriptedPeer { connection in
            _ = connection.head()
            connection.send("HTTP/1.1 101 Switching Pro")
        }
        let socket = ClientSession(.ephemeral).webSocketTask(with: ClientRequest(.get, peer.url()))
        let error = await #expect(throws: ClientError.self) { try await socket.opened() }
        #expect(error?.kind == .connectionLost)
        let nowhere = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, "ws://127.0.0.1:1/"))
        let refused = await #expect(throws: ClientError.self) { try await nowhere.opened() }
        #expect(refused?.kind == .cannotConnect)
        let scheme = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, "ftp://127.0.0.1/"))
        let unknown = await #expect(throws: ClientError.self) { try await scheme.opened() }
        #expect(unknown?.kind == .unsupportedURL)
    }

    @Test(
        "A proxy's response that is too long or malformed is the matching error",
        arguments: [
            (String(repeating: "X-A: \(String(repeating: "a", count: 90))\r\n", count: 40), true),
            ("HTTP/1.1: 404 x\r\n", false),
        ])
    func proxyFaults(_ lines: String, isTooLong: Bool) async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\n\(lines)\r\n")
            connection.waitForEnd()
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.headLimit = 2_000
        configuration.proxy = .proxy(ClientProxy(host: "127.0.0.1", port: peer.port))
        let socket = ClientSession(configuration).webSocketTask(
            with: ClientRequest(.get, "ws://name.test/"))
        let error = await #expect(throws: ClientError.self) { try await socket.opened() }
        #expect(error?.kind == (isTooLong ? .headTooLong : .badResponse))
    }

    @Test("The endpoints of a policy are tried in order, and then the policy is asked for others")
    func failover() async throws {
        let peer = try ScriptedPeer { connection in
            WebSocketPeer.accept(connection)
            connection.waitForEnd()
        }
        let port = peer.port
        let dead = ConnectTarget(host: "127.0.0.1", port: PeerServer.deadPort)
        let asked = Locked([Int]())
        var configuration = ClientConfiguration.ephemeral
        configuration.endpoints = EndpointPolicy(attempts: 2) { _, attempt in
            asked.withLock { $0.append(attempt) }
            return attempt == 0
                ? [dead, dead] : [dead, ConnectTarget(host: "127.0.0.1", port: port)]
        }
        let socket = ClientSession(configuration).webSocketTask(
            with: ClientRequest(.get, "ws://name.test/"))
        try await socket.opened()
        #expect(asked.withLock { $0 } == [0, 1] && peer.connectionCount == 1)
        configuration.endpoints = EndpointPolicy { _, _ in [dead, dead] }
        let other = ClientSession(configuration).webSocketTask(
            with: ClientRequest(.get, "ws://name.test/"))
        let error = await #expect(throws: ClientError.self) { try await other.opened() }
        #expect(error?.kind == .cannotConnect)
    }

    @Test("A silent server makes the handshake fail at the idle timeout")
    func silent() async throws {
        let peer = try ScriptedPeer {
            _ = $0.head(); $0.waitForEnd()
        }
        var request = ClientRequest(.get, peer.url())
        request.timeouts = ClientTimeouts(idle: .milliseconds(200))
        let socket = ClientSession(.ephemeral).webSocketTask(with: request)
        let error = await #expect(throws: ClientError.self) { try await socket.opened() }
        #expect(error?.isTimeout == true)
    }

    @Test("Messages that come with the response are read, and a connection cut in a frame is 1006")
    func cut() async throws {
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            connection.send(
                Array(WebSocketPeer.response(head).utf8) + [0x81, 2] + Array("hi".utf8)
                    + [0x89, 1, 0x21] + [0x81, 5, 0x61])
            // The pong of the ping, with its mask.
            let pong = connection.content(7)
            guard pong.count == 7, pong[0] == 0x8A, pong[1] == 0x81, pong[6] ^ pong[2] == 0x21
            else {
                return connection.reset()
            }
        }
        let socket = ClientSession(.ephemeral).webSocketTask(with: ClientRequest(.get, peer.url()))
        #expect(try await socket.receive() == .text("hi"))
        let error = await #expect(throws: WebSocketClosedError.self) { try await socket.receive() }
        #expect(error?.end?.code == .abnormal)
        #expect(error?.end?.cause == .transport)
    }

    @Test("A masked frame of the server is refused with a close frame of 1002")
    func masked() async throws {
        let received = Locked<[UInt8]>([])
        let peer = try ScriptedPeer { connection in
            WebSocketPeer.accept(connection)
            connection.send([0x81, 0x81, 0, 0, 0, 0, 0x61])
            let close = connection.content(8)
            received.withLock { $0 = close }
        }
        let socket = ClientSession(.ephemeral).webSocketTask(with: ClientRequest(.get, peer.url()))
        await #expect(throws: WebSocketClosedError.self) { try await socket.receive() }
        #expect(socket.closeCode == .protocolError)
        try await waitUntil { received.withLock { $0.count == 8 } }
        let frame = received.withLock { $0 }
        #expect(frame[0] == 0x88)
        #expect([frame[6] ^ frame[2], frame[7] ^ frame[3]] == [0x03, 0xEA])
    }

    @Test("A server that stops reading makes the sender fail at the idle timeout")
    func stoppedServer() async throws {
        let isOver = Locked(false)
        let peer = try ScriptedPeer { connection in
            WebSocketPeer.accept(connection)
            for _ in 0..<60_000 where !isOver.withLock({ $0 }) { Pause.milliseconds(1) }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.timeouts.idle = .seconds(1)
        let socket = ClientSession(configuration).webSocketTask(
            with: ClientRequest(.get, peer.url()))
        try await socket.opened()
        await #expect(throws: WebSocketClosedError.self) {
            for _ in 0..<64 { try await socket.send([UInt8](repeating: 1, count: 1 << 20)) }
        }
        #expect(socket.end?.cause == .transport)
        isOver.withLock { $0 = true }
    }

    @Test("A connection that breaks while messages wait for a reader fails the sender")
    func brokenWhileUnread() async throws {
        let peer = try ScriptedPeer { connection in
            WebSocketPeer.accept(connection)
            let message: [UInt8] = [0x82, 126, 4, 0] + [UInt8](repeating: 1, count: 1_024)
            for _ in 0..<400 { connection.send(message) }
            // Long enough for the client to read as much as it buffers.
            Pause.milliseconds(300)
            connection.reset()
        }
        let socket = ClientSession(.ephemeral).webSocketTask(with: ClientRequest(.get, peer.url()))
        try await socket.opened()
        await #expect(throws: WebSocketClosedError.self) {
            for _ in 0..<3_000 {
                try await socket.send("anyone?")
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        socket.cancel()
    }

    @Test("A server that does not read suspends the sender above 64 KiB")
    func backPressure() async throws {
        let mayRead = Locked(false)
        let peer = try ScriptedPeer { connection in
            WebSocketPeer.accept(connection)
            for _ in 0..<60_000 where !mayRead.withLock({ $0 }) { Pause.milliseconds(1) }
            connection.waitForEnd()
        }
        let socket = ClientSession(.ephemeral).webSocketTask(with: ClientRequest(.get, peer.url()))
        try await socket.opened()
        let sent = Locked(0)
        let sender = Task {
            // More than the buffers of the system hold.
            for _ in 0..<2_000 {
                try await socket.send([UInt8](repeating: 1, count: 16 << 10))
                sent.withLock { $0 += 1 }
            }
        }
        try await waitUntil { socket.waitingBytes > 64 << 10 }
        let before = sent.withLock { $0 }
        #expect(socket.waitingBytes <= 96 << 10)
        #expect(before < 2_000)
        mayRead.withLock { $0 = true }
        try await sender.value
        #expect(sent.withLock { $0 } == 2_000)
        socket.cancel()
    }

    @Test(
        "Section 7.1.1: without the server's close frame the connection ends at the close timeout")
    func closeTimeout() async throws {
        let peer = try ScriptedPeer {
            WebSocketPeer.accept($0); $0.waitForEnd()
        }
        var options = WebSocketOptions()
        options.closeTimeout = .milliseconds(100)
        let socket = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, peer.url()), options: options)
        try await socket.opened()
        socket.cancel(with: .normal)
        await #expect(throws: WebSocketClosedError.self) { try await socket.receive() }
        #expect(socket.closeCode == .abnormal)
    }

    /// The payload of the next frame of the client, which must be a ping.
    private static func ping(on connection: PeerConnection) -> [UInt8]? {
        let head = connection.content(6)
        guard head.count == 6, head[0] == 0x89 else { return nil }
        var payload = connection.content(Int(head[1] & 0x7F))
        for index in payload.indices { payload[index] ^= head[2 + index % 4] }
        return payload
    }

    @Test("The pong to an automatic ping answers an earlier ping of the application, too")
    func onlyTheNewestPingIsAnswered() async throws {
        let peer = try ScriptedPeer { connection in
            WebSocketPeer.accept(connection)
            guard Self.ping(on: connection) != nil, let payload = Self.ping(on: connection) else {
                return connection.reset()
            }
            connection.send([0x8A, UInt8(payload.count)] + payload)
            connection.waitForEnd()
        }
        var options = WebSocketOptions()
        options.pingInterval = .milliseconds(100)
        let socket = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, peer.url()), options: options)
        try await socket.opened()
        try await socket.sendPing()
        socket.cancel()
    }

    @Test("The pong to a cancelled ping answers an earlier ping, also right before a close frame")
    func pongOfACancelledPing() async throws {
        let pings = Locked(0)
        let peer = try ScriptedPeer { connection in
            WebSocketPeer.accept(connection)
            guard Self.ping(on: connection) != nil else { return connection.reset() }
            pings.withLock { $0 += 1 }
            guard let payload = Self.ping(on: connection) else { return connection.reset() }
            pings.withLock { $0 += 1 }
            // The message comes once the second ping is cancelled.
            let message = connection.content(6 + 1)
            guard message.count == 7 else { return connection.reset() }
            connection.send([0x8A, UInt8(payload.count)] + payload + [0x88, 2, 0x03, 0xE8])
            connection.waitForEnd()
        }
        var options = WebSocketOptions()
        options.pingInterval = nil
        let socket = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, peer.url()), options: options)
        try await socket.opened()
        let first = Task { try await socket.sendPing() }
        try await waitUntil { pings.withLock { $0 } == 1 }
        let second = Task { try await socket.sendPing() }
        try await waitUntil { pings.withLock { $0 } == 2 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await socket.send(.text("x"))
        try await first.value
    }

    @Test("Pings are sent automatically, and without a pong the connection ends")
    func keepAlive() async throws {
        let pings = Locked(0)
        let peer = try ScriptedPeer { connection in
            WebSocketPeer.accept(connection)
            if connection.content(1).first == 0x89 { pings.withLock { $0 += 1 } }
            connection.waitForEnd()
        }
        var options = WebSocketOptions()
        (options.pingInterval, options.pongTimeout) = (.milliseconds(50), .milliseconds(50))
        let socket = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, peer.url()), options: options)
        let error = await #expect(throws: WebSocketClosedError.self) { try await socket.receive() }
        guard case .failure(let failure) = error?.end?.cause else {
            Issue.record("ended by \(String(describing: error))")
            return
        }
        #expect(failure.kind == .pongTimeout)
        // The peer may count it a moment after the connection has ended.
        try await waitUntil { pings.withLock { $0 } == 1 }
    }
}

import HTTPParser
import HTTPServerCore
import HTTPServerKit
import HTTPServerTLS
import HTTPServerWebSocket
import TestSupport
import Testing
import ToolkitSystem
import URLClient
import WebSocketFrames

/// A server with the WebSockets that the client's tests need.
final class WebSocketServer: Sendable {
    let port: UInt16
    private let server: HTTPServer
    /// The Cookie and Authorization fields of the handshakes.
    let fields = Locked<[String]>([])
    /// How many messages the slow reader has read.
    let slow = Locked(0)

    init(_ context: TLSContext? = nil) async throws {
        let fields = fields
        var router = Router()
        router.on(.get, "/echo") { request in
            fields.withLock {
                $0.append(request.fields[.cookie] ?? request.fields[.authorization] ?? "-")
            }
            var options = WebSocketOptions()
            options.messageBytes = 8 << 20
            return try request.webSocket(protocols: ["b", "a"], options: options) { socket in
                for try await message in socket { try await socket.send(message) }
            }
        }
        router.on(.get, "/close/:code") { request in
            let code = CloseCode(rawValue: UInt16(request.parameters["code"] ?? "") ?? 1000)
            return try request.webSocket { socket in
                try await socket.send("last")
                await socket.close(code, reason: "because")
            }
        }
        router.on(.get, "/pieces") { request in
            try request.webSocket(compression: nil) { socket in
                try await socket.send(WebSocketPiece(.text, Array("one ".utf8), isLast: false))
                // The second piece is sent once the client has read the first one.
                for try await _ in socket {
                    try await socket.send(WebSocketPiece(.text, Array("two".utf8), isLast: true))
                }
            }
        }
        router.on(.get, "/silent") { request in
            try request.webSocket { _ in try await Task.sleep(for: .seconds(600)) }
        }
        router.on(.get, "/flood") { request in
            try request.webSocket(compression: nil) { socket in
                let piece = [UInt8](repeating: 7, count: 16 << 10)
                for _ in 0..<2_000 { try await socket.send(piece) }
            }
        }
        let slow = slow
        router.on(.get, "/slow") { request in
            var options = WebSocketOptions()
            options.messageBytes = 8 << 20
            return try request.webSocket(compression: nil, options: options) { socket in
                for try await _ in socket {
                    slow.withLock { $0 += 1 }
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        }
        let endpoint = ServerConfiguration.Endpoint.tcp(host: "127.0.0.1", port: 0)
        server = HTTPServer(
            ServerConfiguration(endpoints: [context.map { endpoint.secured(by: $0) } ?? endpoint]),
            handler: router)
        try await server.start()
        port = try #require(server.addresses.first?.port)
    }

    deinit {
        let server = server
        Task { await server.shutdown(grace: .zero) }
    }

    func request(_ path: String, host: String = "127.0.0.1") -> ClientRequest {
        ClientRequest(.get, "ws://\(host):\(port)\(path)")
    }
}

@Suite("RFC 6455: the client's side of a WebSocket", .timeLimit(.minutes(3)))
struct WebSocketTaskTests {
    @Test("A piece of a message is read before the next one is sent")
    func pieces() async throws {
        let server = try await WebSocketServer()
        let options = WebSocketOptions(deliversPieces: true)
        let socket = ClientSession(.ephemeral).webSocketTask(
            with: server.request("/pieces"), options: options)
        let first = try await socket.receivePiece()
        #expect(first == WebSocketPiece(.text, Array("one ".utf8), isLast: false))
        try await socket.send("next")
        let second = try await socket.receivePiece()
        #expect(second == WebSocketPiece(.text, Array("two".utf8), isLast: true))
        // The sequence of messages joins pieces.
        let other = ClientSession(.ephemeral).webSocketTask(
            with: server.request("/pieces"), options: options)
        try await other.send("next")
        #expect(try await other.receive() == .text("one two"))
    }

    @Test("Text and binary messages of all lengths come back")
    func echoes() async throws {
        let server = try await WebSocketServer()
        let socket = ClientSession(.ephemeral).webSocketTask(with: server.request("/echo"))
        socket.maximumMessageSize = 4 << 20
        socket.resume()
        #expect(try await socket.opened().status == .switchingProtocols)
        for count in [0, 1, 125, 126, 65_535, 65_536, 3 << 20] {
            let bytes = TestServer.pattern(count)
            try await socket.send(bytes)
            #expect(try await socket.receive() == .binary(bytes))
        }
        try await socket.send("Grüße")
        #expect(try await socket.receive() == .text("Grüße"))
        try await socket.sendPing()
        socket.cancel(with: CloseCode(rawValue: 4001), reason: "done")
        #expect(try await socket.next() == nil)
        #expect(socket.closeCode == CloseCode(rawValue: 4001))
        #expect(socket.end?.cause == .local)
        await #expect(throws: WebSocketClosedError.self) { try await socket.send("late") }
        await #expect(throws: WebSocketClosedError.self) { try await socket.receive() }
    }

    @Test("Compressed messages come back")
    func compression() async throws {
        let server = try await WebSocketServer()
        let session = ClientSession(.ephemeral)
        let socket = session.webSocketTask(
            with: server.request("/echo"), compression: DeflateExtension.Offer())
        let text = String(repeating: "compress me ", count: 5_000)
        for _ in 0..<3 {
            try await socket.send(text)
            #expect(try await socket.receive() == .text(text))
        }
        #expect(socket.response?.fields[.secWebSocketExtensions] != nil)
    }

    @Test("The first of the client's subprotocols that the server supports is chosen")
    func protocols() async throws {
        let server = try await WebSocketServer()
        let session = ClientSession(.ephemeral)
        let socket = session.webSocketTask(
            with: server.request("/echo"), protocols: ["x", "a", "b"])
        try await socket.opened()
        #expect(socket.subprotocol == "a")
        var request = server.request("/echo")
        request.fields[.secWebSocketProtocol] = "b, x"
        let other = session.webSocketTask(with: request)
        try await other.opened()
        #expect(other.subprotocol == "b")
    }

    @Test("With TLS, a connect target is used, and the certificate must match the URL's host")
    func secure() async throws {
        let certificates = try await TestCertificates()
        let identity = try await certificates.identity(for: "a.test")
        let server = try await WebSocketServer(
            try TLSContext(
                TLSConfiguration(certificates: [
                    .files(chain: identity.certificate, key: identity.key)
                ])))
        let session = ClientSession(.ephemeral)
        var request = ClientRequest(.get, "wss://a.test/echo")
        request.connectTo = ConnectTarget(host: "127.0.0.1", port: server.port)
        request.tls = TLSOptions(authorities: .file(certificates.authority.certificate))
        let socket = session.webSocketTask(with: request)
        // Messages of several TLS records, of which libcurl buffers decrypted bytes.
        for count in [1, 16 << 10, 1 << 20] {
            let bytes = TestServer.pattern(count)
            try await socket.send(bytes)
            #expect(try await socket.receive() == .binary(bytes))
        }
        socket.cancel(with: .normal)
        #expect(try await socket.next() == nil)
        request.url = ClientRequest(.get, "wss://b.test/echo").url
        let wrong = session.webSocketTask(with: request)
        let error = await #expect(throws: ClientError.self) { try await wrong.opened() }
        #expect(error?.kind == .certificateNameMismatch)
    }

    @Test("Cookies of the session are sent with the handshake")
    func cookies() async throws {
        let server = try await WebSocketServer()
        var configuration = ClientConfiguration.ephemeral
        let cookies = CookieStorage()
        configuration.cookies = cookies
        let session = ClientSession(configuration)
        cookies.store(
            from: [.setCookie: "seen=yes; Path=/"],
            for: ClientRequest(.get, "http://127.0.0.1:\(server.port)/").url)
        let socket = session.webSocketTask(with: server.request("/echo"))
        try await socket.opened()
        #expect(server.fields.withLock { $0 } == ["seen=yes"])
    }

    @Test(
        "The task has the server's close code and reason",
        arguments: [1000, 1001, 1011, 3000, 4999] as [UInt16])
    func serverCloses(_ code: UInt16) async throws {
        let server = try await WebSocketServer()
        let socket = ClientSession(.ephemeral).webSocketTask(with: server.request("/close/\(code)"))
        #expect(try await socket.receive() == .text("last"))
        #expect(try await socket.next() == nil)
        #expect(socket.closeCode?.rawValue == code)
        #expect(socket.closeReason == "because")
        #expect(socket.end?.cause == .peer)
    }

    @Test("A message above the limit ends the connection with 1009")
    func limit() async throws {
        let server = try await WebSocketServer()
        let socket = ClientSession(.ephemeral).webSocketTask(with: server.request("/echo"))
        socket.maximumMessageSize = 10
        try await socket.send("0123456789")
        #expect(try await socket.receive() == .text("0123456789"))
        try await socket.send("0123456789a")
        await #expect(throws: WebSocketClosedError.self) { try await socket.receive() }
        #expect(socket.closeCode == .messageTooBig)
    }

    @Test("Section 7.1.7: messages before a protocol error are answered before the connection ends")
    func faultBehindMessages() async throws {
        let received = Locked<[UInt8]>([])
        let accept = WebSocketPeer.accept
        let peer = try ScriptedPeer { connection in
            accept(connection)
            // Two messages, and a frame with a reserved opcode.
            connection.send([0x81, 1, 0x61, 0x81, 1, 0x62, 0x83, 0])
            while true {
                let bytes = connection.receive()
                guard !bytes.isEmpty else { return }
                received.withLock { $0 += bytes }
            }
        }
        let socket = ClientSession(.ephemeral).webSocketTask(
            with: ClientRequest(.get, peer.url()))
        for _ in 0..<2 {
            let message = try await socket.receive()
            try await socket.send(message)
        }
        let error = await #expect(throws: WebSocketClosedError.self) { try await socket.receive() }
        #expect(error?.end?.code == .protocolError)
        // Two frames of 7 bytes, and the close frame.
        try await waitUntil { received.withLock { $0.count } > 14 }
        let opcodes = received.withLock { [$0[0], $0[7], $0[14]] }
        #expect(opcodes == [0x81, 0x81, 0x88])
    }

    @Test("A reader gets all messages of a server that sends without a pause")
    func slowReader() async throws {
        let server = try await WebSocketServer()
        let socket = ClientSession(.ephemeral).webSocketTask(with: server.request("/flood"))
        try await socket.opened()
        // The server sends the messages without waiting for the reader.
        var count = 0
        for try await message in socket {
            if case .binary(let bytes) = message, bytes.count == 16 << 10 { count += 1 }
        }
        #expect(count == 2_000)
        #expect(socket.closeCode == .normal)
    }

    @Test("A server that reads slowly slows down the sender")
    func slowServer() async throws {
        let server = try await WebSocketServer()
        let socket = ClientSession(.ephemeral).webSocketTask(with: server.request("/slow"))
        try await socket.opened()
        let message = TestServer.pattern(1 << 20)
        var most = 0
        for sent in 1...64 {
            try await socket.send(message)
            most = max(most, sent - server.slow.withLock { $0 })
        }
        // The system's buffers hold some MiB.
        #expect(most < 24, "\(most) MiB were ahead")
        socket.cancel(with: .normal, reason: "")
    }

    @Test("Other requests of the session do not disturb a WebSocket whose reader is slow")
    func besideRequests() async throws {
        let server = try await WebSocketServer()
        let other = try await TestServer()
        let session = ClientSession(.ephemeral)
        let socket = session.webSocketTask(with: server.request("/flood"))
        try await socket.opened()
        let clock = ContinuousClock()
        let start = clock.now
        // libcurl checks its idle connections once a second, when it needs a connection.
        while clock.now - start < .milliseconds(2_500) {
            _ = try await session.data(for: ClientRequest(.get, other.url("/echo")))
            await session.flush()
        }
        var count = 0
        for try await _ in socket { count += 1 }
        #expect(count == 2_000)
    }

    @Test("Cancellation ends the wait for a message and for a handshake")
    func cancellation() async throws {
        let server = try await WebSocketServer()
        let session = ClientSession(.ephemeral)
        let socket = session.webSocketTask(with: server.request("/silent"))
        try await socket.opened()
        let reader = Task { try await socket.receive() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        let peer = try ScriptedPeer {
            _ = $0.head(); $0.waitForEnd()
        }
        let waiting = session.webSocketTask(with: ClientRequest(.get, peer.url()))
        let opening = Task { try await waiting.opened() }
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
        waiting.cancel()
        let error = await #expect(throws: ClientError.self) { try await waiting.opened() }
        #expect(error?.kind == .cancelled)
        socket.cancel()
        try await waitUntil { socket.end != nil }
    }

    @Test("An invalidated session ends its WebSockets and opens no others")
    func invalidation() async throws {
        let server = try await WebSocketServer()
        let session = ClientSession(.ephemeral)
        let socket = session.webSocketTask(with: server.request("/silent"))
        try await socket.opened()
        session.invalidateAndCancel()
        try await waitUntil { socket.end != nil }
        let late = session.webSocketTask(with: server.request("/silent"))
        let error = await #expect(throws: ClientError.self) { try await late.opened() }
        #expect(error?.kind == .sessionInvalidated)
    }

    @Test("A released task closes its connection")
    func release() async throws {
        let ended = Locked(false)
        let accept = WebSocketPeer.accept
        let peer = try ScriptedPeer { connection in
            accept(connection)
            connection.waitForEnd()
            ended.withLock { $0 = true }
        }
        let session = ClientSession(.ephemeral)
        do {
            let socket = session.webSocketTask(with: ClientRequest(.get, peer.url()))
            try await socket.opened()
        }
        try await waitUntil { ended.withLock { $0 } }
    }
}

extension WebSocketTask {
    /// The next message of the sequence.
    fileprivate func next() async throws -> WebSocketMessage? {
        try await makeAsyncIterator().next()
    }
}

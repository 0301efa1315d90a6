import HTTPServerCore
import HTTPServerWebSocket
import TestSupport
import Testing
import ToolkitSystem
import WebSocketFrames

@testable import WebSocketConnections

/// Options of connections that deliver pieces of messages of up to a GiB.
private var inPieces: WebSocketOptions {
    var options = WebSocketOptions(messageBytes: 1 << 30, deliversPieces: true)
    options.pingInterval = nil
    return options
}

/// Sends for each piece its kind, its length and whether it is the last one.
private func reporter(_ options: WebSocketOptions = inPieces) -> SyncHandler {
    SyncHandler { request in
        try request.webSocket(options: options) { socket in
            while let piece = try await socket.nextPiece() {
                let end = piece.isLast ? "last" : "more"
                try await socket.send("\(piece.kind) \(piece.bytes.count) \(end)")
            }
        }
    }
}

@Suite("RFC 6455 section 5.4: reading a message in pieces")
struct PieceReadingTests {
    @Test("A piece is read before the rest of its message is sent")
    func early() async throws {
        let client = Client(reporter())
        client.send(2, "0123456789", isFinal: false)
        try await client.output(serverFrame(1, "binary 10 more"))
        // Part of a frame is a piece, too.
        let frame = Client.maskedFrame(0, Array("abcdefgh".utf8))
        client.connection.feed([.bytes(Array(frame.dropLast(3)))])
        try await client.output(serverFrame(1, "binary 5 more"))
        client.connection.feed([.bytes(Array(frame.suffix(3)))])
        try await client.output(serverFrame(1, "binary 3 last"))
        client.send(1, "text")
        try await client.output(serverFrame(1, "text 4 last"))
    }

    @Test("Without the option each message is one piece")
    func whole() async throws {
        let client = Client(reporter(WebSocketOptions()))
        client.send(2, "0123456789", isFinal: false)
        client.send(0, "ab")
        try await client.output(serverFrame(1, "binary 12 last"))
    }

    @Test("A reader of messages gets whole messages, at each split of the input")
    func joined() async throws {
        let frames =
            Client.maskedFrame(1, Array("héllo ".utf8), isFinal: false)
            + Client.maskedFrame(0, Array("wörld".utf8)) + Client.maskedFrame(1, [])
        let expected = serverFrame(1, "héllo wörld") + serverFrame(1, "")
        for index in 0...frames.count {
            let handler = SyncHandler { request in
                try request.webSocket(options: inPieces) { socket in
                    for try await message in socket { try await socket.send(message) }
                }
            }
            let client = Client(handler)
            client.connection.feed(
                [Array(frames[..<index]), Array(frames[index...])].filter { !$0.isEmpty }
                    .map { .bytes($0) })
            try await client.output(expected)
        }
    }

    @Test("A cancelled reader of messages loses nothing of the message that has begun")
    func cancelled() async throws {
        let reads = Locked(0)
        let handler = SyncHandler { request in
            try request.webSocket(options: inPieces) { socket in
                let reader = Task { try await socket.makeAsyncIterator().next() }
                // The reader takes the first piece before the test sets `reads`.
                try await waitUntil { reads.withLock { $0 > 0 } }
                reader.cancel()
                _ = await reader.result
                guard let piece = try await socket.nextPiece() else { return }
                try await socket.send(.text(String(decoding: piece.bytes, as: UTF8.self)))
                for try await message in socket { try await socket.send(message) }
            }
        }
        let client = Client(handler)
        client.send(1, "first ", isFinal: false)
        for _ in 0..<20 { await client.connection.settle() }
        reads.withLock { $0 = 1 }
        try await client.output(serverFrame(1, "first "))
        client.send(0, "rest")
        try await client.output(serverFrame(1, "rest"))
    }

    @Test("Pieces that no task reads stop the input, however long their message is")
    func unread() async throws {
        let handler = SyncHandler { request in
            try request.webSocket(options: inPieces) { _ in
                try await Task.sleep(for: .seconds(600))
            }
        }
        let client = Client(handler)
        let length = 64 << 20
        let head: [UInt8] =
            [0x82, 0xFF, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(length >> $0 & 0xFF) }
            + [0, 0, 0, 0]
        let rest = [UInt8](repeating: 7, count: 16 << 10)
        client.connection.feed([.bytes(head)] + Array(repeating: .bytes(rest), count: 100))
        for _ in 0..<20 { await client.connection.settle() }
        #expect(client.connection.record.received < 300 << 10)
        client.connection.hangUp()
        try await client.connection.closed()
    }

    @Test("A message above the limit ends after its pieces with 1009")
    func tooLong() async throws {
        var options = inPieces
        options.messageBytes = 12
        let client = Client(reporter(options))
        client.send(2, "0123456789", isFinal: false)
        try await client.output(serverFrame(1, "binary 10 more"))
        client.send(0, "abc")
        try await client.output([0x03, 0xF1])
    }
}

@Suite("The queue of messages")
struct MessageInboxTests {
    @Test("After the handler has returned, no end of a message is read as a whole one")
    func abandoned() {
        let inbox = MessageInbox(limit: 1_000)
        func piece(_ text: String, isLast: Bool) -> WebSocketInput {
            .piece(WebSocketPiece(.text, Array(text.utf8), isLast: isLast))
        }
        #expect(inbox.join(piece("in ", isLast: false)) == nil)
        #expect(inbox.join(piece("parts", isLast: true)) == .text("in parts"))
        #expect(inbox.join(piece("in ", isLast: false)) == nil)
        inbox.abandon()
        #expect(inbox.join(piece("parts", isLast: true)) == nil)
        #expect(inbox.takeBegun() == nil)
    }
}

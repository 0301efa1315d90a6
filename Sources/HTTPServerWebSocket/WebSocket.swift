internal import ToolkitSystem
internal import WebSocketConnections
public import WebSocketFrames

/// The server's side of a WebSocket connection (RFC 6455): a sequence of the client's messages, and
/// calls to send messages.
///
/// ```swift
/// router.get("/echo") { request in
///     try request.webSocket { socket in
///         for try await message in socket { try await socket.send(message) }
///     }
/// }
/// ```
///
/// One task reads; any number may send. Pings are answered even while no task reads. The
/// sequence ends when either side has closed the connection. It throws `WebSocketClosedError` when
/// the client has violated the protocol or a limit, or has gone without a close frame.
public final class WebSocket: Sendable {
    /// The subprotocol that was chosen; `nil` for none.
    public let subprotocol: String?
    private let connection: WebSocketConnection

    init(_ connection: WebSocketConnection, subprotocol: String?) {
        self.connection = connection
        self.subprotocol = subprotocol
    }

    // MARK: Sending

    /// Sends a message. Suspends while more than 64 KiB wait for the client.
    /// - Throws: `WebSocketClosedError` when the connection is closed, or about to be;
    ///   `WebSocketSendError.messageUnfinished` while a message in pieces is not complete.
    public func send(_ message: WebSocketMessage) async throws {
        try await connection.send(.message(message))
    }

    /// Sends text; see ``send(_:)-(WebSocketMessage)``.
    public func send(_ text: String) async throws {
        try await connection.send(.message(.text(text)))
    }

    /// Sends bytes; see ``send(_:)-(WebSocketMessage)``.
    public func send(_ bytes: [UInt8]) async throws {
        try await connection.send(.message(.binary(bytes)))
    }

    /// Sends a piece of a long message, which the client can read immediately.
    ///
    /// Until the last piece no other message can be sent.
    /// - Throws: `WebSocketSendError.messageUnfinished` if the piece differs in kind from its
    ///   message, and `WebSocketClosedError`.
    public func send(_ piece: WebSocketPiece) async throws {
        try await connection.send(.piece(piece))
    }

    /// Sends a ping. The payload is cut off after 125 bytes. The connection also sends pings by
    /// itself.
    public func ping(_ payload: [UInt8] = []) async throws {
        try await connection.send(.ping(Array(payload.prefix(125))))
    }

    /// The number of bytes that wait for the client to read them. A program that would rather drop
    /// live data than wait checks this first.
    public var waitingBytes: Int { connection.waitingBytes }

    // MARK: Reading in pieces

    /// The next piece of a message; `nil` once the connection is closed.
    ///
    /// With `WebSocketOptions.deliversPieces`, a piece is available as soon as its bytes have
    /// arrived, so a long message need not fit into memory; `messageBytes` still limits the whole
    /// message. Without it, each message is one piece. One task reads at a time, by this method or
    /// by the sequence of messages.
    /// - Throws: the errors of the sequence of messages. An error may follow pieces of an
    ///   incomplete message: only a piece with `isLast` completes a message.
    public func nextPiece() async throws -> WebSocketPiece? { try await connection.nextPiece() }

    // MARK: The end

    /// Closes the connection. Messages that the client has sent before its close frame can still be
    /// read.
    /// - Parameters:
    ///   - code: a code that may be sent, see `CloseCode.isSendable`; others are sent as 1011.
    ///   - reason: a text for people; characters beyond 123 bytes of UTF-8 are left out.
    public func close(_ code: CloseCode = .normal, reason: String = "") async {
        await connection.close(code.isSendable ? code : .internalError, reason: reason)
    }

    /// How the connection ended, with the client's code and reason; `nil` while it is open.
    public var end: WebSocketEnd? { connection.end }
}

extension WebSocket: AsyncSequence {
    /// Reads the messages of the client.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let connection: WebSocketConnection

        /// The next message; `nil` once the connection is closed.
        /// - Throws: `WebSocketClosedError`; `CancellationError` when the task is cancelled.
        public func next() async throws -> WebSocketMessage? {
            // Do not call `connection.next()`: another async stack frame would cost an idle
            // handler a second block of memory.
            while true {
                var input = connection.takeInput()
                if input == nil {
                    input = try await WebSocketConnection.InputReader.value {
                        connection.read($0, $1)
                    } onCancel: { [connection] in
                        connection.cancelReading($0)
                    }
                }
                guard let input else { return nil }
                if let message = connection.join(input) { return message }
            }
        }
    }

    /// Creates an iterator. It continues after the last message that was read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connection: connection) }
}

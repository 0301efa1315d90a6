internal import HTTPParser
internal import WebSocketConnections
public import WebSocketFrames

/// A client's WebSocket (RFC 6455), similar to `URLSessionWebSocketTask`: a sequence of the
/// server's messages, and functions that send messages.
///
/// ```swift
/// let socket = session.webSocketTask(with: ClientRequest(.get, "wss://example.org/chat"))
/// socket.resume()
/// try await socket.send("hello")
/// for try await message in socket { print(message) }
/// ```
///
/// One task reads; any number of tasks may send. The server's pings are answered even while no task
/// reads. Up to 64 KiB of messages are buffered for the reader; then the connection is not read.
/// Calls wait for the handshake. The connection is closed with 1001 when its last reference is
/// released.
///
/// A failed handshake throws `ClientError`: ``ClientError/Kind/webSocketRefused(_:)`` for a
/// response with another status than 101. Redirects are not followed. Challenges are answered from
/// ``AuthenticationOptions`` and the request's own credential; the delegate is not called.
public final class WebSocketTask: Sendable {
    /// The request that the task was created with.
    public let originalRequest: ClientRequest
    private let runner: WebSocketRunner
    private let state: WebSocketState
    /// The task retains its session: a session that the application has released ends after its
    /// tasks.
    private let session: ClientSession

    init(_ session: ClientSession, _ request: ClientRequest, _ plan: WebSocketRunner.Plan) {
        self.session = session
        originalRequest = request
        state = WebSocketState(plan.options)
        runner = WebSocketRunner(session.loop, session.policy, state, plan)
    }

    deinit {
        runner.release()
    }

    // MARK: The handshake

    /// Starts to connect. Further calls do nothing.
    public func resume() {
        guard state.start() else { return }
        runner.resume()
    }

    /// Waits for the handshake, and starts it if it was not started.
    /// - Returns: the response of status 101.
    /// - Throws: `ClientError`; `CancellationError` when the calling task is cancelled.
    @discardableResult
    public func opened() async throws -> ClientResponse {
        _ = try await connection()
        return state.response
            ?? ClientResponse(url: originalRequest.url, status: .switchingProtocols)
    }

    private func connection() async throws -> WebSocketConnection {
        resume()
        return try await state.opened()
    }

    /// The response to the handshake, with any status; nil before it was received.
    public var response: ClientResponse? { state.response }

    /// The subprotocol that the server chose; nil for none, and before the handshake is done.
    public var subprotocol: String? { state.subprotocol }

    /// The error of a failed handshake; nil otherwise.
    public var error: ClientError? { state.error }

    /// The longest message, in bytes of content; 1 MiB by default. Set it before the task is
    /// started. A longer message ends the connection with 1009.
    public var maximumMessageSize: Int {
        get { Int(clamping: state.options.messageBytes) }
        set { state.options.messageBytes = Int64(Swift.max(0, newValue)) }
    }

    // MARK: Sending

    /// Sends a message. Suspends while more than 64 KiB wait to be sent.
    /// - Throws: `ClientError` when the handshake has failed; `WebSocketClosedError` when the
    ///   connection is closed, or about to be.
    public func send(_ message: WebSocketMessage) async throws {
        try await connection().send(.message(message))
    }

    /// Sends text; see ``send(_:)-(WebSocketMessage)``.
    public func send(_ text: String) async throws { try await send(.text(text)) }

    /// Sends bytes; see ``send(_:)-(WebSocketMessage)``.
    public func send(_ bytes: [UInt8]) async throws { try await send(.binary(bytes)) }

    /// Sends a piece of a long message, which the server can read before the next piece.
    ///
    /// Until the last piece no other message can be sent.
    /// - Throws: `WebSocketSendError.messageUnfinished` if the piece belongs to another message;
    ///   also the errors of sending a message.
    public func send(_ piece: WebSocketPiece) async throws {
        try await connection().send(.piece(piece))
    }

    /// Sends a ping, and waits for its pong (RFC 6455 section 5.5.2). The connection also sends
    /// pings automatically: see `WebSocketOptions.pingInterval`.
    /// - Throws: the errors of sending a message; `CancellationError` when the calling task is
    ///   cancelled.
    public func sendPing() async throws {
        try await connection().pingAndWait()
    }

    /// How many bytes wait to be sent.
    public var waitingBytes: Int { state.connection?.waitingBytes ?? 0 }

    // MARK: Receiving

    /// The next message.
    /// - Throws: `WebSocketClosedError` once the connection is closed and all of its messages were
    ///   read; `ClientError` when the handshake has failed; `CancellationError` when the calling
    ///   task is cancelled.
    public func receive() async throws -> WebSocketMessage {
        let connection = try await connection()
        guard let message = try await connection.next() else {
            throw WebSocketClosedError(end: connection.end)
        }
        return message
    }

    /// The next piece of a message; nil once the connection is closed.
    ///
    /// With `WebSocketOptions.deliversPieces` a piece is here as soon as its bytes have arrived, so
    /// that a long message takes no more memory than its pieces; ``maximumMessageSize`` still
    /// limits the whole message. Without it, each message is one piece. One task reads at a time,
    /// by this method, by ``receive()`` or by the sequence of messages.
    /// - Throws: the errors of the sequence of messages. The pieces before the error were read
    ///   already: only a piece with `isLast` completes a message.
    public func receivePiece() async throws -> WebSocketPiece? {
        try await connection().nextPiece()
    }

    fileprivate func next() async throws -> WebSocketMessage? {
        try await connection().next()
    }

    // MARK: The end

    /// Sends a close frame, and closes the connection once the server has answered it, after 5
    /// seconds at the latest. Messages that the server has sent before its own close frame can
    /// still be read. A task whose handshake is not complete fails with
    /// ``ClientError/Kind/cancelled``.
    /// - Parameters:
    ///   - code: a code that may be sent, see `CloseCode.isSendable`; any other code is sent as
    ///     1000.
    ///   - reason: a text for human readers, cut off after 123 bytes of UTF-8.
    public func cancel(with code: CloseCode, reason: String = "") {
        runner.close(code.isSendable ? code : .normal, reason: reason)
    }

    /// Closes the connection immediately, with a close frame of 1001 if it can be sent.
    public func cancel() { runner.cancel() }

    /// How the connection ended, with the server's code and reason; nil while it is open.
    public var end: WebSocketEnd? { state.connection?.end }

    /// The close code; nil while the connection is open.
    public var closeCode: CloseCode? { end?.code }

    /// The close reason; nil while the connection is open.
    public var closeReason: String? { end?.reason }
}

extension WebSocketTask: AsyncSequence {
    /// Reads the messages of the server.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let task: WebSocketTask

        /// The next message; nil once the connection is closed.
        /// - Throws: `WebSocketClosedError` when the server has violated the protocol or a limit,
        ///   or has disconnected without a close frame; `ClientError` when the handshake has
        ///   failed; `CancellationError` when the calling task is cancelled.
        public func next() async throws -> WebSocketMessage? { try await task.next() }
    }

    /// Continues to read where the last reader has stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: self) }
}

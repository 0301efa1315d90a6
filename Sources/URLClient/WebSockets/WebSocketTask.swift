internal import HTTPParser
internal import WebSocketConnections
public import WebSocketFrames

/// A WebSocket of a client (RFC 6455), in the shape of `URLSessionWebSocketTask`: a sequence of the
/// server's messages, and the calls that send some.
///
/// ```swift
/// let socket = session.webSocketTask(with: ClientRequest(.get, "wss://example.org/chat"))
/// socket.resume()
/// try await socket.send("hello")
/// for try await message in socket { print(message) }
/// ```
///
/// One task reads; any number may send. Pings of the server are answered while no task reads, too, and
/// up to 64 KiB of messages wait for the reader before the connection is not read any more. Calls wait
/// for the handshake. The connection is closed with 1001 when its last reference is released.
///
/// A handshake that fails throws `ClientError`: ``ClientError/Kind/webSocketRefused(_:)`` for a response
/// of another status than 101. Redirects are not followed. Challenges are answered as
/// ``AuthenticationOptions`` say, and by the request's own credential; no delegate is asked.
public final class WebSocketTask: Sendable {
    /// The request of the handshake, as the task was created with it.
    public let originalRequest: ClientRequest
    private let runner: WebSocketRunner
    private let state: WebSocketState
    /// A session that its user has released lives as long as its tasks.
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

    /// Waits for the handshake, which it starts if that was not done.
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

    /// The response to the handshake, whatever its status; nil before it has come.
    public var response: ClientResponse? { state.response }

    /// The subprotocol that the server chose; nil for none, and before the handshake is done.
    public var subprotocol: String? { state.subprotocol }

    /// Why the handshake has failed; nil if it has not.
    public var error: ClientError? { state.error }

    /// How long a message may be, in bytes of its content; 1 MiB unless it is set before the task is
    /// started. A longer one ends the connection with 1009.
    public var maximumMessageSize: Int {
        get { Int(clamping: state.options.messageBytes) }
        set { state.options.messageBytes = Int64(Swift.max(0, newValue)) }
    }

    // MARK: Sending

    /// Sends a message. It suspends while the server is more than 64 KiB behind.
    /// - Throws: `ClientError` when the handshake has failed; `WebSocketClosedError` when the
    ///   connection is closed, or about to be.
    public func send(_ message: WebSocketMessage) async throws {
        try await connection().send(.message(message))
    }

    /// Sends text; see ``send(_:)-(WebSocketMessage)``.
    public func send(_ text: String) async throws { try await send(.text(text)) }

    /// Sends bytes; see ``send(_:)-(WebSocketMessage)``.
    public func send(_ bytes: [UInt8]) async throws { try await send(.binary(bytes)) }

    /// Sends a piece of a long message, which the server can read at once.
    ///
    /// Until the last piece no other message can be sent.
    /// - Throws: `WebSocketSendError.messageUnfinished` when the piece is of another message, and what
    ///   sending a message throws.
    public func send(_ piece: WebSocketPiece) async throws {
        try await connection().send(.piece(piece))
    }

    /// Sends a ping, and waits for its pong (RFC 6455 section 5.5.2). The connection sends pings by
    /// itself, too: see `WebSocketOptions.pingInterval`.
    /// - Throws: what sending a message throws; `CancellationError` when the calling task is cancelled.
    public func sendPing() async throws {
        try await connection().pingAndWait()
    }

    /// How many bytes wait for the server to take them.
    public var waitingBytes: Int { state.connection?.waitingBytes ?? 0 }

    // MARK: Receiving

    /// The next message.
    /// - Throws: `WebSocketClosedError` once the connection is closed, in whichever way, and all of its
    ///   messages were read; `ClientError` when the handshake has failed; `CancellationError` when
    ///   the calling task is cancelled.
    public func receive() async throws -> WebSocketMessage {
        let connection = try await connection()
        guard let message = try await connection.next() else {
            throw WebSocketClosedError(end: connection.end)
        }
        return message
    }

    fileprivate func next() async throws -> WebSocketMessage? {
        try await connection().next()
    }

    // MARK: The end

    /// Sends a close frame, and closes the connection once the server has answered it, after 5 seconds
    /// at the latest. Messages that the server has sent before its own close frame still come. A task
    /// whose handshake is not done fails with ``ClientError/Kind/cancelled``.
    /// - Parameters:
    ///   - code: a code that may be sent, see `CloseCode.isSendable`; others are sent as 1000.
    ///   - reason: a text for people; what exceeds 123 bytes of UTF-8 is left out.
    public func cancel(with code: CloseCode, reason: String = "") {
        runner.close(code.isSendable ? code : .normal, reason: reason)
    }

    /// Closes the connection at once, with a close frame of 1001 if it can be sent.
    public func cancel() { runner.cancel() }

    /// How the connection ended, with the server's code and reason; nil while it is open.
    public var end: WebSocketEnd? { state.connection?.end }

    /// The code of the end; nil while the connection is open.
    public var closeCode: CloseCode? { end?.code }

    /// The reason of the end; nil while the connection is open.
    public var closeReason: String? { end?.reason }
}

extension WebSocketTask: AsyncSequence {
    /// Reads the messages of the server.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let task: WebSocketTask

        /// The next message; nil once the connection is closed.
        /// - Throws: `WebSocketClosedError` when the server has violated the protocol or a limit, or has
        ///   gone without a close frame; `ClientError` when the handshake has failed;
        ///   `CancellationError` when the calling task is cancelled.
        public func next() async throws -> WebSocketMessage? { try await task.next() }
    }

    /// Reads messages from where the last reader has stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(task: self) }
}

/// An event that a ``WebSocketMachine`` reports.
public enum WebSocketEvent: Hashable, Sendable {
    /// A message, with ``WebSocketOptions/deliversPieces`` off.
    case message(WebSocketMessage)
    /// A piece of a message, with ``WebSocketOptions/deliversPieces`` on.
    case piece(WebSocketPiece)
    /// The peer's ping. Its pong is already in the output, unless a close frame was sent before.
    case ping([UInt8])
    /// A pong that does not answer one of the machine's own pings.
    case pong([UInt8])
    /// The connection was closed, or has failed. This is the last event.
    case closed(WebSocketEnd)
}

/// The end of a connection.
///
/// RFC 6455, sections 7.1.5 to 7.1.7.
public struct WebSocketEnd: Hashable, Sendable {
    /// The code of the peer's close frame: ``CloseCode/noStatus`` if the frame has no code,
    /// ``CloseCode/abnormal`` if the connection ended without a close frame. After a failure, the
    /// code for the error.
    public var code: CloseCode
    /// The reason in the peer's close frame; after a failure, the text for the error.
    public var reason: String
    /// The cause of the end.
    public var cause: Cause

    /// How a connection ended.
    public enum Cause: Hashable, Sendable {
        /// The peer closed first.
        case peer
        /// This side closed first, and the peer answered.
        case local
        /// The peer violated the protocol or a limit, or did not answer in time.
        case failure(WebSocketError)
        /// The transport ended without a close frame of the peer.
        case transport
    }

    /// Creates an end.
    public init(_ code: CloseCode, reason: String = "", cause: Cause) {
        self.code = code
        self.reason = reason
        self.cause = cause
    }
}

/// A message that cannot be sent.
public enum WebSocketSendError: Error, Hashable, Sendable {
    /// A close frame was sent, or the connection has ended (RFC 6455 section 5.5.1).
    case closed
    /// Another message is sent in pieces, and its last piece is missing (section 5.4); or a piece
    /// differs in kind from its message.
    case messageUnfinished
    /// There is not enough memory for the compressor.
    case outOfMemory
}

/// An event that a ``WebSocketMachine`` reports.
public enum WebSocketEvent: Hashable, Sendable {
    /// A message, with ``WebSocketOptions/deliversPieces`` off.
    case message(WebSocketMessage)
    /// A piece of a message, with ``WebSocketOptions/deliversPieces`` on.
    case piece(WebSocketPiece)
    /// The peer's ping; its pong is in the output already.
    case ping([UInt8])
    /// A pong that does not answer one of the machine's own pings.
    case pong([UInt8])
    /// The connection is closed, or failed: the last event.
    case closed(WebSocketEnd)
}

/// The end of a connection.
///
/// RFC 6455, sections 7.1.5 to 7.1.7.
public struct WebSocketEnd: Hashable, Sendable {
    /// The code of the peer's close frame; ``CloseCode/noStatus`` if it had none,
    /// ``CloseCode/abnormal`` if the connection ended without one; after a failure the code that
    /// the peer gets.
    public var code: CloseCode
    /// The reason of the peer's close frame; after a failure the one that the peer gets.
    public var reason: String
    /// How it came about.
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
    /// A close frame was sent, or the connection is over (RFC 6455 section 5.5.1).
    case closed
    /// Another message is sent in pieces and lacks its last one (section 5.4), or the kind of a
    /// piece is not that of its message.
    case messageUnfinished
    /// The compressor did not get the memory that it needs.
    case outOfMemory
}

/// A side of a WebSocket connection.
///
/// RFC 6455, section 1.2.
public enum WebSocketRole: Sendable {
    /// The side that answered the handshake. It sends without masks.
    case server
    /// The side that opened the connection. It masks each frame (RFC 6455 section 5.3).
    case client
}

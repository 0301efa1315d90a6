/// The error of an operation on a connection that is closed or was cut off.
public struct WebSocketClosedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The end of the connection; `nil` if this side has sent a close frame and the peer has not
    /// answered yet.
    public var end: WebSocketEnd?

    /// Creates an error.
    public init(end: WebSocketEnd?) {
        self.end = end
    }

    /// One line with code and reason.
    public var description: String {
        guard let end else { return "the WebSocket connection is being closed" }
        let reason = end.reason.isEmpty ? "" : " (\(end.reason))"
        return "the WebSocket connection was closed with \(end.code)\(reason)"
    }
}

/// Why a connection was closed.
@nonexhaustive
public enum ConnectionCloseReason: Sendable, Hashable {
    /// The last response was sent, and the client or the server wanted to close.
    case finished
    /// The client closed the connection while no request was under way.
    case clientClosed
    /// The client disconnected, or the connection failed, while a request was under way.
    case connectionLost
    /// The client was too slow.
    case timedOut(Wait)
    /// The client sent an invalid request and got an error response.
    case malformedRequest
    /// A response could not be completed: its stream or its file failed.
    case responseFailed
    /// The connection was idle, and a new connection needed its slot; see
    /// `ServerConfiguration.closesIdleAtLimit`.
    case displaced
    /// The server stops.
    case shutdown

    /// The action that a client did not perform in time.
    @nonexhaustive
    public enum Wait: Sendable, Hashable {
        /// To send the head of a request.
        case head
        /// To send the next request.
        case idle
        /// To send the content of a request at the required rate.
        case content
        /// To take some of a response.
        case write
    }
}

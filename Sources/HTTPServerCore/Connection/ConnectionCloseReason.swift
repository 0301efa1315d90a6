/// Why a connection was closed.
@nonexhaustive
public enum ConnectionCloseReason: Sendable, Hashable {
    /// The last response was sent and said so, by the wish of either side.
    case finished
    /// The client closed it while nothing was under way.
    case clientClosed
    /// The client went away, or the connection failed, while something was under way.
    case connectionLost
    /// The client was too slow.
    case timedOut(Wait)
    /// The client sent an invalid request and got an error response.
    case malformedRequest
    /// A response could not be ended as it had begun: its stream or its file failed.
    case responseFailed
    /// It was idle, and a new connection needed its place; see
    /// `ServerConfiguration.closesIdleAtLimit`.
    case displaced
    /// The server stops.
    case shutdown

    /// The kind of input that a client failed to send in time.
    @nonexhaustive
    public enum Wait: Sendable, Hashable {
        /// The head of a request.
        case head
        /// The next request.
        case idle
        /// The content of a request, at the rate that is asked for.
        case content
        /// That it takes some of a response.
        case write
    }
}

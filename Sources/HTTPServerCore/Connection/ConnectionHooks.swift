/// Callbacks for events of connections and their requests.
///
/// ```swift
/// configuration.hooks.admits = { !blocked.contains($0.peer.host) }
/// configuration.hooks.closed = { connection, reason in print(connection.bytesSent, reason) }
/// ```
///
/// Every closure is called on the event loop of the connection and must not block. A `nil` closure
/// costs one check.
public struct ConnectionHooks: Sendable {
    /// Takes a request, the bytes of content so far, and how many there will be in all, where that
    /// is known.
    public typealias Progress = @Sendable (Request, _ bytes: Int64, _ total: Int64?) -> Void

    /// Asked for each new connection before anything is read from it; `false` closes it at once,
    /// without an answer. `opened` and `closed` are not called for it then.
    public var admits: (@Sendable (ConnectionInfo) -> Bool)?
    /// Called when a connection was admitted.
    public var opened: (@Sendable (ConnectionInfo) -> Void)?
    /// Called when a connection is closed, after all other callbacks.
    public var closed: (@Sendable (ConnectionInfo, ConnectionCloseReason) -> Void)?
    /// Called for each read, with the number of its bytes, heads and framing included.
    public var received: (@Sendable (ConnectionInfo, Int) -> Void)?
    /// Called when the system has taken bytes, with their number, heads and framing included.
    public var sent: (@Sendable (ConnectionInfo, Int) -> Void)?

    /// Called when the head of a request is complete, before its handler.
    public var requestBegan: (@Sendable (Request) -> Void)?
    /// Called for each piece of a request's content as it arrives, without transfer coding, with
    /// content coding. Skipped content is not reported.
    public var contentReceived: Progress?
    /// Called whenever more of a response's content was handed to the system, and once at the end.
    public var contentSent: Progress?
    /// Called when a response was sent, or will not be: the record says which. For heads that could
    /// not be parsed `requestBegan` was not called, and the record has no request.
    public var requestEnded: (@Sendable (AccessRecord) -> Void)?

    /// Creates hooks of which none is set.
    public init() {}

    /// Whether something of each request is asked for.
    var observesRequests: Bool {
        requestBegan != nil || contentReceived != nil || contentSent != nil || requestEnded != nil
    }
}

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
    /// Gets a request, the number of content bytes so far, and their total, or `nil` if the total
    /// is not known.
    public typealias Progress = @Sendable (Request, _ bytes: Int64, _ total: Int64?) -> Void

    /// Called for each new connection before anything is read from it. `false` closes it
    /// immediately, without an answer, and without calls of `opened` and `closed`.
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
    /// Called when a response was sent or was given up; see `AccessRecord.failure`. After a head
    /// that could not be parsed, the record has no request, and `requestBegan` was not called.
    public var requestEnded: (@Sendable (AccessRecord) -> Void)?

    /// Creates hooks without closures.
    public init() {}

    /// Whether a hook observes requests.
    var observesRequests: Bool {
        requestBegan != nil || contentReceived != nil || contentSent != nil || requestEnded != nil
    }
}

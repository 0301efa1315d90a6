/// Time limits of a task; nil for no limit.
///
/// They are checked at most some hundred times a second: an error may come up to 20 ms late.
public struct ClientTimeouts: Sendable, Hashable {
    /// The longest wait for a free connection. The limit applies to each wait of the task, also
    /// after a redirect, a challenge, a failure or a suspension.
    public var queue: Duration?
    /// The longest time to resolve the name and to connect, including the connection through a
    /// proxy.
    public var connect: Duration?
    /// The longest TLS handshake, from the moment the client is connected.
    public var tls: Duration?
    /// The longest time from the end of the request to the first byte of the response.
    public var firstByte: Duration?
    /// The longest time without a byte sent or received, and the longest time that a delegate may
    /// take to decide about a redirect or about caching. The same as `timeoutIntervalForRequest` of
    /// `NSURLSessionConfiguration`.
    public var idle: Duration?
    /// The longest time for the whole task with all its transactions. The same as
    /// `timeoutIntervalForResource` of `NSURLSessionConfiguration`.
    public var total: Duration?

    /// Creates limits. The defaults are those of `NSURLSession`, with 60 seconds to connect.
    public init(
        queue: Duration? = nil, connect: Duration? = .seconds(60), tls: Duration? = nil,
        firstByte: Duration? = nil, idle: Duration? = .seconds(60),
        total: Duration? = .seconds(7 * 24 * 3600)
    ) {
        self.queue = queue
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }

    /// One of the limits, as errors name it.
    public enum Limit: String, Sendable, Hashable, CaseIterable {
        /// ``ClientTimeouts/queue``
        case queue
        /// ``ClientTimeouts/connect``
        case connect
        /// ``ClientTimeouts/tls``
        case tls
        /// ``ClientTimeouts/firstByte``
        case firstByte
        /// ``ClientTimeouts/idle``
        case idle
        /// ``ClientTimeouts/total``
        case total
    }
}

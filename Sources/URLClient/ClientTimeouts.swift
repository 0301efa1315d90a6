/// How long things may take; nil stands for as long as it takes.
///
/// They are checked some hundred times a second at most: expect errors to come up to 20 ms late.
public struct ClientTimeouts: Sendable, Hashable {
    /// Waiting for a connection that may be used. The limit holds each time that a request of the
    /// task waits for one, also after a redirect, a challenge, a failure or a suspension.
    public var queue: Duration?
    /// Finding the address and connecting, the proxy's part included.
    public var connect: Duration?
    /// Agreeing on TLS keys once connected.
    public var tls: Duration?
    /// From the end of the request to the first byte of the response.
    public var firstByte: Duration?
    /// Between two pieces of anything, in either direction, and until a delegate that is asked about
    /// a redirect has answered. `timeoutIntervalForRequest` of `NSURLSessionConfiguration`.
    public var idle: Duration?
    /// The whole task with all its transactions. `timeoutIntervalForResource` of
    /// `NSURLSessionConfiguration`.
    public var total: Duration?

    /// Creates limits; the defaults are those of `NSURLSession`, and 60 seconds to connect.
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

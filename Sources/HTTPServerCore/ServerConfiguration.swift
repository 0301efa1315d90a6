public import Dispatch
public import HTTPParser
public import Logging
internal import ToolkitSystem

/// How a server listens, and what it allows its clients.
public struct ServerConfiguration: Sendable {
    /// Where to listen. The server starts only if it can listen on all endpoints.
    public var endpoints: [Endpoint]
    /// How many event loops serve connections; `nil` for one per processor core, at most 4.
    public var loops: Int?
    /// How many new connections the system queues until they are accepted.
    public var backlog = 1024
    /// How many connections may be open; `nil` for 80 % of the process's descriptor limit. If the
    /// limit is low or many descriptors are in use, it is less, but at least 16.
    public var connectionLimit: Int?
    /// The most open connections of one address; the IPv6 addresses of a /64 count as one. `nil`
    /// for no limit. Behind a proxy, all connections come from the address of the proxy. Further
    /// connections are closed, or answered with 503 if `connectionOverflow` is `unavailable`.
    public var connectionLimitPerAddress: Int?
    /// Whether the connection that has been idle for longest is closed when a new one exceeds
    /// `connectionLimit` or lacks a descriptor. Connections are idle between two requests, and from
    /// a second after opening. With `false`, `connectionOverflow` decides even if some are idle.
    public var closesIdleAtLimit = true
    /// Whether starting the server raises the process's soft limit of open descriptors to its hard
    /// limit, at most to 1,048,576. This also affects programs that the process starts, and code
    /// that uses `select`, which does not work with descriptors above 1,023.
    public var raisesDescriptorLimit = false
    /// The treatment of new connections above `connectionLimit`, when none is idle.
    public var connectionOverflow = ConnectionOverflow.wait
    /// The quality of service of the event loops' queues.
    public var loopQoS = DispatchQoS.unspecified
    /// The target of the event loops' queues; `nil` for the system's threads. With more than one
    /// loop it must be concurrent, because a busy loop keeps its thread.
    public var loopTarget: DispatchQueue?
    /// How long no connection must be open before `HTTPServer.Event.disconnected` is sent; zero or
    /// less to send it immediately.
    public var disconnectionInterval = Duration.seconds(1)
    /// How long `resume` retries to bind a port that another program uses.
    public var rebindTimeout = Duration.seconds(2)
    /// The limits of heads, chunk extensions and trailers; see `ParserLimits`.
    public var parserLimits = ParserLimits.standard
    /// Violations of the standard that are accepted; none by default.
    public var leniency: ParserLeniency = []
    /// The most content bytes of one request; longer content is answered with 413. Handlers that
    /// collect content in memory have separate limits.
    public var contentLimit: Int64 = 4 << 30
    /// Decodes the content coding of requests before handlers read the content; `nil` leaves the
    /// coding. `RequestBody.raw` has the coded form in both cases.
    package var contentDecoder: (any RequestDecoder)?
    /// How long the head of a request may take from its first byte. For the first request, the time
    /// counts from the opening of the connection.
    public var headTimeout = Duration.seconds(10)
    /// How long a connection may be idle between two requests.
    public var idleTimeout = Duration.seconds(60)
    /// How long a client may take a waiting response more slowly than `contentRate`.
    public var writeTimeout = Duration.seconds(30)
    /// The lowest rate of content in bytes a second, in both directions. The rate of a request's
    /// content is checked once in each `contentGrace`.
    public var contentRate = 500
    /// The time over which the rate of a request's content is measured; at least one second.
    public var contentGrace = Duration.seconds(10)
    /// How long `shutdown` and `suspend` let running requests continue.
    public var shutdownGrace = Duration.seconds(10)
    /// The value of Server in each response; empty for no field. An invalid value, such as one with
    /// a line break, is left out with a warning in the log.
    public var serverName = defaultServerName
    /// The default name of a server, and of the realm of its accounts.
    public static let defaultServerName = "swift-http-toolkit"
    /// The server's logger. Metadata are the numbers of connection and request, method and target.
    /// `.error`: a handler failed or gave an invalid response. `.warning`: the server lacks a
    /// resource, such as descriptors. `.debug`: a line for each request that ends or is refused.
    /// `.trace`: a line for each connection that closes. Peers can cause lines above `.debug` only
    /// through handlers.
    public var logger = Logger(label: "http.server")
    /// Called on the event loop for each response that ends; it must not block. `AccessLogWriter`
    /// writes lines to a file without blocking.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?
    /// Callbacks for events of connections and requests; none by default.
    public var hooks = ConnectionHooks()
    /// Counts and measures connections and requests; `nil` by default.
    public var metrics: (any ServerMetrics)?
    /// Makes the content of error responses of the server and of handlers.
    public var errorRenderer = ErrorRenderer.plainText

    /// Creates the configuration of a bare server: errors are lines of text, and content codings
    /// of requests are not decoded. `HTTPServerKit` adds `init(endpoints:)`, which renders errors
    /// in the form that a client accepts, and decodes gzip and deflate.
    /// - Parameter endpoints: where to listen.
    public init(bare endpoints: [Endpoint]) {
        self.endpoints = endpoints
    }

    var loopCount: Int { max(1, loops ?? min(Syscalls.activeProcessors(), 4)) }

    var openLimit: Int {
        if let connectionLimit { return connectionLimit }
        // With a low limit, the process itself needs more than the remaining 20 %.
        let descriptors = Syscalls.descriptorLimit()
        // Descriptors that are open already, inherited ones included, belong to no connection.
        let others = max(40, Syscalls.openDescriptorCount() + 28)
        return max(16, min(descriptors * 8 / 10, descriptors - others))
    }
}

/// The treatment of new connections when the limit is reached.
public enum ConnectionOverflow: Hashable, Sendable {
    /// They wait in the backlog, whose length is `ServerConfiguration.backlog`.
    case wait
    /// They are closed.
    case refuse
    /// Their first request is answered with 503 (RFC 9110 section 15.6.4) and the connection is
    /// closed. Connections in a flood, and those with TLS or PROXY, are closed without an answer.
    /// Retry-After has `retryAfter` in whole seconds, at least 1.
    case unavailable(retryAfter: Duration)
}

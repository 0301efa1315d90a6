public import Dispatch
public import HTTPParser
public import Logging
internal import ToolkitSystem

/// How a server listens, and what it allows its clients.
public struct ServerConfiguration: Sendable {
    /// Where to listen; each of them has to succeed.
    public var endpoints: [Endpoint]
    /// How many event loops serve connections; `nil` for one a core, at most 4.
    public var loops: Int?
    /// How many new connections the system keeps waiting.
    public var backlog = 1024
    /// How many connections may be open; `nil` for 80 % of the descriptors the process may have,
    /// and for 40 less than these where they are few.
    public var connectionLimit: Int?
    /// The most open connections of one address, an IPv6 address counting as its /64; `nil` for as
    /// many as all together. Behind a proxy, all connections come from the address of the proxy.
    /// Further connections are closed at once, or answered by 503 if `connectionOverflow` says so.
    public var connectionLimitPerAddress: Int?
    /// Whether the connection that has been idle for longest, between two requests or for a second
    /// since it was opened, is closed when a new one comes above `connectionLimit`, or finds no
    /// descriptor. Otherwise new connections wait for idle ones until `idleTimeout`.
    public var closesIdleAtLimit = true
    /// Whether starting the server raises the soft limit of the process for open descriptors to its
    /// hard one, at most 1,048,576. It holds for the whole process and for the programs that it
    /// starts, and `select` does not work above 1,024: so the program decides.
    public var raisesDescriptorLimit = false
    /// The treatment of new connections above `connectionLimit`, when none is idle.
    public var connectionOverflow = ConnectionOverflow.wait
    /// How urgent the work of the event loops is to the system.
    public var loopQoS = DispatchQoS.unspecified
    /// A queue that lends the event loops their threads; `nil` for those of the system. It has to
    /// be concurrent unless there is one loop: a busy loop keeps its thread.
    public var loopTarget: DispatchQueue?
    /// How long there must be no connection before `HTTPServer.Event.disconnected` is sent; zero or
    /// less to send it at once.
    public var disconnectionInterval = Duration.seconds(1)
    /// How long resuming tries to bind again while another program has the port.
    public var rebindTimeout = Duration.seconds(2)
    /// The limits of heads, chunk extensions and trailers; see `ParserLimits`.
    public var parserLimits = ParserLimits.standard
    /// Departures from the standard that are forgiven; none by default.
    public var leniency: ParserLeniency = []
    /// Content of one request in bytes; above it 413. Handlers that collect content in memory
    /// have limits of their own.
    public var contentLimit: Int64 = 4 << 30
    /// Removes the content coding of requests before handlers read the content; with `nil` it
    /// stays. `RequestBody.raw` has the coded form all the same.
    package var contentDecoder: (any RequestDecoder)?
    /// How long the head of a request may take from its first byte, and the first request from
    /// the opening of the connection.
    public var headTimeout = Duration.seconds(10)
    /// How long a connection may be idle between two requests.
    public var idleTimeout = Duration.seconds(60)
    /// How long a client may take less of a response that waits for it than `contentRate` demands.
    public var writeTimeout = Duration.seconds(30)
    /// Bytes a second below which content is too slow, in both directions; that of requests is judged
    /// after `contentGrace`.
    public var contentRate = 500
    /// How long content is not judged by its rate.
    public var contentGrace = Duration.seconds(10)
    /// How long `shutdown` and `suspend` let running requests go on.
    public var shutdownGrace = Duration.seconds(10)
    /// The value of Server in each response; empty for none. A text that must not go on the wire,
    /// such as one with a line break, is left out, and the log warns of it.
    public var serverName = defaultServerName
    /// The name of a server, and of the realm of its accounts, that was given no other.
    public static let defaultServerName = "swift-http-toolkit"
    /// Where the server says what it does, with the numbers of connection and request, method and
    /// target as metadata. At `.error` a handler failed or gave what must not be sent; at `.warning`
    /// the server lacks something, such as descriptors; at `.debug` there is a line for each
    /// request that ends and each that is refused; at `.trace` one for each connection that closes.
    /// Peers cannot cause lines above `.debug`, but by way of handlers.
    public var logger = Logger(label: "http.server")
    /// Called for each response that ends, on the loop: it must not block. `AccessLogWriter` writes
    /// lines to a file without that.
    public var accessLog: (@Sendable (AccessRecord) -> Void)?
    /// Callbacks for events of connections and requests; none by default.
    public var hooks = ConnectionHooks()
    /// Where the server counts and measures what it does; nowhere by default.
    public var metrics: (any ServerMetrics)?
    /// Makes the content of error responses, both for the server's errors and for those of handlers.
    public var errorRenderer = ErrorRenderer.plainText

    /// Creates the configuration of a bare server: errors are lines of text, and content codings
    /// stay on. `HTTPServerKit` adds `init(endpoints:)`, which tells errors in the form that a client
    /// likes, and takes gzip and deflate off requests.
    /// - Parameter endpoints: where to listen.
    public init(bare endpoints: [Endpoint]) {
        self.endpoints = endpoints
    }

    var loopCount: Int { max(1, loops ?? min(Syscalls.activeProcessors(), 4)) }

    var openLimit: Int {
        if let connectionLimit { return connectionLimit }
        // Of few descriptors the process itself needs most of the rest.
        let descriptors = Syscalls.descriptorLimit()
        // Descriptors that are open already, also by inheritance, belong to no connection.
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
    /// closed. A flood of them, and one by TLS or PROXY, is closed without an answer. Retry-After says
    /// how long to stay away, in whole seconds.
    case unavailable(retryAfter: Duration)
}

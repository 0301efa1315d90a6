public import HTTPParser

/// The settings of a session, which keeps a copy of them.
public struct ClientConfiguration: Sendable {
    /// The time limits of tasks.
    public var timeouts = ClientTimeouts()
    /// When a stored response may answer.
    public var cachePolicy = CachePolicy.useProtocolCachePolicy
    /// Fields for every request that does not have a field of the same name.
    public var additionalFields = HTTPFields()
    /// The value of `User-Agent`, unless a request or ``additionalFields`` has one; nil for no
    /// field.
    public var userAgent: String? = "swift-http-toolkit"

    /// The most simultaneous requests to one origin, each over a separate connection. Over HTTP/2
    /// requests share a connection, and ``streamsPerOrigin`` is the limit.
    public var connectionsPerOrigin = 6
    /// The most simultaneous requests to an origin that uses HTTP/2.
    public var streamsPerOrigin = 100
    /// The most simultaneous requests to all origins together.
    public var requestLimit = 256
    /// How many idle connections are kept; none with 0 or less.
    public var idleConnectionLimit = 64
    /// How long an idle connection may be used again, in whole seconds; a server may close it
    /// earlier. With zero no connection is kept.
    public var idleConnectionTime = Duration.seconds(118)

    /// The storage of cookies; nil for no cookies.
    public var cookies: CookieStorage? = .shared
    /// Which cookies of responses are stored. Nil for the storage's ``CookieStorage/acceptPolicy``,
    /// which applies to all sessions that share the storage.
    package var cookiePolicy: CookieAcceptPolicy?
    /// Whether cookies are sent and stored. Cookies in a request's own fields are always sent.
    public var setsCookies = true
    /// The cache of responses, which data tasks use; nil for no cache.
    public var cache: ClientCache? = .shared
    /// Which redirects are followed, and which fields are sent along.
    public var redirects = RedirectPolicy()
    /// How challenges of servers and proxies are answered.
    public var authentication = AuthenticationOptions()
    /// When a request that failed is sent again.
    public var retries = RetryPolicy()
    /// The hosts that are reached only by https (HSTS); nil to ignore HSTS.
    public var strictTransport: StrictTransportStore?

    /// The versions of HTTP that are used.
    public var protocols = ProtocolPolicy.automatic
    /// How servers are authenticated.
    public var tls = TLSOptions()
    /// Decides in place of the usual certificate check, or in addition to it; nil for the usual
    /// check alone.
    public var trust: TrustPolicy?
    /// The proxy.
    public var proxy = ProxyPolicy.direct
    /// Chooses the hosts to connect to; nil for the URL's host.
    public var endpoints: EndpointPolicy?
    /// How host names are resolved to addresses.
    public var resolver = ResolverOptions()
    /// Receives libcurl's messages, and the heads that it sends and receives, on the session's
    /// thread.
    package var trace: (@Sendable (ClientTrace) -> Void)?
    /// Answers in place of the network; nil for the network.
    public var transport: ClientTransport?

    /// When `Expect: 100-continue` is sent.
    public var expectation = ExpectationPolicy.above(bytes: 1 << 20, wait: .seconds(1))
    /// Whether gzip, deflate and, if libbrotlidec is installed, br are requested and decoded.
    public var decodesContent = true
    /// The most decoded bytes per compressed byte, at least 1; checked only once the decoded
    /// content is longer than ``decodingFloor``.
    public var decodingRatio: Int64 = 100
    /// The length of decoded content, in bytes, up to which ``decodingRatio`` is not checked: some
    /// megabytes of a log may well be compressed to a few kilobytes.
    public var decodingFloor: Int64 = 32 << 20
    /// The most content that is accepted, in bytes after content decoding; nil for no limit.
    public var contentLimit: Int64?
    /// The most content, in bytes, that `ClientSession.data(for:delegate:)` and data tasks with a
    /// completion handler collect in memory.
    public var collectLimit: Int64 = 256 << 20
    /// The longest head of a response, in bytes, including interim responses.
    public var headLimit = 100 << 10
    /// The most received content that is buffered for its reader, in bytes. The connection is not
    /// read while the buffer is full.
    public var receiveBuffer = 256 << 10
    /// The most bytes of content that a task receives in a second, at least 1; nil for no limit.
    /// The smallest read is 1 KiB. WebSockets are not limited.
    public var receiveBytesPerSecond: Int64?
    /// The most bytes that a task sends in a second, at least 1; nil for no limit. libcurl sends up
    /// to 16 KiB and then pauses. A pause longer than ``ClientTimeouts/idle`` ends in a timeout, so
    /// the rate must not be too low. WebSockets are not limited.
    public var sendBytesPerSecond: Int64?
    /// How long a thread that calls `ClientSession.data(for:delegate:)` or a similar function may
    /// block until the response arrives, in place of the session's thread; zero for never.
    ///
    /// In async code the calling thread belongs to Swift's pool. Set this, to 250 microseconds for
    /// example, in programs that only send one request after another to a near server: a request
    /// then needs no other thread. A thread waits only if recent responses arrived within this
    /// time, no other request is running, and it is not the main thread. It waits up to 40 times as
    /// long for a late response, at most 10 milliseconds.
    public var briefWait = Duration.zero
    /// How long a thread that sends a request with `ClientSession.data(for:delegate:)` or a similar
    /// function, or that reads content, may poll for the response or for more content, in place of
    /// the session's thread. Zero for never, at most 10 milliseconds. Used only if ``briefWait`` is
    /// zero.
    ///
    /// The thread does not block: it polls repeatedly and yields its processor in between. The
    /// conditions are those of ``briefWait``, but recent responses may have taken up to twice this
    /// time, because waking sleeping threads takes time, too. After an unsuccessful poll the next
    /// few are skipped, so that a slow server costs no time. Other tasks of Swift's pool may start
    /// later by this time. No effect on Apple platforms.
    public var briefPolling = Duration.microseconds(200)
    /// Whether unusual but valid responses are accepted, such as HTTP/0.9 without any head.
    public var allowsHTTP09 = false
    /// How often a download resumes automatically after its connection broke. It needs a server
    /// with ranges and a strong validator. The count starts again whenever content arrives.
    ///
    /// The first attempt is immediate; the others wait like retries (``RetryPolicy/firstDelay``).
    /// With the defaults a download survives an outage of 3 to 6 seconds, with 13 continuations one
    /// of half a minute to a minute.
    public var downloadContinuations = 7

    /// The defaults.
    public init() {}

    /// The defaults, like `NSURLSessionConfiguration.default`.
    public static var `default`: ClientConfiguration { ClientConfiguration() }

    /// The defaults with new storages of cookies and responses in memory, like
    /// `NSURLSessionConfiguration.ephemeral`.
    public static var ephemeral: ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.cookies = CookieStorage()
        configuration.cache = ClientCache()
        return configuration
    }
}

/// Checks a server's certificate in addition to, or instead of, the usual check.
public struct TrustPolicy: Sendable {
    /// The certificates of a server, and the result of the usual check.
    public struct Evaluation: Sendable {
        /// The origin that the client is connected to.
        public let origin: Origin
        /// The certificates in DER, the server's own first.
        public let certificates: [[UInt8]]
        /// Whether the certificates passed the usual check.
        public let isTrusted: Bool

        package init(origin: Origin, certificates: [[UInt8]], isTrusted: Bool) {
            self.origin = origin
            self.certificates = certificates
            self.isTrusted = isTrusted
        }
    }

    let evaluate: @Sendable (Evaluation) -> Bool

    /// Creates a policy.
    /// - Parameter evaluate: returns whether the server is trusted. It is called on the session's
    ///   thread, or on the thread that starts a task, and must not block.
    public init(_ evaluate: @escaping @Sendable (Evaluation) -> Bool) {
        self.evaluate = evaluate
    }
}

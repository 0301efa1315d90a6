public import HTTPParser

/// How a session behaves. A session keeps the copy that it is created with.
public struct ClientConfiguration: Sendable {
    /// How long things may take.
    public var timeouts = ClientTimeouts()
    /// When a stored response may answer.
    public var cachePolicy = CachePolicy.useProtocolCachePolicy
    /// Fields that every request has unless it brings its own.
    public var additionalFields = HTTPFields()
    /// The value of `User-Agent` unless a request or ``additionalFields`` has one; nil for no field.
    public var userAgent: String? = "swift-http-toolkit"

    /// How many requests are sent to one origin at the same time, each over a connection of its
    /// own. Over HTTP/2 they share one, and ``streamsPerOrigin`` holds.
    public var connectionsPerOrigin = 6
    /// How many requests are sent to an origin that speaks HTTP/2 at the same time.
    public var streamsPerOrigin = 100
    /// How many requests are on their way at the same time, to all origins together.
    public var requestLimit = 256
    /// How many idle connections are kept; none with 0 or less.
    public var idleConnectionLimit = 64
    /// For how long an idle connection is used again, in whole seconds; a server may close it
    /// before. With zero no connection is kept.
    public var idleConnectionTime = Duration.seconds(118)

    /// Where cookies are kept; nil for no cookies.
    public var cookies: CookieStorage? = .shared
    /// Which cookies of responses are stored, in place of the storage's own
    /// ``CookieStorage/acceptPolicy``, which holds for all sessions that share it.
    package var cookiePolicy: CookieAcceptPolicy?
    /// Whether cookies are sent and stored. Cookies in a request's own fields are always sent.
    public var setsCookies = true
    /// Where responses are kept; nil for no cache. Data tasks use it.
    public var cache: ClientCache? = .shared
    /// Which redirects are followed, and what goes along.
    public var redirects = RedirectPolicy()
    /// How challenges of servers are answered.
    public var authentication = AuthenticationOptions()
    /// When a request that failed is sent again.
    public var retries = RetryPolicy()
    /// Remembers which hosts are reached by https alone; nil for none.
    public var strictTransport: StrictTransportStore?

    /// Which versions of HTTP are spoken.
    public var protocols = ProtocolPolicy.automatic
    /// How servers are authenticated.
    public var tls = TLSOptions()
    /// Decides in place of the certificate check, or after it; nil for the check alone.
    public var trust: TrustPolicy?
    /// The proxy.
    public var proxy = ProxyPolicy.direct
    /// Where to connect to; nil for the URL's host.
    public var endpoints: EndpointPolicy?
    /// How names become addresses.
    public var resolver = ResolverOptions()
    /// Receives the notes of libcurl and the heads that it sends and reads, on the session's thread.
    package var trace: (@Sendable (ClientTrace) -> Void)?
    /// Answers in place of the network; nil for the network.
    public var transport: ClientTransport?

    /// When `Expect: 100-continue` is sent.
    public var expectation = ExpectationPolicy.above(bytes: 1 << 20, wait: .seconds(1))
    /// Whether gzip, deflate and, where libbrotlidec is installed, br are asked for and taken off.
    public var decodesContent = true
    /// The most decoded bytes per compressed byte, at least 1; checked only once the decoded
    /// content is longer than ``decodingFloor``.
    public var decodingRatio: Int64 = 100
    /// The length of decoded content up to which ``decodingRatio`` is not checked: a log of some
    /// megabytes may well have been a few kilobytes.
    public var decodingFloor: Int64 = 32 << 20
    /// The most content that is taken, in bytes, content coding taken off; nil for no limit.
    public var contentLimit: Int64?
    /// The most content that is collected in memory, in bytes, by `ClientSession.data(for:delegate:)`
    /// and by data tasks with a completion handler.
    public var collectLimit: Int64 = 256 << 20
    /// The most that the head of a response may have, in bytes, interim responses included.
    public var headLimit = 100 << 10
    /// The most received content that waits for its reader, in bytes; then the connection is not
    /// read until there is room.
    public var receiveBuffer = 256 << 10
    /// The most bytes of content that a task receives in a second, at least 1; nil for no limit.
    /// Content is received in pieces of 1 KiB at least. WebSockets are not limited.
    public var receiveBytesPerSecond: Int64?
    /// The most bytes that a task sends in a second, at least 1; nil for no limit. libcurl sends up to
    /// 16 KiB at once and then pauses: a rate so low that the pause exceeds
    /// ``ClientTimeouts/idle`` ends in a timeout. WebSockets are not limited.
    public var sendBytesPerSecond: Int64?
    /// How long a thread that calls `ClientSession.data(for:delegate:)` or the like may block until
    /// the response comes, in place of the session's thread; zero for never.
    ///
    /// It blocks the calling thread, which in async code belongs to Swift's pool: set it in programs
    /// whose only work is requests one after the other to a near server, to 250 microseconds for
    /// example. Then such a request needs no other thread. A thread waits only if responses have
    /// lately arrived within that time, nothing else is requested meanwhile, and it is not the main
    /// thread; a late response is waited for 40 times as long, 10 milliseconds at most.
    public var briefWait = Duration.zero
    /// How long a thread that calls `ClientSession.data(for:delegate:)` or the like, or that reads
    /// content, may poll for the response, or for more content, in place of the session's thread;
    /// zero for never, at most 10 milliseconds. It counts where ``briefWait`` is zero.
    ///
    /// The thread does not block: it asks the system again and again, and leaves its processor to
    /// others in between. It does so only under the conditions of ``briefWait``, but is also tried with
    /// responses that have taken up to twice that time: asleep, both sides have to be woken. After a
    /// poll that was in vain the next ones are left out, so that a server that answers later costs no
    /// time. Other tasks of Swift's pool may begin that much later. No effect on Apple platforms.
    public var briefPolling = Duration.microseconds(200)
    /// Whether unusual but valid responses are accepted, such as HTTP/0.9 without any head.
    public var allowsHTTP09 = false
    /// How often a download goes on by itself after its connection broke; only where the server
    /// gives ranges and a strong validator. The count starts again whenever content arrives.
    ///
    /// The first time is at once; before the others it waits as a retry does
    /// (``RetryPolicy/firstDelay``). With the defaults a server may be away for 3 to 6 seconds, with 13
    /// continuations for half a minute to a whole one.
    public var downloadContinuations = 7

    /// The defaults.
    public init() {}

    /// The defaults: what `NSURLSessionConfiguration.default` is.
    public static var `default`: ClientConfiguration { ClientConfiguration() }

    /// The defaults with separate cookies and cache, in memory: what
    /// `NSURLSessionConfiguration.ephemeral` is.
    public static var ephemeral: ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.cookies = CookieStorage()
        configuration.cache = ClientCache()
        return configuration
    }
}

/// Checks a server's certificate in addition to, or instead of, the usual check.
public struct TrustPolicy: Sendable {
    /// Certificates as a server showed them.
    public struct Evaluation: Sendable {
        /// Where the client is connected to.
        public let origin: Origin
        /// The certificates in DER, the server's own first.
        public let certificates: [[UInt8]]
        /// Whether the usual check found nothing wrong with the chain.
        public let isTrusted: Bool

        package init(origin: Origin, certificates: [[UInt8]], isTrusted: Bool) {
            self.origin = origin
            self.certificates = certificates
            self.isTrusted = isTrusted
        }
    }

    let evaluate: @Sendable (Evaluation) -> Bool

    /// Creates a policy.
    /// - Parameter evaluate: whether to go on. It is called on the session's thread, or on that
    ///   of a task that is being started, and must not block.
    public init(_ evaluate: @escaping @Sendable (Evaluation) -> Bool) {
        self.evaluate = evaluate
    }
}

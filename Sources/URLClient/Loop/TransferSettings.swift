internal import HTTPParser

/// All that a transaction is, for libcurl.
struct TransferSettings {
    var wire: WireURL
    var method: HTTPMethod
    var fields: HTTPFields
    /// Where there is content to send, and be it none.
    var upload: UploadLength?
    /// How long to wait for `100 Continue`; nil if it is not asked for.
    var expectationWait: Duration?
    var route: TransferRoute
    /// What most transactions do without.
    var overrides: CopyOnWriteBox<Overrides>?

    struct Overrides: Sendable {
        /// The field Cookie where it has bytes that are no UTF-8.
        var cookieBytes: [UInt8]?
        /// Whether the tunnels that are there are somebody else's.
        var needsOwnTunnel = false
    }
}

/// How much content is sent; nil if that is not known.
struct UploadLength {
    var length: Int64?
}

/// How a transaction reaches its server. Transactions for which the session's configuration alone decides share one.
final class TransferRoute: Sendable {
    let isSecure: Bool
    let target: ConnectTarget?
    let proxy: ClientProxy?
    let hasProxy: Bool
    let protocols: ProtocolPolicy
    let tls: TLSOptions
    let trust: TrustPolicy?
    let resolver: ResolverOptions
    let connectTimeout: Duration?
    let idleConnectionTime: Duration
    let allowsHTTP09: Bool
    /// Whether a large receive buffer is worth its memory.
    let receivesMuch: Bool

    /// - Parameters:
    ///   - request: whose own settings win over those of the configuration.
    ///   - origin: where it goes.
    ///   - target: where to connect to instead.
    ///   - isFirstOrigin: whether it goes where the task was sent.
    init(
        _ request: ClientRequest, to origin: Origin, target: ConnectTarget?, isFirstOrigin: Bool,
        receivesMuch: Bool, _ configuration: ClientConfiguration
    ) {
        isSecure = origin.isSecure
        self.target = target
        proxy = (request.proxy ?? configuration.proxy).proxy(for: origin)
        hasProxy = proxy != nil
        protocols = request.protocols ?? configuration.protocols
        var tls = request.tls ?? configuration.tls
        // What says who the client is goes to the first origin alone.
        if !isFirstOrigin { tls.clientCertificate = nil }
        self.tls = tls
        trust = configuration.trust
        resolver = configuration.resolver
        connectTimeout = (request.timeouts ?? configuration.timeouts).connect
        idleConnectionTime = configuration.idleConnectionTime
        allowsHTTP09 = configuration.allowsHTTP09
        self.receivesMuch = receivesMuch
    }
}

/// The routes that many transactions of a session share.
struct SharedRoutes {
    private let isPossible: Bool
    private var routes: [TransferRoute?] = [nil, nil, nil, nil]

    init(_ configuration: ClientConfiguration) {
        // Where nothing depends on the host.
        isPossible =
            configuration.proxy == .direct && configuration.resolver.overrides.isEmpty
            && configuration.tls.clientCertificate == nil
    }

    mutating func route(
        _ request: ClientRequest, to origin: Origin, receivesMuch: Bool,
        _ configuration: ClientConfiguration
    ) -> TransferRoute? {
        guard isPossible, !request.hasOwnRoute else { return nil }
        let index = (origin.isSecure ? 1 : 0) + (receivesMuch ? 2 : 0)
        if let route = routes[index] { return route }
        let route = TransferRoute(
            request, to: origin, target: nil, isFirstOrigin: true, receivesMuch: receivesMuch,
            configuration)
        routes[index] = route
        return route
    }
}

extension ClientRequest {
    /// Whether it says itself how its server is reached.
    fileprivate var hasOwnRoute: Bool {
        !usesDefaults
            && (proxy != nil || protocols != nil || tls != nil || timeouts != nil)
    }
}

extension TransferSettings {
    /// Whether an HTTP proxy is asked to connect to the server.
    var tunnels: Bool {
        route.hasProxy && route.proxy?.makesTunnel(to: wire.origin, route.target) ?? false
    }

    /// Whether it matters when the request goes out: to know what a proxy has said before, and that
    /// what must not be done twice is not sent twice.
    var needsStart: Bool { route.hasProxy || !method.isIdempotent }

    /// Whether it may go over HTTP/2, where servers can say of a request that they did not begin.
    var mayUseStreams: Bool {
        switch route.protocols {
        case .automatic: route.isSecure && CurlFeatures.current.hasHTTP2
        case .http2PriorKnowledge: true
        case .http1, .http10: false
        }
    }
}

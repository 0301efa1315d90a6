internal import HTTPParser

/// The settings of one transaction for libcurl.
final class TransferSettings: Sendable {
    let wire: WireURL
    let method: HTTPMethod
    let fields: HTTPFields
    /// Set for requests with content, even if it is empty.
    let upload: UploadLength?
    /// How long to wait for `100 Continue`; nil if it is not asked for.
    let expectationWait: Duration?
    let route: TransferRoute
    /// Settings that most transactions do without.
    let overrides: Overrides?

    init(
        wire: WireURL, method: HTTPMethod, fields: HTTPFields, upload: UploadLength? = nil,
        expectationWait: Duration? = nil, route: TransferRoute, overrides: Overrides? = nil
    ) {
        self.wire = wire
        self.method = method
        self.fields = fields
        self.upload = upload
        self.expectationWait = expectationWait
        self.route = route
        self.overrides = overrides
    }

    struct Overrides: Sendable {
        /// The value of Cookie if it is not UTF-8.
        var cookieBytes: [UInt8]?
        /// Whether the existing tunnels belong to another user.
        var needsOwnTunnel = false
        /// Whether only the connection is made. Its bytes are not HTTP, so that an HTTP proxy must make a
        /// tunnel.
        var isConnectionOnly = false
    }
}

/// The length of the content, in bytes; nil if it is not known.
struct UploadLength: Sendable {
    var length: Int64?
}

/// How a transaction reaches its server. Transactions whose requests override nothing share a
/// route.
final class TransferRoute: Sendable {
    let isSecure: Bool
    let target: ConnectTarget?
    let proxy: ClientProxy?
    /// Whether TLS may be used: with the origin, an HTTPS proxy or a server of DNS over HTTPS.
    let mayBeSecure: Bool
    let protocols: ProtocolPolicy
    let tls: TLSOptions
    let trust: TrustPolicy?
    let resolver: ResolverOptions
    let connectTimeout: Duration?
    let idleConnectionTime: Duration
    let keepsConnections: Bool
    let allowsHTTP09: Bool
    /// Whether a large receive buffer is worth its memory.
    let receivesMuch: Bool
    let receiveBytesPerSecond: Int64?
    let sendBytesPerSecond: Int64?

    var hasProxy: Bool { if case .some = proxy { true } else { false } }

    /// - Parameters:
    ///   - request: its settings take precedence over the configuration.
    ///   - origin: the origin that the request is sent to.
    ///   - target: the address to connect to instead, if any.
    ///   - isFirstOrigin: whether `origin` is the one that the task began with.
    init(
        _ request: ClientRequest, to origin: Origin, target: ConnectTarget?, isFirstOrigin: Bool,
        receivesMuch: Bool, _ configuration: ClientConfiguration
    ) {
        isSecure = origin.isSecure
        self.target = target
        proxy = (request.proxy ?? configuration.proxy).proxy(for: origin)
        mayBeSecure =
            origin.isSecure || proxy?.kind == .https || configuration.resolver.dohURL != nil
        protocols = request.protocols ?? configuration.protocols
        var tls = request.tls ?? configuration.tls
        // The client certificate identifies the user, so it goes to the first origin only.
        if !isFirstOrigin { tls.clientCertificate = nil }
        self.tls = tls
        trust = configuration.trust
        resolver = configuration.resolver
        connectTimeout = (request.timeouts ?? configuration.timeouts).connect
        idleConnectionTime = configuration.idleConnectionTime
        keepsConnections =
            configuration.idleConnectionLimit > 0 && configuration.idleConnectionTime > .zero
        allowsHTTP09 = configuration.allowsHTTP09
        self.receivesMuch = receivesMuch
        receiveBytesPerSecond = configuration.receiveBytesPerSecond
        sendBytesPerSecond = configuration.sendBytesPerSecond
    }
}

/// The routes that many transactions of a session share.
struct SharedRoutes {
    private let isPossible: Bool
    private var routes: [TransferRoute?] = [nil, nil, nil, nil]

    init(_ configuration: ClientConfiguration) {
        // A shared route must not depend on the host.
        isPossible =
            configuration.proxy == .direct && configuration.resolver.overrides.isEmpty
            && configuration.tls.clientCertificate == nil
    }

    /// The route that a request shares, once it was made.
    func route(_ request: ClientRequest, to origin: Origin, receivesMuch: Bool) -> TransferRoute? {
        guard isPossible, !request.hasOwnRoute else { return nil }
        return routes[Self.index(origin, receivesMuch)]
    }

    /// Makes the route that a request shares; nil if the request has a route other than the shared one.
    mutating func makeRoute(
        _ request: ClientRequest, to origin: Origin, receivesMuch: Bool,
        _ configuration: ClientConfiguration
    ) -> TransferRoute? {
        guard isPossible, !request.hasOwnRoute else { return nil }
        let route = TransferRoute(
            request, to: origin, target: nil, isFirstOrigin: true, receivesMuch: receivesMuch,
            configuration)
        routes[Self.index(origin, receivesMuch)] = route
        return route
    }

    private static func index(_ origin: Origin, _ receivesMuch: Bool) -> Int {
        (origin.isSecure ? 1 : 0) + (receivesMuch ? 2 : 0)
    }
}

extension ClientRequest {
    /// Whether the request overrides how its server is reached.
    fileprivate var hasOwnRoute: Bool {
        !usesDefaults
            && (proxy != nil || protocols != nil || tls != nil || timeouts != nil)
    }
}

extension TransferRoute {
    /// Whether the proxy is asked for a tunnel to the server.
    func tunnels(to wire: WireURL) -> Bool {
        proxy?.makesTunnel(to: wire.origin, target) ?? false
    }
}

extension TransferSettings {
    /// Whether an HTTP proxy is asked for a tunnel to the server.
    var tunnels: Bool {
        guard route.hasProxy, let proxy = route.proxy else { return false }
        return overrides?.isConnectionOnly == true
            ? proxy.speaksHTTP : route.tunnels(to: wire)
    }

    /// Whether the transfer has to know when the request is sent: to distinguish a proxy's response
    /// from the server's, and to prevent requests that are not idempotent from being repeated.
    var needsStart: Bool { route.hasProxy || !method.isIdempotent }

    /// Whether the transfer may use HTTP/2, where servers can report that they did not process a
    /// request.
    var mayUseStreams: Bool {
        switch route.protocols {
        case .automatic: route.isSecure && CurlFeatures.current.hasHTTP2
        case .http2PriorKnowledge: true
        case .http1, .http10: false
        }
    }
}

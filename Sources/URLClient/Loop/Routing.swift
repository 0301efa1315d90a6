internal import HTTPCodecs
internal import HTTPParser

/// Decides how the requests of a session reach their servers, and keeps the facts that later
/// requests depend on.
struct Routing {
    /// The user for whom a proxy has made the tunnels that libcurl reuses.
    private struct TunnelUser {
        let name: String?
        /// How many transfers of the user are running.
        var count = 0
        /// Whether a tunnel was made.
        var isMade = false
    }

    private let configuration: ClientConfiguration
    private var shared: SharedRoutes
    /// The origins whose invalid certificate the application has accepted.
    private var overruled: Set<Origin> = []
    /// The users of tunnels, by the proxy's origin.
    private var tunnelUsers: [Origin: TunnelUser] = [:]
    /// Whether OpenSSL may write to a socket, which can raise SIGPIPE.
    private(set) var mayBeSecure = false

    init(_ configuration: ClientConfiguration) {
        self.configuration = configuration
        shared = SharedRoutes(configuration)
    }

    func isOverruled(_ origin: Origin) -> Bool {
        !overruled.isEmpty && overruled.contains(origin)
    }

    mutating func overrule(_ origin: Origin) { overruled.insert(origin) }

    /// The settings of a task's next transfer.
    /// - Parameters:
    ///   - target: the address to connect to, if it is not the origin's.
    ///   - isFirstOrigin: whether the request goes to the origin that the task began with.
    ///   - tunnelUser: the user who requests a tunnel from the proxy.
    ///   - upload: the content of the request.
    ///   - receivesMuch: whether the response is likely to be long.
    mutating func settings(
        for request: ClientRequest, _ wire: WireURL, to target: ConnectTarget?,
        isFirstOrigin: @autoclosure () -> Bool, tunnelUser: @autoclosure () -> String?,
        upload: UploadSource?, receivesMuch: Bool
    ) -> TransferSettings {
        let route: TransferRoute
        if target == nil,
            let known = shared.route(request, to: wire.origin, receivesMuch: receivesMuch)
        {
            route = known
        } else {
            route = makeRoute(
                for: request, wire.origin, to: target, isFirstOrigin: isFirstOrigin(),
                receivesMuch: receivesMuch)
        }
        if route.mayBeSecure { mayBeSecure = true }
        var overrides: TransferSettings.Overrides?
        if route.hasProxy || request.cookieBytes != nil {
            overrides = TransferSettings.Overrides(cookieBytes: request.cookieBytes)
            if let proxy = route.proxy, route.tunnels(to: wire) {
                overrides?.needsOwnTunnel = noteAsking(proxy, as: tunnelUser())
            }
        }
        return TransferSettings(
            wire: wire, method: request.method, fields: request.fields,
            upload: upload.map { UploadLength(length: $0.length) },
            expectationWait: request.expectationWait(upload, configuration), route: route,
            overrides: overrides)
    }

    @inline(never)  // It copies the configuration.
    private mutating func makeRoute(
        for request: ClientRequest, _ origin: Origin, to target: ConnectTarget?,
        isFirstOrigin: Bool, receivesMuch: Bool
    ) -> TransferRoute {
        if target == nil,
            let route = shared.makeRoute(
                request, to: origin, receivesMuch: receivesMuch, configuration)
        {
            return route
        }
        return TransferRoute(
            request, to: origin, target: target, isFirstOrigin: isFirstOrigin,
            receivesMuch: receivesMuch, configuration)
    }

    /// The settings of a new connection whose bytes the client reads and writes itself. An HTTP
    /// proxy makes a tunnel for it (RFC 6455 section 4.1).
    mutating func connectionSettings(
        for request: ClientRequest, _ wire: WireURL, to target: ConnectTarget?,
        proxyAuthorization: String?
    ) -> TransferSettings {
        let route = TransferRoute(
            request, to: wire.origin, target: target, isFirstOrigin: true, receivesMuch: false,
            configuration)
        if route.mayBeSecure { mayBeSecure = true }
        var fields = HTTPFields()
        if let proxyAuthorization { fields[.proxyAuthorization] = proxyAuthorization }
        return TransferSettings(
            wire: wire, method: .get, fields: fields, route: route,
            overrides: TransferSettings.Overrides(isConnectionOnly: true))
    }

    // MARK: tunnels

    /// Notes that a tunnel is about to be requested. Noting it only when the proxy answers would
    /// let two users request tunnels at the same time, and libcurl would use both for either user.
    /// - Returns: whether the proxy has made tunnels for another user, which libcurl would reuse.
    private mutating func noteAsking(_ proxy: ClientProxy, as user: String?) -> Bool {
        let place = proxy.place
        var known = tunnelUsers[place] ?? TunnelUser(name: user)
        guard known.name.hasBytes(of: user) else { return true }
        known.count += 1
        tunnelUsers[place] = known
        return false
    }

    /// Notes that a proxy has made a tunnel.
    mutating func noteTunnel(_ settings: TransferSettings) {
        guard let place = Self.sharedTunnel(settings) else { return }
        tunnelUsers[place]?.isMade = true
    }

    /// Ends a transfer's use of a tunnel. The user is forgotten if no tunnel was made and no
    /// transfer is left.
    mutating func leaveTunnel(_ settings: TransferSettings) {
        guard let place = Self.sharedTunnel(settings), var known = tunnelUsers[place] else {
            return
        }
        known.count -= 1
        tunnelUsers[place] = known.count > 0 || known.isMade ? known : nil
    }

    /// The proxy of a transfer whose tunnel is kept for later transfers of its user.
    private static func sharedTunnel(_ settings: TransferSettings) -> Origin? {
        guard settings.tunnels, settings.overrides?.needsOwnTunnel == false else {
            return nil
        }
        return settings.route.proxy?.place
    }
}

extension ClientRequest {
    /// How long to wait for `100 Continue`; nil if the request does not ask for it.
    @inline(__always)  // A call would copy the configuration.
    fileprivate func expectationWait(
        _ upload: UploadSource?, _ configuration: ClientConfiguration
    ) -> Duration? {
        guard let upload,
            case .above(let bytes, let wait) = expectation ?? configuration.expectation,
            upload.length ?? .max > bytes
        else { return nil }
        return wait
    }

    /// Whether the request may share a connection with other requests.
    @inline(__always)  // A call would copy the configuration.
    func sharesConnections(_ configuration: ClientConfiguration) -> Bool {
        switch protocols ?? configuration.protocols {
        case .automatic, .http2PriorKnowledge: true
        case .http1, .http10: false
        }
    }
}

internal import HTTPCodecs
internal import HTTPParser

/// The challenges of one response, while a credential for them is searched.
struct ChallengeRound: Sendable {
    /// The server or the proxy that asks for credentials.
    struct Asker: Sendable {
        var origin: Origin
        var method: HTTPMethod
        /// The target of the request, in the form that the asker receives.
        var target: String
        var isProxy = false
        /// The credential of the request, or of the proxy's configuration; nil for none.
        var given: ClientCredential?

        var field: HTTPFieldName { isProxy ? .proxyAuthenticate : .wwwAuthenticate }

        /// The protection space of a challenge from this asker.
        func space(of challenge: Challenges.Challenge) -> ProtectionSpace {
            ProtectionSpace(
                origin: origin, realm: challenge.realm, scheme: challenge.scheme, isProxy: isProxy)
        }
    }

    /// The challenge that the application was asked about.
    struct Open: Sendable {
        let challenge: Challenges.Challenge
        let space: ProtectionSpace
        let proposed: ClientCredential?
        /// The revision of the credential storage before the application was asked.
        let revision: UInt64
    }

    let asker: Asker
    let response: ClientResponse
    /// The challenges that were not tried yet.
    var challenges: ArraySlice<Challenges.Challenge>
    var open: Open?
    /// The protection space of the login that the refused request carried.
    var carried: ProtectionSpace?

    init(_ asker: Asker, _ response: ClientResponse) {
        (self.asker, self.response) = (asker, response)
        challenges = Challenges.all(in: response.fields, asker.field)[...]
    }
}

extension ChallengeRound.Asker {
    init(
        _ proxy: ClientProxy, _ method: HTTPMethod, _ wire: WireURL, _ target: ConnectTarget?
    ) {
        let scheme = proxy.kind == .https ? "https" : "http"
        let isTunnel = proxy.makesTunnel(to: wire.origin, target)
        self.init(
            origin: Origin(scheme: scheme, host: proxy.host, port: proxy.port),
            method: isTunnel ? .connect : method,
            target: isTunnel ? Self.authority(wire.origin, target) : wire.text,
            isProxy: true,
            given: proxy.user.map { .password(user: $0, password: proxy.password ?? "") })
    }

    /// The target of CONNECT (RFC 9110 section 9.3.6).
    private static func authority(_ origin: Origin, _ target: ConnectTarget?) -> String {
        var (host, port) = (origin.host, origin.port)
        if case .network(let otherHost, let otherPort) = target?.kind {
            (host, port) = (otherHost ?? host, otherPort ?? port)
        }
        let isAddress = host.utf8.contains(UInt8(ascii: ":"))
        return isAddress ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ClientCredential {
    /// Identifies the user in the cache.
    var identity: String {
        switch self {
        case .password(let user, let password): "\(user):\(password)"
        case .token(let token): token
        }
    }

    /// Whether the credential can answer a challenge of a scheme.
    func answers(_ scheme: ProtectionSpace.Scheme) -> Bool {
        if case .token(let token) = self, BearerAuthorization.value(token: token) == nil {
            return false
        }
        return fits(scheme)
    }
}

extension ClientProxy {
    var speaksHTTP: Bool { kind == .http || kind == .https }

    /// Whether requests to a server go through a tunnel that the proxy makes.
    func makesTunnel(to origin: Origin, _ target: ConnectTarget?) -> Bool {
        guard speaksHTTP else { return false }
        if origin.isSecure || tunnels { return true }
        if case .network = target?.kind { return true }
        return false
    }
}

extension ProxyPolicy {
    var sendsBasicAtOnce: Bool {
        if case .proxy(let proxy, _) = self { proxy.scheme == .basic } else { false }
    }
}

extension WireURL {
    /// The user and password of the URL, which are never sent as part of the URL.
    var credential: ClientCredential? {
        guard let userInfo, !userInfo.isEmpty else { return nil }
        let colon = userInfo.utf8.firstIndex(of: UInt8(ascii: ":")) ?? userInfo.endIndex
        guard let name = try? PercentEncoding.decode(String(userInfo[..<colon])),
            let password = try? PercentEncoding.decode(String(userInfo[colon...].dropFirst()))
        else { return nil }
        return .password(user: name, password: password)
    }
}

/// A proxy.
///
/// Where a proxy asks for credentials other than those given here, ``AuthenticationOptions/challenge``
/// or the delegate answers, with ``ProtectionSpace/isProxy`` set; 407 is the answer otherwise, and of
/// a tunnel ``ClientError/Kind/authenticationRequired``. No credential for a proxy gets to a server.
///
/// An https URL goes through a tunnel; an http URL is asked for by its absolute form unless
/// ``tunnels`` says otherwise (RFC 9110 section 3.7).
public struct ClientProxy: Sendable, Hashable {
    /// How the client speaks with a proxy.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// HTTP.
        case http
        /// HTTP under TLS.
        case https
        /// SOCKS 4, the name resolved here.
        case socks4
        /// SOCKS 4a, the name resolved by the proxy.
        case socks4a
        /// SOCKS 5, the name resolved here.
        case socks5
        /// SOCKS 5, the name resolved by the proxy.
        case socks5h
    }

    /// How the client says who it is.
    public enum Scheme: Sendable, Hashable {
        /// Basic, at once; HTTP and HTTPS proxies. SOCKS 5 has its own.
        case basic
        /// Digest, or whatever else the proxy asks for; nothing is sent before it has.
        case digest
    }

    /// How the client speaks with it.
    public var kind: Kind
    /// Its name or address.
    public var host: String
    /// Its port.
    public var port: UInt16
    /// The name to log in with.
    public var user: String?
    /// The password that goes with it.
    public var password: String?
    /// How the two are sent.
    public var scheme: Scheme
    /// Whether http URLs go through a tunnel, too.
    public var tunnels: Bool
    /// How an HTTPS proxy is authenticated; nil for the authorities and versions that hold for
    /// servers. Keys and certificates of requests are never for the proxy, and its certificate is
    /// checked also where servers' are not.
    public var tls: TLSOptions?

    /// Creates a proxy.
    public init(
        _ kind: Kind = .http, host: String, port: UInt16, user: String? = nil,
        password: String? = nil, scheme: Scheme = .basic, tunnels: Bool = false,
        tls: TLSOptions? = nil
    ) {
        self.tls = tls
        self.kind = kind
        self.host = host
        self.port = port
        self.user = user
        self.password = password
        self.scheme = scheme
        self.tunnels = tunnels
    }
}

/// Which proxy requests go through.
public enum ProxyPolicy: Sendable, Hashable {
    /// None. Variables of the environment are never looked at; ``ResolverOptions/dohURL`` tells of
    /// the one exception.
    case direct
    /// One proxy, but for the hosts that match one of the rules.
    case proxy(ClientProxy, bypass: [ProxyBypass] = [])

    /// The proxy for an origin, if there is one.
    func proxy(for origin: Origin) -> ClientProxy? {
        guard case .proxy(let proxy, let bypass) = self else { return nil }
        return bypass.contains { $0.matches(origin) } ? nil : proxy
    }
}

/// Which hosts need no proxy.
public enum ProxyBypass: Sendable, Hashable {
    /// This host.
    case host(String)
    /// This domain and all below it.
    case domain(String)
    /// Names without a dot, `localhost` among them, and the addresses 127.0.0.0/8 and ::1.
    case local

    func matches(_ origin: Origin) -> Bool {
        switch self {
        case .host(let name): return origin.host == name.lowercased()
        case .domain(let name):
            let name = name.lowercased()
            return origin.host == name || origin.host.hasSuffix(".\(name)")
        case .local:
            if origin.isIPv6 { return origin.host == "::1" }
            let isLoopback =
                origin.host.hasPrefix("127.")
                && origin.host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
            return isLoopback || !origin.host.utf8.contains(UInt8(ascii: "."))
        }
    }
}

extension ClientProxy {
    /// The address of the proxy.
    var place: Origin { Origin(scheme: kind.rawValue, host: host, port: port) }
}

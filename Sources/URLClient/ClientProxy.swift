/// A proxy server.
///
/// If a proxy asks for credentials other than ``user`` and ``password``,
/// ``AuthenticationOptions/challenge`` or the delegate answers, with ``ProtectionSpace/isProxy``
/// set. Without an answer the task gets the 407 response or, if the request needs a tunnel, fails
/// with ``ClientError/Kind/authenticationRequired``. A proxy's credentials are never sent to a
/// server.
///
/// Requests for https URLs pass through a tunnel. Requests for http URLs are sent to the proxy with
/// the absolute form of the URL, or through a tunnel if ``tunnels`` is set (RFC 9110 section 3.7).
public struct ClientProxy: Sendable, Hashable {
    /// The protocols of proxies.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// HTTP.
        case http
        /// HTTP over TLS.
        case https
        /// SOCKS 4; the client resolves the host name.
        case socks4
        /// SOCKS 4a; the proxy resolves the host name.
        case socks4a
        /// SOCKS 5; the client resolves the host name.
        case socks5
        /// SOCKS 5; the proxy resolves the host name.
        case socks5h
    }

    /// How the client authenticates to the proxy.
    public enum Scheme: Sendable, Hashable {
        /// Basic, sent with the first request to an HTTP or HTTPS proxy. SOCKS 5 has its own
        /// scheme.
        case basic
        /// Digest, or another scheme that the proxy asks for. Nothing is sent before the proxy's
        /// challenge.
        case digest
    }

    /// The protocol of the proxy.
    public var kind: Kind
    /// The host name or address of the proxy.
    public var host: String
    /// The port of the proxy.
    public var port: UInt16
    /// The user name for the proxy; nil for none.
    public var user: String?
    /// The password of the user.
    public var password: String?
    /// How user name and password are sent.
    public var scheme: Scheme
    /// Whether requests for http URLs use a tunnel, too.
    public var tunnels: Bool
    /// How an HTTPS proxy is authenticated; nil for the authorities and versions of requests to
    /// servers. Pinned keys and client certificates of requests never apply to the proxy, and its
    /// certificate is checked even if servers' certificates are not.
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

/// The choice of a proxy for a request.
public enum ProxyPolicy: Sendable, Hashable {
    /// No proxy. Environment variables are ignored, with one exception: see
    /// ``ResolverOptions/dohURL``.
    case direct
    /// One proxy for all hosts, except those that match one of the rules.
    case proxy(ClientProxy, bypass: [ProxyBypass] = [])

    /// The proxy for an origin; nil for a direct connection.
    func proxy(for origin: Origin) -> ClientProxy? {
        guard case .proxy(let proxy, let bypass) = self else { return nil }
        return bypass.contains { $0.matches(origin) } ? nil : proxy
    }
}

/// A rule for hosts that are reached without a proxy.
public enum ProxyBypass: Sendable, Hashable {
    /// This host.
    case host(String)
    /// This domain and all its subdomains.
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

internal import HTTPParser

/// Where to connect to instead of the URL's host and port.
///
/// `Host`, SNI, the name that the certificate must have, cookies, cache and credentials stay with
/// the URL. Secure cookies of `localhost` go to another host by TLS alone.
///
/// ```swift
/// request.connectTo = ConnectTarget(host: "127.0.0.2")
/// ```
///
/// Through an HTTP proxy it means a tunnel: the proxy is asked to connect to the target.
public struct ConnectTarget: Sendable, Hashable {
    /// The kinds of targets.
    enum Kind: Sendable, Hashable {
        case network(host: String?, port: UInt16?)
        case unixSocket(path: String, isAbstract: Bool)
        case origin
    }
    let kind: Kind

    private init(kind: Kind) {
        self.kind = kind
    }

    /// A host, a port, or both.
    /// - Parameters:
    ///   - host: a name or an address, an IPv6 address with or without brackets; nil for the URL's.
    ///   - port: the port; nil for the URL's.
    public init(host: String? = nil, port: UInt16? = nil) {
        var host = host
        if let bracketed = host, bracketed.hasPrefix("["), bracketed.hasSuffix("]") {
            host = String(bracketed.dropFirst().dropLast())
        }
        kind = .network(host: host, port: port)
    }

    /// A Unix domain socket.
    public static func unixSocket(_ path: String) -> ConnectTarget {
        ConnectTarget(kind: .unixSocket(path: path, isAbstract: false))
    }

    /// A socket in Linux's abstract namespace.
    public static func abstractSocket(_ name: String) -> ConnectTarget {
        ConnectTarget(kind: .unixSocket(path: name, isAbstract: true))
    }

    /// The URL's own host and port, whatever the session's policy says.
    public static var origin: ConnectTarget { ConnectTarget(kind: .origin) }
}

extension ConnectTarget {
    /// Whether it names a host that is not this machine by its name or address.
    var leavesMachine: Bool {
        guard case .network(let host?, _) = kind else { return false }
        return !Self.isLoopback(host.lowercased())
    }

    /// Names of RFC 6761 section 6.3, ::1 and 127.0.0.0/8.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" || CookieJar.hasSuffix(host, ".localhost") {
            return true
        }
        return host.utf8.starts(with: "127.".utf8)
            && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || ByteClass.isDigit($0) }
    }
}

extension ConnectTarget: CustomStringConvertible {
    /// Host and port, or the path of the socket.
    public var description: String {
        switch kind {
        case .network(let host, let port):
            let host = host ?? ""
            let bracketed = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            return port.map { "\(bracketed):\($0)" } ?? bracketed
        case .unixSocket(let path, let isAbstract): return "unix:\(isAbstract ? "@" : "")\(path)"
        case .origin: return "the origin"
        }
    }
}

/// Says where to connect to for an origin: a resolver of one's own.
///
/// It is asked for each transaction, again after each redirect, and again when none of the targets that it
/// gave could be connected to. The targets are tried one after the other, as long as not a byte of
/// the request was sent.
public struct EndpointPolicy: Sendable {
    let resolve: @Sendable (_ origin: Origin, _ attempt: Int) async throws -> [ConnectTarget]
    /// How often it is asked for one transaction.
    public var attempts: Int

    /// Creates a policy.
    /// - Parameters:
    ///   - attempts: how often it is asked for one transaction, at least 1.
    ///   - resolve: gives the targets for an origin, none for the origin's own address. `attempt`
    ///     counts from 0. An error that it throws is the task's error.
    public init(
        attempts: Int = 1,
        _ resolve:
            @escaping @Sendable (_ origin: Origin, _ attempt: Int) async throws ->
            [ConnectTarget]
    ) {
        precondition(attempts >= 1, "it has to be asked")
        self.attempts = attempts
        self.resolve = resolve
    }
}

/// How names become addresses.
public struct ResolverOptions: Sendable, Hashable {
    /// Addresses for a name and port, tried in this order, instead of asking for them.
    public struct Override: Sendable, Hashable {
        /// The name, as in the URL.
        public var host: String
        /// The port, as in the URL.
        public var port: UInt16
        /// The addresses, IPv6 with or without brackets.
        public var addresses: [String]

        /// Creates an override.
        public init(host: String, port: UInt16, addresses: [String]) {
            self.host = host
            self.port = port
            self.addresses = addresses
        }

        /// Whether it is for the host and port of an origin.
        func isFor(_ origin: Origin) -> Bool {
            port == origin.port && host.lowercased() == origin.host
        }
    }

    /// Which addresses are used.
    public enum Family: Sendable, Hashable {
        /// Both, at nearly the same time (RFC 8305).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// Names that are not asked for.
    public var overrides: [Override]
    /// Which addresses are used.
    public var family: Family
    /// The URL of a DNS-over-HTTPS server (RFC 8484), or nil for the system's resolver.
    ///
    /// libcurl asks it by a separate transfer, which no option reaches: neither the session's
    /// proxy nor its connect targets hold for it, and it alone heeds `https_proxy`, `all_proxy` and
    /// `no_proxy` in the environment. Where these are set and must not count, take them out of the
    /// process's environment, or use an ``EndpointPolicy``.
    public var dohURL: String?
    /// How long answers are kept; nil for libcurl's 60 seconds.
    public var cacheTime: Duration?

    /// Creates options: by default the system's resolver and both families.
    public init(
        overrides: [Override] = [], family: Family = .any, dohURL: String? = nil,
        cacheTime: Duration? = nil
    ) {
        self.overrides = overrides
        self.family = family
        self.dohURL = dohURL
        self.cacheTime = cacheTime
    }
}

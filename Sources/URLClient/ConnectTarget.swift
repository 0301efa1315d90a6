internal import HTTPParser

/// A target to connect to instead of the URL's host and port.
///
/// `Host`, SNI, the name in the certificate, cookies, cache and credentials remain those of the
/// URL. If the URL's host is `localhost` and the target is another machine, secure cookies are sent
/// only over TLS.
///
/// ```swift
/// request.connectTo = ConnectTarget(host: "127.0.0.2")
/// ```
///
/// An HTTP proxy is asked for a tunnel to the target.
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
    ///   - host: a name or an address, IPv6 with or without brackets; nil for the URL's host.
    ///   - port: the port; nil for the URL's port.
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

    /// The URL's own host and port, even if the session's policy names other targets.
    public static var origin: ConnectTarget { ConnectTarget(kind: .origin) }
}

extension ConnectTarget {
    /// Whether the target's host is neither a loopback name nor a loopback address.
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

/// Chooses the connect targets for an origin: an application's own resolver.
///
/// The policy is called for each transaction, so again after each redirect, and again when no
/// connection to any of its targets succeeded. The targets are tried in order until a byte of the
/// request was sent.
public struct EndpointPolicy: Sendable {
    let resolve: @Sendable (_ origin: Origin, _ attempt: Int) async throws -> [ConnectTarget]
    /// The most calls for one transaction.
    public var attempts: Int

    /// Creates a policy.
    /// - Parameters:
    ///   - attempts: the most calls for one transaction, at least 1.
    ///   - resolve: returns the targets for an origin; an empty list stands for the origin's own
    ///     address. `attempt` counts from 0. The task fails with an error that this closure throws.
    public init(
        attempts: Int = 1,
        _ resolve:
            @escaping @Sendable (_ origin: Origin, _ attempt: Int) async throws ->
            [ConnectTarget]
    ) {
        precondition(attempts >= 1, "attempts must be at least 1")
        self.attempts = attempts
        self.resolve = resolve
    }
}

/// How host names are resolved to addresses.
public struct ResolverOptions: Sendable, Hashable {
    /// Fixed addresses for a name and port, tried in this order; the name is not looked up.
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

        /// Whether the override is for the host and port of an origin.
        func isFor(_ origin: Origin) -> Bool {
            port == origin.port && host.lowercased() == origin.host
        }
    }

    /// Which addresses are used.
    public enum Family: Sendable, Hashable {
        /// Both, tried at nearly the same time (RFC 8305).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// The names that have fixed addresses.
    public var overrides: [Override]
    /// Which addresses are used.
    public var family: Family
    /// The URL of a DNS-over-HTTPS server (RFC 8484), or nil for the system's resolver.
    ///
    /// libcurl queries this server by a separate transfer, to which the session's proxy and connect
    /// targets do not apply. Only this transfer uses `https_proxy`, `all_proxy` and `no_proxy` of
    /// the environment. To avoid that, remove them from the process's environment, or use an
    /// ``EndpointPolicy``.
    public var dohURL: String?
    /// How long resolved addresses are cached; nil for libcurl's 60 seconds.
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

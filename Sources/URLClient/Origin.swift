/// The target of a connection: scheme, host and port (RFC 9110 section 4.3.1).
public struct Origin: Hashable, Sendable {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case; an IPv6 address stands here without its brackets.
    public let host: String
    /// The port, the scheme's own where the URL names none.
    public let port: UInt16

    /// Creates an origin.
    /// - Parameters:
    ///   - scheme: `http` or `https`, in any case.
    ///   - host: a name or an address, in any case, an IPv6 address without brackets.
    ///   - port: the port; nil for the scheme's own.
    public init(scheme: String, host: String, port: UInt16? = nil) {
        self.scheme = scheme.lowercased()
        self.host = host.lowercased()
        self.port = port ?? (self.scheme == "https" ? 443 : 80)
    }

    /// Whether connections to it are encrypted.
    public var isSecure: Bool { scheme == "https" }

    /// Whether the host is an IPv6 address.
    var isIPv6: Bool { host.utf8.contains(UInt8(ascii: ":")) }

    /// Whether it is the same host by https in place of http, on any ports: a request that was sent
    /// to the host without TLS holds no secret from the host with TLS.
    func isUpgrade(of other: Origin) -> Bool {
        isSecure && !other.isSecure && host.utf8.elementsEqual(other.host.utf8)
    }

    /// Host and port as they stand in a URL, the scheme's own port left out.
    public var authority: String {
        let host = isIPv6 ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
    }
}

extension Origin: CustomStringConvertible {
    /// The origin as a URL without a path, such as `https://example.org`.
    public var description: String { "\(scheme)://\(authority)" }
}

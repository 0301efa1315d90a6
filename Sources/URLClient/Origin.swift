/// The target of a connection: scheme, host and port (RFC 9110 section 4.3.1).
public struct Origin: Hashable, Sendable {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case; an IPv6 address is without brackets.
    public let host: String
    /// The port; the scheme's default port if the URL has none.
    public let port: UInt16

    /// Creates an origin.
    /// - Parameters:
    ///   - scheme: `http` or `https`, in any case.
    ///   - host: a name or an address, in any case, an IPv6 address without brackets.
    ///   - port: the port; nil for the scheme's default port.
    public init(scheme: String, host: String, port: UInt16? = nil) {
        self.scheme = scheme.lowercased()
        self.host = host.lowercased()
        self.port = port ?? (self.scheme == "https" ? 443 : 80)
    }

    /// Whether connections to the origin are encrypted.
    public var isSecure: Bool { scheme == "https" }

    /// Whether the host is an IPv6 address.
    var isIPv6: Bool { host.utf8.contains(UInt8(ascii: ":")) }

    /// Whether this is the https origin of the other's http host, on any ports. A request that was
    /// sent to the host without TLS contains nothing secret from the same host with TLS.
    func isUpgrade(of other: Origin) -> Bool {
        isSecure && !other.isSecure && host.utf8.elementsEqual(other.host.utf8)
    }

    /// Host and port as in a URL, without the scheme's default port.
    public var authority: String {
        let host = isIPv6 ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
    }
}

extension Origin: CustomStringConvertible {
    /// The origin as a URL without a path, such as `https://example.org`.
    public var description: String { "\(scheme)://\(authority)" }
}

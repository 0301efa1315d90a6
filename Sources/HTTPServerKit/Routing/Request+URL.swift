internal import HTTPParser
public import HTTPServerCore

/// The scheme and host that the client used, as forwarded by a trusted proxy; `nil` for a part that
/// the proxy did not forward.
package struct ForwardedOrigin: Hashable, Sendable {
    package var scheme, host: String?

    package init(scheme: String?, host: String?) {
        (self.scheme, self.host) = (scheme, host)
    }
}

package enum ForwardedOriginKey: RequestKey { package typealias Value = ForwardedOrigin }

/// The URL that the client asked for.
extension Request {
    /// `http` or `https`: the scheme by which the client reached the server, or a proxy that an
    /// outer handler trusts.
    public var scheme: String {
        self[ForwardedOriginKey.self]?.scheme
            ?? (storage.connection.security == nil ? "http" : "https")
    }

    /// Whether the client reached the server, or the trusted proxy before it, over `https`.
    public var isSecure: Bool { scheme == "https" }

    /// Host and optional port that the request names: from a trusted proxy, else from an absolute
    /// target, else from Host (RFC 9112 section 3.2.2). `nil` if all are missing.
    public var host: String? {
        if let forwarded = self[ForwardedOriginKey.self]?.host { return forwarded }
        if !targetIsPath, let authority = originalTarget.authority { return authority }
        return fields[.host]
    }

    /// Whether Host is an IPv4 address, checked without creating a string. `false` if `host` may
    /// come from elsewhere.
    var hostIsAddress: Bool {
        guard targetIsPath, self[ForwardedOriginKey.self] == nil,
            let place = unsafe storage.head.table.index(of: .host)
        else { return false }
        return unsafe AllowedHosts.isIPv4(storage.head.table.value(place))
    }

    private var targetIsPath: Bool {
        unsafe storage.head.targetBytes.first == UInt8(ascii: "/")
    }

    /// The URL that the client asked for; `nil` if the request names no host, or if its target is
    /// neither a path nor a URL.
    public var url: String? {
        guard let host, originalTarget.path.utf8.first == UInt8(ascii: "/") else { return nil }
        let query = originalTarget.query.map { "?" + $0 } ?? ""
        return "\(scheme)://\(host)\(originalTarget.path)\(query)"
    }
}

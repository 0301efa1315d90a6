internal import HTTPParser
public import HTTPServerCore

/// The scheme and host that the client used, as a proxy forwarded them that a handler trusts; `nil`
/// for a part that it did not tell.
package struct ForwardedOrigin: Hashable, Sendable {
    package var scheme, host: String?

    package init(scheme: String?, host: String?) {
        (self.scheme, self.host) = (scheme, host)
    }
}

package enum ForwardedOriginKey: RequestKey { package typealias Value = ForwardedOrigin }

/// The URL that the client asked for.
extension Request {
    /// `http` or `https`: how the client reached the server, or the proxy that a handler before this
    /// one trusts.
    public var scheme: String {
        self[ForwardedOriginKey.self]?.scheme
            ?? (storage.connection.security == nil ? "http" : "https")
    }

    /// Whether the client reached the server, or the trusted proxy before it, by `https`.
    public var isSecure: Bool { scheme == "https" }

    /// Host and port that the request is for: those that a trusted proxy forwarded, else those of an
    /// absolute target, else those of Host (RFC 9112 section 3.2.2). `nil` without any.
    public var host: String? {
        if let forwarded = self[ForwardedOriginKey.self]?.host { return forwarded }
        if !targetIsPath, let authority = originalTarget.authority { return authority }
        return fields[.host]
    }

    /// Whether `host` is an IPv4 address, where that is seen without making a text of it.
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

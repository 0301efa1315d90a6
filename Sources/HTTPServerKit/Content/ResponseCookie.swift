public import HTTPParser
public import HTTPServerCore

/// A cookie that a response sets (RFC 6265bis section 4.1).
///
/// ```swift
/// var cookie = try ResponseCookie("session", id)
/// cookie.maxAge = .seconds(3_600)
/// try response.setCookie(cookie, answering: request)
/// ```
///
/// By default, scripts cannot read the cookie, browsers do not send it with other sites' requests
/// except when the user follows a link (``SameSite/lax``), and it ends with the browser session.
/// Only ``isSecure`` restricts it to HTTPS; `setCookie(_:answering:)` sets that for a request over
/// HTTPS.
public struct ResponseCookie: Hashable, Sendable {
    /// The requests from other sites that carry the cookie (RFC 6265bis section 4.1.2.7).
    public enum SameSite: String, Hashable, Sendable, CaseIterable {
        /// No requests from other sites.
        case strict = "Strict"
        /// Links that a user follows, but no requests that change data.
        case lax = "Lax"
        /// All requests. Browsers accept such a cookie only if it is `isSecure`.
        case none = "None"
    }

    /// An invalid name, value or attribute.
    public enum Fault: Error, Hashable, Sendable {
        /// The name is not a token (RFC 9110 section 5.6.2).
        case invalidName
        /// The value contains bytes other than visible ASCII, or one of `"`, `,`, `;` and `\`. Only
        /// quotes around the whole value are allowed. Encode the value, for example percent-encode
        /// it.
        case invalidValue
        /// The domain or the path contains control characters, `;` or bytes other than ASCII.
        case invalidAttribute
        /// The name begins with `__Secure-` or `__Host-`, but the attributes do not meet the
        /// requirements of that prefix (RFC 6265bis section 4.1.3).
        case prefixNotHeld
    }

    /// The name.
    public let name: String
    /// The value.
    public let value: String
    /// How long browsers keep the cookie, in whole seconds; `nil` keeps it until the browser ends.
    /// Browsers limit it to 400 days.
    public var maxAge: Duration?
    /// The time at which browsers remove the cookie. Ignored if `maxAge` is set.
    public var expires: HTTPDate?
    /// The domain whose hosts get the cookie; `nil` for the host of the request only.
    public private(set) var domain: String?
    /// The path below which requests carry the cookie; `nil` for the folder of the request.
    public private(set) var path: String?
    /// Whether browsers send the cookie only over HTTPS.
    public var isSecure = false
    /// Whether the cookie is hidden from scripts.
    public var isHTTPOnly = true
    /// The requests from other sites that carry the cookie; `nil` leaves that to the browser.
    public var sameSite: SameSite? = .lax
    /// Whether browsers keep a separate cookie for each top-level site that embeds this one
    /// (CHIPS). Browsers require `isSecure` for it.
    public var isPartitioned = false

    /// Creates a cookie.
    /// - Parameters:
    ///   - name: a token.
    ///   - value: visible ASCII except `"`, `,`, `;` and `\`; quotes may surround the whole value.
    ///   - domain: the domain whose hosts get the cookie; `nil` for the host of the request only.
    ///   - path: the path below which requests carry the cookie; `nil` for the folder of the
    ///     request.
    /// - Throws: the fault of an invalid name, value, domain or path. The prefixes `__Secure-` and
    ///   `__Host-` are checked by ``fieldValue()``.
    public init(
        _ name: String, _ value: String, domain: String? = nil, path: String? = "/"
    ) throws(Fault) {
        guard FieldValues.isToken(name) else { throw .invalidName }
        let isQuoted = value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
        let inner = isQuoted ? value.utf8.dropFirst().dropLast() : value.utf8[...]
        guard inner.allSatisfy(Self.isValueByte) else { throw .invalidValue }
        for attribute in [domain, path] {
            guard attribute?.utf8.allSatisfy(Self.isAttributeByte) ?? true else {
                throw .invalidAttribute
            }
        }
        (self.name, self.value, self.domain, self.path) = (name, value, domain, path)
    }

    /// A cookie that removes the cookie of this name. Domain and path must be those with which it
    /// was set.
    public static func removal(
        of name: String, domain: String? = nil, path: String? = "/"
    ) throws(Fault) -> ResponseCookie {
        var cookie = try ResponseCookie(name, "", domain: domain, path: path)
        cookie.maxAge = .zero
        cookie.expires = HTTPDate(secondsSinceEpoch: 0)
        return cookie
    }

    /// The value of Set-Cookie.
    /// - Throws: ``Fault/prefixNotHeld``.
    public func fieldValue() throws(Fault) -> String {
        guard holdsPrefix else { throw .prefixNotHeld }
        var text = "\(name)=\(value)"
        if let maxAge { text += "; Max-Age=\(max(maxAge.components.seconds, 0))" }
        if let expires { text += "; Expires=\(expires)" }
        if let domain { text += "; Domain=\(domain)" }
        if let path { text += "; Path=\(path)" }
        if isSecure { text += "; Secure" }
        if isHTTPOnly { text += "; HttpOnly" }
        if let sameSite { text += "; SameSite=\(sameSite.rawValue)" }
        if isPartitioned { text += "; Partitioned" }
        return text
    }

    /// Whether the attributes meet the requirements of the name's prefix. Browsers compare prefixes
    /// case-insensitively.
    private var holdsPrefix: Bool {
        let start = name.prefix(9).lowercased()
        if start.hasPrefix("__host-") { return isSecure && domain == nil && path == "/" }
        return start != "__secure-" || isSecure
    }

    /// RFC 6265 section 4.1.1, `cookie-octet`.
    private static func isValueByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
        default: false
        }
    }

    /// RFC 6265 section 4.1.1, `av-octet`.
    private static func isAttributeByte(_ byte: UInt8) -> Bool {
        0x20..<0x7F ~= byte && byte != UInt8(ascii: ";")
    }
}

extension Response {
    /// Adds Set-Cookie. Cookies that were added before stay; for the same name, domain and path,
    /// browsers use the last one.
    /// - Throws: ``ResponseCookie/Fault/prefixNotHeld``.
    public mutating func setCookie(_ cookie: ResponseCookie) throws(ResponseCookie.Fault) {
        fields.append(.setCookie, try cookie.fieldValue())
    }

    /// Adds Set-Cookie, with `isSecure` if the client or a trusted proxy received the request over
    /// HTTPS: a browser then never sends the cookie in clear text.
    /// - Throws: ``ResponseCookie/Fault/prefixNotHeld``, for example over plain HTTP for a name
    ///   with `__Host-` or `__Secure-`, unless the cookie is `isSecure`.
    public mutating func setCookie(
        _ cookie: ResponseCookie, answering request: Request
    ) throws(ResponseCookie.Fault) {
        var cookie = cookie
        if request.isSecure { cookie.isSecure = true }
        try setCookie(cookie)
    }
}

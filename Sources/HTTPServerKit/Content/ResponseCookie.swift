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
/// Without changes it is kept from scripts and from requests that other sites cause, is gone when the
/// browser ends, and is sent over HTTPS only where the request came over HTTPS.
public struct ResponseCookie: Hashable, Sendable {
    /// The requests from other sites with which browsers send the cookie (RFC 6265bis section 4.1.2.7).
    public enum SameSite: String, Hashable, Sendable, CaseIterable {
        /// None of them.
        case strict = "Strict"
        /// Links that a user follows, but nothing that changes data.
        case lax = "Lax"
        /// All of them. Browsers take such a cookie only if it is `isSecure`.
        case none = "None"
    }

    /// A name, value or attribute that no cookie can have.
    public enum Fault: Error, Hashable, Sendable {
        /// The name is no token (RFC 9110 section 5.6.2).
        case invalidName
        /// The value has bytes other than visible ASCII, or `"`, `,`, `;` or `\`, apart from quotes
        /// around all of it. Encode it, for example percent-encode it.
        case invalidValue
        /// Domain or path has control characters, `;` or bytes other than ASCII.
        case invalidAttribute
        /// The name begins with `__Secure-` or `__Host-`, and the attributes are not those that
        /// browsers want for it (RFC 6265bis section 4.1.3).
        case prefixNotHeld
    }

    /// The name.
    public let name: String
    /// The value.
    public let value: String
    /// How long browsers keep it, in whole seconds; `nil` for as long as the browser runs. Browsers
    /// bound it by 400 days.
    public var maxAge: Duration?
    /// When browsers forget it; `maxAge` counts in its place where both are given.
    public var expires: HTTPDate?
    /// The domain whose hosts get it; `nil` for the host of the request alone.
    public private(set) var domain: String?
    /// The path below which requests have it; `nil` for the folder of the request.
    public private(set) var path: String?
    /// Whether it is sent over HTTPS only.
    public var isSecure = false
    /// Whether scripts of pages do not see it.
    public var isHTTPOnly = true
    /// The requests from other sites with which it is sent; `nil` leaves that to the browser.
    public var sameSite: SameSite? = .lax
    /// Whether each site in whose pages it is set keeps its own (CHIPS). Browsers want `isSecure`
    /// for that.
    public var isPartitioned = false

    /// Creates a cookie.
    /// - Parameters:
    ///   - name: a token.
    ///   - value: visible ASCII but `"`, `,`, `;` and `\`; it may stand in quotes.
    ///   - domain: the domain whose hosts get it; `nil` for the host of the request alone.
    ///   - path: the path below which requests have it; `nil` for the folder of the request.
    /// - Throws: the fault of what no cookie can have. `__Secure-` and `__Host-` are checked when
    ///   the cookie is written.
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

    /// A cookie that removes one that was set: domain and path have to be those of that one.
    public static func removal(
        of name: String, domain: String? = nil, path: String? = "/"
    ) throws(Fault) -> ResponseCookie {
        var cookie = try ResponseCookie(name, "", domain: domain, path: path)
        cookie.maxAge = .zero
        cookie.expires = HTTPDate(secondsSinceEpoch: 0)
        return cookie
    }

    /// The value of Set-Cookie.
    /// - Throws: `prefixNotHeld`.
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

    /// Browsers compare the prefixes without regard to case.
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
    /// Adds Set-Cookie; one of the same name that was added before stays, and browsers take the later
    /// one where domain and path agree.
    /// - Throws: ``ResponseCookie/Fault/prefixNotHeld``.
    public mutating func setCookie(_ cookie: ResponseCookie) throws(ResponseCookie.Fault) {
        fields.append(.setCookie, try cookie.fieldValue())
    }

    /// Adds Set-Cookie, with `isSecure` where the request came over HTTPS, from the client or from a
    /// trusted proxy: a browser then never sends the cookie in clear text.
    /// - Throws: ``ResponseCookie/Fault/prefixNotHeld``, which a name with `__Host-` or `__Secure-` is
    ///   over plain HTTP.
    public mutating func setCookie(
        _ cookie: ResponseCookie, answering request: Request
    ) throws(ResponseCookie.Fault) {
        var cookie = cookie
        if request.isSecure { cookie.isSecure = true }
        try setCookie(cookie)
    }
}

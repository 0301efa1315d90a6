public import HTTPParser

/// A cookie as a client stores it (RFC 6265bis, section 5.7).
public struct Cookie: Sendable, Hashable {
    /// The requests from other sites that a cookie is sent with (section 5.6.7).
    public enum SameSite: String, Sendable, Hashable {
        /// Only requests of the same site.
        case strict
        /// Also when a person navigates to the site with a safe method.
        case lax
        /// All requests.
        case none
        /// Not set. The cookie is sent with all requests, because the client is not a browser.
        case unspecified
    }

    /// The name, which may be empty.
    public let name: String
    /// The value.
    public let value: String
    /// The host in lower case, or the domain whose subdomains also get the cookie, without a
    /// leading dot.
    public let domain: String
    /// The path at and below which the cookie is sent.
    public let path: String
    /// When the cookie expires; nil for the end of the session.
    public let expiry: HTTPDate?
    /// Whether the cookie is sent to `domain` only, and not to its subdomains.
    public let isHostOnly: Bool
    /// Whether the cookie is sent by https only.
    public let isSecure: Bool
    /// Whether the cookie is for HTTP only, and not for scripts.
    public let isHTTPOnly: Bool
    /// The requests from other sites that the cookie is sent with.
    public let sameSite: SameSite
    /// When the cookie was first set. Of cookies with equally long paths, older ones are sent
    /// first.
    public let creation: HTTPDate

    /// Creates a cookie that an application stores itself.
    /// - Parameters:
    ///   - name: the name; without control characters, `;` and `=`.
    ///   - value: the value; without control characters and `;`.
    ///   - domain: the host, or the domain whose subdomains also get the cookie.
    ///   - path: the path at and below which the cookie is sent; it begins with a slash.
    ///   - expiry: when the cookie expires; nil for the end of the session.
    ///   - isHostOnly: whether the cookie is sent to `domain` only.
    ///   - isSecure: whether the cookie is sent by https only.
    ///   - isHTTPOnly: whether the cookie is for HTTP only.
    ///   - sameSite: the requests from other sites that the cookie is sent with.
    ///   - creation: when the cookie was set.
    public init(
        name: String, value: String, domain: String, path: String = "/", expiry: HTTPDate? = nil,
        isHostOnly: Bool = true, isSecure: Bool = false, isHTTPOnly: Bool = false,
        sameSite: SameSite = .unspecified, creation: HTTPDate
    ) {
        (self.name, self.value) = (name, value)
        (self.domain, self.path) = (domain.lowercased(), path)
        (self.expiry, self.creation) = (expiry, creation)
        (self.isHostOnly, self.isSecure, self.isHTTPOnly) = (isHostOnly, isSecure, isHTTPOnly)
        self.sameSite = sameSite
    }

    /// Whether the cookie ends with the session.
    public var isSession: Bool { expiry == nil }

    /// Whether the cookie has expired.
    /// - Parameter now: the current time.
    public func isExpired(at now: HTTPDate) -> Bool {
        expiry.map { $0 <= now } ?? false
    }

    /// Whether name and value are bytes that are not UTF-8. Each character then stands for one
    /// byte.
    var isLatin1 = false

    /// Whether one cookie replaces the other: names, domains and paths have the same bytes.
    func isSame(as other: Cookie) -> Bool {
        isHostOnly == other.isHostOnly && hasSameName(as: other)
            && domain.utf8.elementsEqual(other.domain.utf8)
            && path.utf8.elementsEqual(other.path.utf8)
    }

    /// Whether the names have the same bytes, even if only one of the cookies is UTF-8.
    func hasSameName(as other: Cookie) -> Bool {
        guard isLatin1 != other.isLatin1 else { return name.utf8.elementsEqual(other.name.utf8) }
        return bytes(of: name) == other.bytes(of: other.name)
    }

    /// Name and value as in the Cookie field (section 5.8.3).
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// Name and value as in the Cookie field, in the bytes in which they were received.
    var pairBytes: [UInt8] { bytes(of: pair) }

    /// A text of the cookie in the bytes in which it was received.
    func bytes(of text: String) -> [UInt8] {
        isLatin1
            ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(text.utf8)
    }

    func settingCreation(_ date: HTTPDate) -> Cookie {
        var cookie = Cookie(
            name: name, value: value, domain: domain, path: path, expiry: expiry,
            isHostOnly: isHostOnly, isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
            creation: date)
        cookie.isLatin1 = isLatin1
        return cookie
    }
}

/// A policy for storing the cookies of responses.
public enum CookieAcceptPolicy: String, Sendable, Hashable, CaseIterable {
    /// All cookies.
    case always
    /// No cookies.
    case never
    /// Cookies of the site of the request's main document; all cookies if the request has no main
    /// document.
    case onlyFromMainDocumentDomain
}

public import HTTPParser

/// A cookie as a client keeps it (RFC 6265bis, section 5.7).
public struct Cookie: Sendable, Hashable {
    /// With which requests from other sites a cookie goes (section 5.6.7).
    public enum SameSite: String, Sendable, Hashable {
        /// Only with requests of the same site.
        case strict
        /// Besides, where a person goes to the site by a safe method.
        case lax
        /// With all.
        case none
        /// Not given; the cookie goes with all requests, because the client is no browser.
        case unspecified
    }

    /// The name, which may be empty.
    public let name: String
    /// The value.
    public let value: String
    /// The host in lower case, or the domain below which hosts get it, without a dot in front.
    public let domain: String
    /// The path at and below which it is sent.
    public let path: String
    /// When it ends; nil for the end of the session.
    public let expiry: HTTPDate?
    /// Whether it goes to `domain` alone, and not to hosts below.
    public let isHostOnly: Bool
    /// Whether it is sent by https alone.
    public let isSecure: Bool
    /// Whether it is for HTTP alone, and not for scripts.
    public let isHTTPOnly: Bool
    /// With which requests from other sites it goes.
    public let sameSite: SameSite
    /// When it was first set: among cookies with equally long paths the older go first.
    public let creation: HTTPDate

    /// Creates a cookie that an application stores itself.
    /// - Parameters:
    ///   - name: the name; without control characters, `;` and `=`.
    ///   - value: the value; without control characters and `;`.
    ///   - domain: the host in lower case, or the domain below which hosts get it.
    ///   - path: at and below which it is sent; it begins with a slash.
    ///   - expiry: when it ends; nil for the end of the session.
    ///   - isHostOnly: whether it goes to `domain` alone.
    ///   - isSecure: whether it is sent by https alone.
    ///   - isHTTPOnly: whether it is for HTTP alone.
    ///   - sameSite: with which requests from other sites it goes.
    ///   - creation: when it was set.
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

    /// Whether it lasts no longer than the session.
    public var isSession: Bool { expiry == nil }

    /// Whether it has ended.
    /// - Parameter now: the time.
    public func isExpired(at now: HTTPDate) -> Bool {
        expiry.map { $0 <= now } ?? false
    }

    /// Whether name and value are bytes that are no UTF-8: each character stands for one.
    var isLatin1 = false

    /// Whether a new one takes the place of the other: names, domains and paths are the same, by their
    /// bytes.
    func isSame(as other: Cookie) -> Bool {
        isHostOnly == other.isHostOnly && hasSameName(as: other)
            && domain.utf8.elementsEqual(other.domain.utf8)
            && path.utf8.elementsEqual(other.path.utf8)
    }

    /// Whether the names are the same bytes, whatever the values are made of.
    func hasSameName(as other: Cookie) -> Bool {
        guard isLatin1 != other.isLatin1 else { return name.utf8.elementsEqual(other.name.utf8) }
        return bytes(of: name) == other.bytes(of: other.name)
    }

    /// As it stands in the field Cookie (section 5.8.3).
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// The same as it was received.
    var pairBytes: [UInt8] { bytes(of: pair) }

    /// A text of it in the bytes in which it was received.
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

/// Which cookies are stored.
public enum CookieAcceptPolicy: String, Sendable, Hashable, CaseIterable {
    /// All.
    case always
    /// None.
    case never
    /// Cookies of the site of the request's main document, where that is given; else all.
    case onlyFromMainDocumentDomain
}

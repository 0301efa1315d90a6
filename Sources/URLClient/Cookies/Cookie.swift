public import HTTPParser

/// A cookie as a client keeps it (RFC 6265bis, section 5.7).
public struct Cookie: Sendable, Hashable {
    /// With which requests from other sites a cookie goes (section 5.6.7).
    public enum SameSite: String, Sendable, Hashable {
        /// With those of its own site alone.
        case strict
        /// Besides, where a person goes to the site by a safe method.
        case lax
        /// With all.
        case none
        /// Nothing was said; it goes with all, for a client that is no browser.
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

    /// Creates a cookie as an application stores one of its own.
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

    /// What tells cookies apart: a new one with the same takes the place of the old one.
    struct Identity: Hashable {
        let name: String
        let domain: String
        let path: String
        let isHostOnly: Bool
    }

    var identity: Identity {
        Identity(name: name, domain: domain, path: path, isHostOnly: isHostOnly)
    }

    /// As it stands in the field Cookie (section 5.8.3).
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    func settingCreation(_ date: HTTPDate) -> Cookie {
        Cookie(
            name: name, value: value, domain: domain, path: path, expiry: expiry,
            isHostOnly: isHostOnly, isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
            creation: date)
    }
}

/// Which cookies are stored.
public enum CookieAcceptPolicy: String, Sendable, Hashable, CaseIterable {
    /// All.
    case always
    /// None.
    case never
    /// Those of the site of the request's main document, where that is given; else all.
    case onlyFromMainDocumentDomain
}

package import HTTPParser

/// The redirects of one task so far, and the rules for the next response.
///
/// RFC 9110, section 15.4.
package struct RedirectChain: Sendable {
    private let policy: RedirectPolicy
    /// The URLs that were redirected, the first one first. Errors show them, so they have no user
    /// information.
    package private(set) var history: [String] = []
    /// How many redirects were followed.
    package var count: Int { max(history.count - 1, 0) }

    package init(policy: RedirectPolicy) {
        self.policy = policy
    }

    /// Decides whether a response is delivered, followed or refused.
    ///
    /// A repeated URL is allowed: a login redirects the client back, now with a cookie. The limit
    /// ends loops (section 15.4).
    /// - Parameters:
    ///   - method: the method of the request.
    ///   - url: the URL of the request, with its fragment.
    ///   - fields: the fields of the request, without the session's cookies, credentials and
    ///     validators.
    ///   - hasOneShotBody: whether the content of the request cannot be sent again.
    ///   - status: the status of the response.
    ///   - locations: the values of the response's Location fields.
    ///   - upgraded: returns the https URL for an http URL of an HSTS host; `nil` for other URLs.
    package mutating func verdict(
        method: HTTPMethod, url: String, fields: HTTPFields, hasOneShotBody: Bool,
        status: HTTPStatus, locations: [String], upgraded: (String) -> String? = { _ in nil }
    ) -> RedirectVerdict {
        guard policy.isEnabled, Self.isFollowed(status), let location = locations.first,
            !location.isEmpty
        else { return .deliver }
        let next = Self.method(after: status, method)
        let keepsBody = next == method && status.code != 303
        if keepsBody, hasOneShotBody { return .deliver }
        let current = URIReference(url)
        history.append(Self.shown(current))
        func refuse(_ kind: RedirectFault.Kind) -> RedirectVerdict {
            .refuse(RedirectFault(kind: kind, location: location, history: history))
        }
        guard locations.allSatisfy({ $0.utf8.elementsEqual(location.utf8) }),
            var target = URIReference(field: location, base: url)
        else { return refuse(.malformed) }
        guard let scheme = target.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            return refuse(.unsupportedScheme)
        }
        // An HSTS host is never requested by http, so this is no downgrade (RFC 6797 section 8.3).
        // After http the next transaction upgrades the URL, and counts the host as the same.
        if current.scheme?.lowercased() == "https", let text = upgraded(target.text) {
            target = URIReference(text)
        }
        guard let authority = target.authority else { return refuse(.malformed) }
        guard !authority.utf8.contains(UInt8(ascii: "@")) || Self.isSame(target, current) else {
            return refuse(.userInformation)
        }
        guard let from = Origin(current), let to = Origin(target) else { return refuse(.malformed) }
        if from.isSecure, !to.isSecure, !policy.allowsDowngrade { return refuse(.downgrade) }
        if count >= policy.limit { return refuse(.tooMany) }
        target.fragment = target.fragment ?? current.fragment
        var rewritten = fields
        if !keepsBody { RedirectFields.dropContent(&rewritten) }
        if from != to { RedirectFields.leave(from, for: to, &rewritten, policy) }
        return .follow(
            Redirect(
                target: target.text, method: next, fields: rewritten, keepsBody: keepsBody,
                crossesOrigin: from != to, isUpgrade: to.isUpgrade(of: from)))
    }

    /// Whether the authority is that of the request. A relative reference inherits its user
    /// information.
    private static func isSame(_ target: URIReference, _ current: URIReference) -> Bool {
        target.authority == current.authority && target.scheme == current.scheme
    }

    private static func shown(_ reference: URIReference) -> String {
        var reference = reference
        reference.fragment = nil
        return ClientError.shown(reference.text)
    }

    /// 300 leaves the choice to a person, and 304 is no redirect. The old meanings of 305 and 306
    /// are deprecated as unsafe (sections 15.4.6 and 15.4.7): their Location is a target, never a
    /// proxy.
    private static func isFollowed(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 301, 302, 303, 305, 306, 307, 308: true
        default: false
        }
    }

    /// POST becomes GET after 301 and 302, as browsers have always done it (sections 15.4.2 and
    /// 15.4.3), and everything but HEAD after 303 (section 15.4.4).
    private static func method(after status: HTTPStatus, _ method: HTTPMethod) -> HTTPMethod {
        switch status.code {
        case 301, 302: method == .post ? .get : method
        case 303: method == .head ? .head : .get
        default: method
        }
    }
}

extension Origin {
    /// The origin of an absolute reference; `nil` if it has no valid one.
    init?(_ reference: URIReference) {
        guard let wire = try? WireURL(reference.text) else { return nil }
        self = wire.origin
    }
}

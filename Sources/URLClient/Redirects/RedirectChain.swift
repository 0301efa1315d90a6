package import HTTPParser

/// The requests of one task as far as redirects go, and what follows from the next response.
///
/// RFC 9110, section 15.4.
package struct RedirectChain: Sendable {
    private let policy: RedirectPolicy
    /// The URLs in their order, the first one first, without user information: errors show them.
    package private(set) var history: [String] = []
    /// How many redirects were followed.
    package var count: Int { max(history.count - 1, 0) }

    package init(policy: RedirectPolicy) {
        self.policy = policy
    }

    /// Judges a response.
    ///
    /// A URL that comes again is no fault: a login sends the client back to where it came from, with a
    /// cookie that it did not have. The limit ends loops (section 15.4).
    /// - Parameters:
    ///   - method: of the request that was answered.
    ///   - url: of that request, with its fragment.
    ///   - fields: of that request, as the application gave them.
    ///   - hasOneShotBody: whether its content cannot be sent again.
    ///   - status: of the response.
    ///   - locations: the values of its Location fields.
    ///   - upgraded: the https URL in place of an http one of a host of strict transport; `nil` for
    ///     other URLs.
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
        // A host of strict transport gets no http, so this is no downgrade (RFC 6797 section 8.3).
        // After http the next transaction upgrades it, and counts the host as the same.
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

    /// User information of the request comes along in a relative reference; that is no new one.
    private static func isSame(_ target: URIReference, _ current: URIReference) -> Bool {
        target.authority == current.authority && target.scheme == current.scheme
    }

    private static func shown(_ reference: URIReference) -> String {
        var reference = reference
        reference.fragment = nil
        return ClientError.shown(reference.text)
    }

    /// 300 leaves the choice to people and 304 is no redirect. 305 and 306 had meanings that are
    /// deprecated as unsafe (sections 15.4.6 and 15.4.7): Location is where to ask, never a proxy.
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
    /// The origin of an absolute reference; `nil` where it names none that is valid.
    init?(_ reference: URIReference) {
        guard let wire = try? WireURL(reference.text) else { return nil }
        self = wire.origin
    }
}

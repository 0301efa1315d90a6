package import HTTPParser

/// The facts about a request that cookies depend on.
package struct CookieContext: Sendable {
    /// The origin of the request, whose port is ignored.
    package var origin: Origin
    package var path: String
    /// The host of the page that the request is for; `nil` if a person or a program makes the
    /// request directly, and empty for a page without a host.
    package var mainHost: String?
    /// Whether the method is safe.
    package var isSafe: Bool
    /// Whether the request may leave this machine even for `localhost` and the like: a proxy takes
    /// such a name for its own machine, and a connect target may be elsewhere.
    package var leavesMachine = false

    package init(origin: Origin, path: String, mainHost: String? = nil, isSafe: Bool = true) {
        (self.origin, self.path, self.mainHost, self.isSafe) = (origin, path, mainHost, isSafe)
    }

    /// Whether the request is protected from others on the network: by TLS, or because the name is
    /// that of this machine (RFC 6761 section 6.3). RFC 6265bis section 5.8.3 leaves the second
    /// case to the client.
    var isSecure: Bool {
        let host = origin.host
        if origin.isSecure || leavesMachine { return origin.isSecure }
        return host.utf8.elementsEqual("localhost".utf8)
            || CookieJar.hasSuffix(host, ".localhost")
    }
}

/// The most cookies that are kept. Above a limit, expired cookies are removed first, then those
/// that are also sent without TLS, then the others; each time the least recently used first (RFC
/// 6265bis section 5.7).
public struct CookieLimits: Sendable, Hashable {
    /// The most cookies of one domain.
    public var countPerDomain = 50
    /// The most cookies of all domains.
    public var count = 3_000

    /// The defaults.
    public init() {}
}

/// Cookies, with the rules for storing and sending them. RFC 6265bis, sections 5.6 to 5.8.
package struct CookieJar: Sendable {
    private struct Entry {
        var cookie: Cookie
        /// The number of the last use.
        var lastUse: UInt64

        /// The lowest rank is removed first. Cookies from http must not evict cookies that https
        /// protects.
        var rank: (Int, UInt64) { (cookie.isSecure ? 1 : 0, lastUse) }
    }

    private var domains: [String: [Entry]] = [:]
    private var clock: UInt64 = 0
    private let limits: CookieLimits
    private let suffixes: any PublicSuffixes
    package private(set) var count = 0

    package init(
        limits: CookieLimits = CookieLimits(),
        suffixes: any PublicSuffixes = SystemPublicSuffixes()
    ) {
        (self.limits, self.suffixes) = (limits, suffixes)
    }

    /// All cookies, in the order in which they were set.
    package var cookies: [Cookie] {
        domains.values.flatMap { $0.map(\.cookie) }.sorted { one, two in
            if one.creation != two.creation { return one.creation < two.creation }
            // By bytes: see Text+Bytes.swift.
            for part in [\Cookie.domain, \.path, \.name] {
                let (text, other) = (one[keyPath: part].utf8, two[keyPath: part].utf8)
                if !text.elementsEqual(other) { return text.lexicographicallyPrecedes(other) }
            }
            return false
        }
    }

    // MARK: Receiving

    /// Takes the value of one Set-Cookie (section 5.7).
    /// - Parameter isLatin1: whether the value is not UTF-8. Each character of `field` then stands
    ///   for one byte.
    /// - Returns: whether anything was stored or removed.
    @discardableResult
    package mutating func receive(
        _ field: String, isLatin1: Bool = false, from context: CookieContext,
        policy: CookieAcceptPolicy, now: HTTPDate
    ) -> Bool {
        guard policy != .never, let parsed = SetCookie(field, now: now),
            var cookie = cookie(parsed, from: context, now: now)
        else { return false }
        cookie.isLatin1 = isLatin1
        if policy == .onlyFromMainDocumentDomain, isCrossSite(context) { return false }
        return store(cookie, isFromSecure: context.isSecure, now: now)
    }

    private func cookie(
        _ parsed: SetCookie, from context: CookieContext, now: HTTPDate
    ) -> Cookie? {
        let host = Self.canonical(context.origin.host)
        var domain = parsed.domain ?? ""
        if domain == host { domain = Self.isAddress(host) ? "" : domain }
        if !domain.isEmpty, suffixes.isPublicSuffix(domain) {
            guard domain == host else { return nil }
            domain = ""
        }
        let isHostOnly = domain.isEmpty
        guard isHostOnly || Self.domainMatches(host, domain) else { return nil }
        let isSecure = context.isSecure
        if parsed.isSecure, !isSecure { return nil }
        if parsed.sameSite == .none, !parsed.isSecure { return nil }
        if parsed.sameSite == .strict || parsed.sameSite == .lax, isCrossSite(context) {
            return nil
        }
        let path = parsed.path ?? Self.defaultPath(context.path)
        guard Self.prefixHolds(parsed, isHostOnly: isHostOnly, path: path) else { return nil }
        return Cookie(
            name: parsed.name, value: parsed.value, domain: isHostOnly ? host : domain, path: path,
            expiry: Self.expiry(parsed, now: now), isHostOnly: isHostOnly,
            isSecure: parsed.isSecure, isHTTPOnly: parsed.isHTTPOnly, sameSite: parsed.sameSite,
            creation: now)
    }

    /// Whether a cookie fulfils the prefix of its name (section 4.1.3). A cookie without a name
    /// whose value has such a prefix is refused as well.
    private static func prefixHolds(_ parsed: SetCookie, isHostOnly: Bool, path: String) -> Bool {
        // Compares bytes, because a combining mark would change the hyphen's character.
        let claim = (parsed.name.isEmpty ? parsed.value : parsed.name).lowercased().utf8
        if claim.starts(with: "__secure-".utf8) { return !parsed.name.isEmpty && parsed.isSecure }
        if claim.starts(with: "__host-".utf8) {
            return !parsed.name.isEmpty && parsed.isSecure && isHostOnly && parsed.path == "/"
        }
        return true
    }

    /// The longest lifetime in seconds: 400 days (section 5.5).
    private static let longest: Int64 = 400 * 86_400

    private static func expiry(_ parsed: SetCookie, now: HTTPDate) -> HTTPDate? {
        let latest = now.secondsSinceEpoch + longest
        if let age = parsed.maxAge {
            guard age > 0 else { return HTTPDate(secondsSinceEpoch: 0) }
            return HTTPDate(secondsSinceEpoch: now.secondsSinceEpoch + min(age, longest))
        }
        return parsed.expires.map {
            HTTPDate(secondsSinceEpoch: min($0.secondsSinceEpoch, latest))
        }
    }

    /// Stores a cookie, and replaces the one with the same name, domain and path. An expired cookie
    /// removes the old one.
    @discardableResult
    package mutating func store(
        _ cookie: Cookie, isFromSecure: Bool = true, now: HTTPDate
    ) -> Bool {
        // A cookie from http must not replace one that https protects (section 5.7).
        if !isFromSecure, !cookie.isSecure, shadowsSecure(cookie) { return false }
        var entries = domains[cookie.domain] ?? []
        let old = entries.firstIndex { $0.cookie.isSame(as: cookie) }
        clock += 1
        if cookie.isExpired(at: now) {
            guard let old else { return false }
            entries.remove(at: old)
            count -= 1
        } else if let old {
            let creation = entries[old].cookie.creation
            entries[old] = Entry(cookie: cookie.settingCreation(creation), lastUse: clock)
        } else {
            entries.append(Entry(cookie: cookie, lastUse: clock))
            count += 1
            if entries.count > limits.countPerDomain {
                let before = entries.count
                Self.shrink(&entries, to: limits.countPerDomain, now: now)
                count -= before - entries.count
            }
        }
        domains[cookie.domain] = entries.isEmpty ? nil : entries
        if count > limits.count { shrink(now) }
        return true
    }

    private func shadowsSecure(_ cookie: Cookie) -> Bool {
        let others = domains.filter { domain, _ in
            Self.domainMatches(domain, cookie.domain) || Self.domainMatches(cookie.domain, domain)
        }
        return others.values.joined().contains { entry in
            entry.cookie.isSecure && entry.cookie.hasSameName(as: cookie)
                && Self.pathMatches(cookie.path, entry.cookie.path)
        }
    }

    private static func shrink(_ entries: inout [Entry], to limit: Int, now: HTTPDate) {
        entries.removeAll { $0.cookie.isExpired(at: now) }
        while entries.count > limit,
            let first = entries.indices.min(by: { entries[$0].rank < entries[$1].rank })
        {
            entries.remove(at: first)
        }
    }

    /// Removes a tenth of the limit more than necessary, so that removals are rare.
    private mutating func shrink(_ now: HTTPDate) {
        removeAll { $0.isExpired(at: now) }
        guard count > limits.count else { return }
        let ranks = domains.values.joined().map(\.rank).sorted(by: <)
        let last = ranks[min(count - limits.count + limits.count / 10, count - 1)]
        for (domain, entries) in domains {
            let kept = entries.filter { $0.rank >= last }
            count -= entries.count - kept.count
            domains[domain] = kept.isEmpty ? nil : kept
        }
    }

    /// Removes the cookies that fulfil a condition.
    package mutating func removeAll(where isRemoved: (Cookie) -> Bool = { _ in true }) {
        for (domain, entries) in domains {
            let kept = entries.filter { !isRemoved($0.cookie) }
            count -= entries.count - kept.count
            domains[domain] = kept.isEmpty ? nil : kept
        }
    }

    // MARK: Sending

    /// The cookies for a request, in the order in which they are sent: longer paths first, then
    /// older ones (section 5.8.3).
    package mutating func cookies(for context: CookieContext, now: HTTPDate) -> [Cookie] {
        guard count > 0 else { return [] }
        let host = Self.canonical(context.origin.host)
        let isCrossSite = isCrossSite(context)
        var found: [Cookie] = []
        clock += 1
        for domain in Self.domains(of: host) {
            guard var entries = domains[domain] else { continue }
            for index in entries.indices {
                let cookie = entries[index].cookie
                guard !cookie.isHostOnly || domain == host, !cookie.isExpired(at: now),
                    Self.pathMatches(context.path, cookie.path),
                    !cookie.isSecure || context.isSecure
                else { continue }
                if isCrossSite, cookie.sameSite == .strict || cookie.sameSite == .lax { continue }
                entries[index].lastUse = clock
                found.append(cookie)
            }
            domains[domain] = entries
        }
        return found.sorted { left, right in
            let (first, second) = (left.path.utf8.count, right.path.utf8.count)
            return first == second ? left.creation < right.creation : first > second
        }
    }

    /// The longest value of Cookie, in bytes: servers refuse longer lines.
    static let fieldLimit = 8_190

    /// The value of Cookie; `nil` if no cookie is sent. From the first cookie that does not fit,
    /// all are left out.
    package mutating func field(for context: CookieContext, now: HTTPDate) -> CookieField? {
        var field = CookieField()
        for cookie in cookies(for: context, now: now) {
            guard field.append(cookie, upTo: Self.fieldLimit) else { break }
        }
        return field.isEmpty ? nil : field
    }

    /// Whether the request is made for a page of another site (section 5.2).
    func isCrossSite(_ context: CookieContext) -> Bool {
        guard let main = context.mainHost.map(Self.canonical) else { return false }
        let host = Self.canonical(context.origin.host)
        if main == host { return false }
        guard !Self.isAddress(main), !Self.isAddress(host) else { return true }
        return suffixes.site(of: main) != suffixes.site(of: host)
    }
}

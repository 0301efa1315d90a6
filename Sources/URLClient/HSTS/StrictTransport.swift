package import HTTPParser

/// The hosts that require https (RFC 6797).
package struct StrictTransport: Sendable {
    /// The policy of a host.
    package struct Rule: Sendable, Hashable {
        package var expiry: HTTPDate
        package var includesSubdomains: Bool
    }

    package private(set) var rules: [String: Rule] = [:]
    /// The most hosts that are remembered. When it is exceeded, the rule that expires first is
    /// dropped.
    private let limit: Int

    package init(limit: Int = 10_000) {
        self.limit = max(limit, 1)
    }

    /// Records the Strict-Transport-Security field of a response (section 8.1). Only the first
    /// field counts, and only over https with a valid certificate, from a host that is no IP
    /// address.
    /// - Returns: whether anything changed.
    @discardableResult
    package mutating func receive(
        _ fields: HTTPFields, from origin: Origin, now: HTTPDate
    ) -> Bool {
        guard origin.isSecure, let value = fields[.strictTransportSecurity],
            let parsed = Self.parse(value)
        else { return false }
        let host = CookieJar.canonical(origin.host)
        guard !CookieJar.isAddress(host) else { return false }
        guard parsed.maxAge > 0 else { return rules.removeValue(forKey: host) != nil }
        // Limit the age to 100 years, so that the expiry time does not overflow.
        let seconds = min(parsed.maxAge, 100 * 366 * 86_400)
        set(
            host,
            Rule(
                expiry: HTTPDate(secondsSinceEpoch: now.secondsSinceEpoch + seconds),
                includesSubdomains: parsed.includesSubdomains), now: now)
        return true
    }

    package mutating func set(_ host: String, _ rule: Rule, now: HTTPDate) {
        if rules[host] == nil, rules.count >= limit {
            rules = rules.filter { $0.value.expiry > now }
            if rules.count >= limit,
                let first = rules.min(by: { $0.value.expiry < $1.value.expiry })
            {
                rules[first.key] = nil
            }
        }
        rules[host] = rule
    }

    package mutating func removeAll() { rules = [:] }

    /// Whether the host requires https, or a parent domain does with includeSubDomains (section
    /// 8.2).
    package func isKnown(_ host: String, now: HTTPDate) -> Bool {
        guard !rules.isEmpty else { return false }
        let host = CookieJar.canonical(host)
        guard !CookieJar.isAddress(host) else { return false }
        for domain in CookieJar.domains(of: host) {
            guard let rule = rules[domain], rule.expiry > now else { continue }
            if domain == host || rule.includesSubdomains { return true }
        }
        return false
    }

    /// The URL to use: https in place of http, 443 in place of 80, any other port kept (section
    /// 8.3). `nil` if nothing changes.
    package func upgraded(_ url: String, now: HTTPDate) -> String? {
        guard !rules.isEmpty else { return nil }
        var reference = URIReference(url)
        guard reference.scheme?.lowercased() == "http", let authority = reference.authority,
            let wire = try? WireURL(url), isKnown(wire.origin.host, now: now)
        else { return nil }
        reference.scheme = "https"
        if authority.hasSuffix(":80") {
            reference.authority = String(authority.dropLast(3))
        }
        return reference.text
    }

    /// Strict-Transport-Security = [ directive ] *( ";" [ directive ] ) (section 6.1): max-age is
    /// required, no directive may be repeated, and unknown ones are ignored.
    static func parse(_ value: String) -> (maxAge: Int64, includesSubdomains: Bool)? {
        let bytes = Array(value.utf8)
        var reader = FieldValueReader(bytes.span)
        var seen: Set<String> = []
        var maxAge: Int64?
        while true {
            reader.skipWhitespace()
            if let token = reader.takeToken() {
                let name = reader.text(token).lowercased()
                guard seen.insert(name).inserted else { return nil }
                var argument: String?
                reader.skipWhitespace()
                if reader.take(UInt8(ascii: "=")) {
                    reader.skipWhitespace()
                    guard let content = reader.takeTokenOrQuotedString() else { return nil }
                    argument = String(decoding: content, as: UTF8.self)
                }
                if name == "max-age" {
                    guard let digits = argument, !digits.isEmpty,
                        digits.utf8.allSatisfy(ByteClass.isDigit)
                    else { return nil }
                    maxAge = FieldValues.parseDecimal(digits) ?? .max
                }
                if name == "includesubdomains", argument != nil { return nil }
            }
            reader.skipWhitespace()
            if reader.isAtEnd { break }
            guard reader.take(UInt8(ascii: ";")) else { return nil }
        }
        return maxAge.map { ($0, seen.contains("includesubdomains")) }
    }
}

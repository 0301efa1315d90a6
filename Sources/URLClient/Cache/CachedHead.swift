internal import HTTPCodecs
package import HTTPParser

/// A stored response without its content.
package struct CachedHead: Sendable, Hashable {
    /// Scheme, authority, path and query of the request.
    package var url: String
    package var status: HTTPStatus
    package var version: ClientResponse.Version
    package var fields: HTTPFields
    package var trailers: HTTPFields
    package var requestTime: HTTPDate
    package var responseTime: HTTPDate
    /// The fields of the request, in lower case and order, on which the response depends.
    package var vary: [String]
    /// The hash of the request's values of these fields.
    package var variant: String

    package init(
        url: String, status: HTTPStatus, version: ClientResponse.Version = .http11,
        fields: HTTPFields, trailers: HTTPFields = HTTPFields(), requestTime: HTTPDate,
        responseTime: HTTPDate, vary: [String] = [], variant: String = ""
    ) {
        (self.url, self.status, self.version) = (url, status, version)
        (self.fields, self.trailers) = (fields, trailers)
        (self.requestTime, self.responseTime) = (requestTime, responseTime)
        (self.vary, self.variant) = (vary, variant)
    }

    package var directives: CacheDirectives { CacheDirectives(fields) }

    // MARK: Age and freshness

    /// When the response was created, according to its Date; otherwise when it arrived (RFC 9110
    /// section 6.6.1).
    private var date: HTTPDate {
        fields[.date].flatMap { HTTPDate($0, now: responseTime) } ?? responseTime
    }

    /// The age of the response, in seconds (RFC 9111 section 4.2.3).
    package func age(at now: HTTPDate) -> Int64 {
        let responded = responseTime.secondsSinceEpoch
        let apparent = max(0, responded - date.secondsSinceEpoch)
        let delay = max(0, responded - requestTime.secondsSinceEpoch)
        // In a list, the first member counts (section 5.1).
        let received = fields[.age].flatMap { FieldValues.list($0)?.first }
        let corrected = (CacheDirectives.seconds(received) ?? 0) + delay
        let resident = now.secondsSinceEpoch - responded
        // If the clock was set back after the response arrived, the age is unknown.
        guard resident >= -Self.clockTolerance else { return Self.unknownAge }
        return max(apparent, corrected) + max(0, resident)
    }

    /// The number of seconds by which the clock may be set back, as a time server does, before
    /// responses count as stale.
    private static let clockTolerance: Int64 = 60
    /// The greatest number of seconds that is used here (section 1.2.2).
    private static let unknownAge: Int64 = 1 << 31

    /// How long the response is fresh, in seconds (section 4.2.1); zero if nothing sets a lifetime.
    package var lifetime: Int64 {
        if let maxAge = directives.maxAge { return maxAge }
        let expires = fields.values(of: .expires)
        if let text = expires.first {
            // Several values, or an invalid date such as 0, mean that the response has expired
            // (section 5.3).
            guard expires.count == 1, let expiry = HTTPDate(text, now: responseTime) else {
                return 0
            }
            return max(0, expiry.secondsSinceEpoch - date.secondsSinceEpoch)
        }
        return heuristicLifetime
    }

    /// A tenth of the time since the last modification, at most a day (section 4.2.2).
    private var heuristicLifetime: Int64 {
        guard CacheRules.isHeuristicallyCacheable(status) || directives.isPublic,
            let changed = fields[.lastModified].flatMap({ HTTPDate($0, now: responseTime) })
        else { return 0 }
        return min(max(0, date.secondsSinceEpoch - changed.secondsSinceEpoch) / 10, 86_400)
    }

    /// How long the response has been stale, in seconds; negative while it is fresh.
    package func staleness(at now: HTTPDate) -> Int64 { age(at: now) - lifetime }

    // MARK: Validation

    /// Whether both heads belong to the same stored response, and not to one that has replaced it.
    package func isSameResponse(as other: CachedHead) -> Bool {
        url == other.url && variant == other.variant && responseTime == other.responseTime
            && fields[.eTag].hasBytes(of: other.fields[.eTag])
            && fields[.lastModified].hasBytes(of: other.fields[.lastModified])
    }

    /// Whether the server can be asked if the response is still valid.
    package var hasValidator: Bool { validator(.eTag) != nil || validator(.lastModified) != nil }

    /// Adds the preconditions that ask the server for validation (section 4.3.1).
    package func addValidators(to request: inout HTTPFields) {
        if let tag = validator(.eTag) { request[.ifNoneMatch] = tag }
        if let date = validator(.lastModified) { request[.ifModifiedSince] = date }
    }

    /// A field's value that a request may repeat; nil if it has control characters.
    private func validator(_ name: HTTPFieldName) -> String? {
        fields[name].flatMap { ClientRequest.isAllowed($0) ? $0 : nil }
    }

    /// Whether a 304 is about this response (section 4.3.4).
    package func isConfirmed(by notModified: HTTPFields) -> Bool {
        guard let tag = notModified[.eTag] else { return true }
        guard let new = EntityTag(tag), let old = fields[.eTag].flatMap({ EntityTag($0) }) else {
            return Optional(tag).hasBytes(of: fields[.eTag])
        }
        return new.isWeak ? new.weakMatches(old) : new == old
    }

    /// The fields that describe the content, which a 304 does not send.
    private static let ofContent: Set<HTTPFieldName> = [
        .contentEncoding, .contentLength, .contentRange, .contentType, .vary,
    ]

    /// The head to store after a 304: its fields replace the old ones, except fields that describe
    /// the content, which was not sent (section 3.2).
    package func freshened(
        by notModified: HTTPFields, requestTime: HTTPDate, responseTime: HTTPDate
    ) -> CachedHead {
        var head = self
        let new = CacheRules.stored(notModified).filter { !Self.ofContent.contains($0.name) }
        for name in Set(new.map(\.name)) { head.fields.remove(name) }
        // The age of the old response must not be counted twice.
        head.fields.remove(.age)
        for field in new { head.fields.append(field) }
        (head.requestTime, head.responseTime) = (requestTime, responseTime)
        return head
    }
}

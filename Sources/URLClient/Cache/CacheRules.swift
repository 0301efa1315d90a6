internal import HTTPCrypto
package import HTTPParser

/// The rules for storing and using responses in a private cache. RFC 9111, sections 3 and 4.
package enum CacheRules {
    /// Whether responses with a status may be stored without explicit freshness (RFC 9110 section
    /// 15.1). 206 is left out, because parts are not stored.
    package static func isHeuristicallyCacheable(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
        default: false
        }
    }

    /// Whether a response may be stored (section 3).
    package static func isStorable(
        method: HTTPMethod, request: HTTPFields, status: HTTPStatus, response: HTTPFields
    ) -> Bool {
        guard method == .get, !request.contains(.range), !response.contains(.contentRange),
            status.code >= 200, status.code != 206, status.code != 304, status.code <= 599,
            !CacheDirectives(request).noStore, !leadsElsewhere(status, response)
        else { return false }
        let directives = CacheDirectives(response)
        let isUnderstood = isHeuristicallyCacheable(status)
        guard mayBeStored(directives, status) else { return false }
        guard let names = varyNames(response), names.count <= 32 else { return false }
        return isUnderstood || directives.isPublic || directives.isPrivate
            || directives.maxAge != nil || response.contains(.expires)
    }

    /// Whether a stored response may stay after a 304 has changed its fields.
    package static func mayStay(_ head: CachedHead) -> Bool {
        mayBeStored(head.directives, head.status)
    }

    private static func mayBeStored(_ directives: CacheDirectives, _ status: HTTPStatus) -> Bool {
        // With `must-understand`, `no-store` is only for caches that do not know the status
        // (section 5.2.2.3).
        directives.mustUnderstand ? isHeuristicallyCacheable(status) : !directives.noStore
    }

    /// Whether the response redirects most requests. A caller that gets it as the answer asked not
    /// to be redirected, and other callers must not get it.
    private static func leadsElsewhere(_ status: HTTPStatus, _ response: HTTPFields) -> Bool {
        switch status.code {
        case 301, 302, 303, 305, 306, 307, 308: response.contains(.location)
        default: false
        }
    }

    /// The names of Vary in lower case and order; `nil` for `*`, which no request matches (section
    /// 4.1), and for a malformed field.
    package static func varyNames(_ response: HTTPFields) -> [String]? {
        var names: Set<String> = []
        for value in response.values(of: .vary) {
            guard let tokens = FieldValues.tokens(value), !tokens.contains("*") else { return nil }
            for token in tokens { names.insert(token.lowercased()) }
        }
        return names.sorted()
    }

    /// The hash of the named fields of a request, so that their values do not appear in a file. A
    /// response to a request with explicit credentials answers only such requests.
    package static func variant(of request: HTTPFields, names: [String]) -> String {
        var names = names
        if !names.contains("authorization") { names.append("authorization") }
        var text = ""
        for name in names {
            guard let field = HTTPFieldName(name) else { continue }
            let values = request.values(of: field).map { value in
                (FieldValues.list(value) ?? [value]).joined(separator: ",")
            }
            guard !values.isEmpty else { continue }
            text += "\(name):\(values.joined(separator: ","))\n"
        }
        return text.isEmpty ? "" : String(Hex.text(of: Crypto.sha256(Array(text.utf8))).prefix(32))
    }

    /// Whether a field is valid for one connection only, or belongs to the proxy (section 3.1).
    package static func isPerHop(_ name: HTTPFieldName) -> Bool { perHop.contains(name) }

    private static let perHop: Set<HTTPFieldName> = [
        .connection, .keepAlive, "Proxy-Connection", .te, .trailer, .transferEncoding, .upgrade,
        .proxyAuthenticate, .proxyAuthorization, "Proxy-Authentication-Info",
    ]

    /// The fields that are stored: all except those per hop and those that Connection names.
    package static func stored(_ response: HTTPFields) -> HTTPFields {
        let named = response.values(of: .connection).flatMap { FieldValues.tokens($0) ?? [] }
            .compactMap { HTTPFieldName($0) }
        var kept = HTTPFields()
        for field in response where !isPerHop(field.name) && !named.contains(field.name) {
            kept.append(field)
        }
        return kept
    }

    /// The fields that are stored with decoded content: its coding and its length on the wire do
    /// not apply any more.
    package static func storedAsDelivered(_ response: HTTPFields) -> HTTPFields {
        var kept = stored(response)
        kept.remove(.contentEncoding)
        kept.remove(.contentLength)
        return kept
    }

    /// Whether a request bypasses the cache: it asks for parts, or has its own preconditions, whose
    /// result is for the application (section 4.3.2).
    package static func bypasses(_ method: HTTPMethod, _ request: HTTPFields) -> Bool {
        guard method == .get || method == .head else { return true }
        return [.range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .ifRange]
            .contains { request.contains($0) }
    }

    /// The URLs whose stored responses are invalidated by a response to an unsafe request (section
    /// 4.4): the target, and those of the same origin in Location and Content-Location.
    package static func invalidated(
        by method: HTTPMethod, url: String, status: HTTPStatus, response: HTTPFields
    ) -> [String] {
        guard !method.isSafe, 200..<400 ~= status.code else { return [] }
        let origin = Origin(URIReference(url))
        let named = [HTTPFieldName.location, .contentLocation].compactMap { name -> String? in
            guard let value = response[name], let reference = URIReference(field: value, base: url),
                let wire = try? WireURL(reference.text), wire.origin == origin
            else { return nil }
            return wire.text
        }
        return [url] + named
    }
}

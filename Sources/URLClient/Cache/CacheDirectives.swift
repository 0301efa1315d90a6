package import HTTPParser

/// Cache-Control of a request or a response (RFC 9111 section 5.2, RFC 5861), as a private cache
/// reads it: directives for shared caches only are left out.
package struct CacheDirectives: Sendable, Hashable {
    /// In seconds; the least of several values, and zero for a malformed one.
    package var maxAge: Int64?
    package var noStore = false
    /// Also for `no-cache` with field names, which a cache may treat as one without (section
    /// 5.2.2.4).
    package var noCache = false
    package var isPublic = false
    package var isPrivate = false
    package var mustRevalidate = false
    package var mustUnderstand = false
    package var isImmutable = false
    package var staleWhileRevalidate: Int64?
    package var staleIfError: Int64?
    /// Of requests, in seconds; the greatest number for `max-stale` without a value.
    package var maxStale: Int64?
    package var minFresh: Int64?
    package var onlyIfCached = false

    package init() {}

    /// Parses all lines of the field. Without Cache-Control, `Pragma: no-cache` of a request means
    /// the same as the directive (section 5.4).
    package init(_ fields: HTTPFields) {
        for value in fields.values(of: .cacheControl) {
            guard let elements = FieldValues.list(value) else {
                // A malformed line may have held any directive: nothing is stored, and nothing
                // stored counts as fresh.
                (maxAge, noStore, noCache) = (0, true, true)
                continue
            }
            for element in elements { take(element) }
        }
        if !fields.contains(.cacheControl), let pragma = fields[.pragma] {
            noCache =
                FieldValues.list(pragma)?.contains {
                    $0.utf8.count == 8 && $0.lowercased() == "no-cache"
                } ?? false
        }
    }

    private mutating func take(_ element: String) {
        let parts = element.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1).map {
            String(Substring($0))
        }
        // No known directive has a longer name.
        guard let first = parts.first, first.utf8.count <= 32 else { return }
        let name = first.lowercased()
        let argument = parts.count > 1 ? FieldValues.unquoted(parts[1]) ?? parts[1] : nil
        switch name {
        case "max-age": maxAge = min(maxAge ?? .max, Self.seconds(argument) ?? 0)
        case "no-store": noStore = true
        case "no-cache": noCache = true
        case "public": isPublic = true
        case "private": isPrivate = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "immutable": isImmutable = true
        case "stale-while-revalidate": staleWhileRevalidate = Self.seconds(argument)
        case "stale-if-error": staleIfError = Self.seconds(argument)
        case "max-stale": maxStale = argument == nil ? .max : Self.seconds(argument)
        case "min-fresh": minFresh = Self.seconds(argument)
        case "only-if-cached": onlyIfCached = true
        default: break
        }
    }

    /// delta-seconds (section 1.2.2). Larger numbers than 2^31 count as 2^31, or 68 years.
    static func seconds(_ text: String?) -> Int64? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy(ByteClass.isDigit) else { return nil }
        return min(FieldValues.parseDecimal(text) ?? .max, 1 << 31)
    }
}

internal import HTTPParser

/// Decides which fields of a request are sent to the target of a redirect (RFC 9110 section 15.4).
enum RedirectFields {
    /// Removes the fields that describe content.
    static func dropContent(_ fields: inout HTTPFields) {
        for name in ofContent { fields.remove(name) }
    }

    /// Removes the fields that another origin does not get.
    static func leave(
        _ old: Origin, for new: Origin, _ fields: inout HTTPFields, _ policy: RedirectPolicy
    ) {
        for name in credentials + policy.sensitiveFields { fields.remove(name) }
        if old.isSecure, !new.isSecure { fields.remove(.referer) }
        guard policy.crossOriginFields == .wellKnown, !new.isUpgrade(of: old) else { return }
        var kept = HTTPFields()
        for field in fields where wellKnown.contains(field.name) { kept.append(field) }
        fields = kept
    }

    /// Secrets, and fields that are valid for one origin only.
    private static let credentials: [HTTPFieldName] = [
        .authorization, .cookie, "Cookie2", .proxyAuthorization, .host, .origin,
    ]

    private static let ofContent: [HTTPFieldName] = [
        .contentEncoding, .contentLanguage, .contentLength, .contentLocation, .contentRange,
        .contentType, "Content-Digest", "Content-MD5", .contentDisposition, "Digest", "Repr-Digest",
        .expect, .trailer, .transferEncoding,
    ]

    private static let wellKnown: Set<HTTPFieldName> = [
        .accept, .acceptCharset, .acceptEncoding, .acceptLanguage, .cacheControl, .contentEncoding,
        .contentLanguage, .contentLength, .contentLocation, .contentRange, .contentType,
        "Content-Digest", "Content-MD5", .contentDisposition, "Digest", "Repr-Digest", .date, "DNT",
        .expect, .ifMatch, .ifModifiedSince, .ifNoneMatch, .ifRange, .ifUnmodifiedSince,
        .maxForwards, .pragma, "Prefer", "Priority", .range, .referer, "Save-Data", .te, .trailer,
        .transferEncoding, "Upgrade-Insecure-Requests", .userAgent, "Want-Content-Digest",
        "Want-Repr-Digest",
    ]
}

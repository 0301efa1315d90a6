public import HTTPCodecs
public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// The conditions, ranges and accepted codings of a request, as parsed fields. Most programs do not
/// need them: `Response.file`, `Response.conditional(for:)` and the handlers of files and content
/// evaluate these fields.
extension Request {
    /// If-Modified-Since, in any of the three date formats of HTTP; `nil` if it is missing or
    /// malformed (RFC 9110 section 13.1.3).
    public var ifModifiedSince: HTTPDate? { date(.ifModifiedSince) }

    /// If-Unmodified-Since; `nil` if it is missing or malformed (RFC 9110 section 13.1.4).
    public var ifUnmodifiedSince: HTTPDate? { date(.ifUnmodifiedSince) }

    /// If-None-Match, all its lines; `nil` if it is missing or malformed (RFC 9110 section 13.1.2).
    public var ifNoneMatch: EntityTagCondition? {
        fields.list(.ifNoneMatch).flatMap { EntityTagCondition($0) }
    }

    /// If-Match, all its lines; `nil` if it is missing or malformed (RFC 9110 section 13.1.1).
    public var ifMatch: EntityTagCondition? {
        fields.list(.ifMatch).flatMap { EntityTagCondition($0) }
    }

    /// If-Range; `nil` if it is missing, or neither a tag nor a date (RFC 9110 section 13.1.5).
    public var ifRange: RangeCondition? {
        guard let field = fields[.ifRange] else { return nil }
        if let tag = EntityTag(field) { return .tag(tag) }
        return date(.ifRange).map { .date($0) }
    }

    /// The byte ranges of Range, in their order; `nil` if the field is missing or must be ignored:
    /// a malformed field, one with another unit, or one with more than 200 ranges (RFC 9110 section
    /// 14.2).
    public var ranges: [RangeSpec]? { fields[.range].flatMap { RangeSpec.ranges(in: $0) } }

    /// The preferences of Accept-Encoding, with their weights; `.absent` if the field is missing or
    /// malformed (RFC 9110 section 12.5.3).
    public var acceptedCodings: ContentCodingPreference { AcceptedCoding.preference(of: self) }

    /// The preferences of Accept, with their weights; `nil` if the field is missing or malformed,
    /// so that any type is accepted (RFC 9110 section 12.5.1).
    public var acceptedMediaTypes: MediaTypePreference? {
        fields.list(.accept).flatMap { MediaTypePreference($0) }
    }

    private func date(_ name: HTTPFieldName) -> HTTPDate? {
        let now = HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
        return fields[name].flatMap { HTTPDate($0, now: now) }
    }

    /// Whether the request has Range or a condition other than If-Range.
    package var hasConditions: Bool {
        let table = unsafe storage.head.table
        // Most requests have none, and the lengths of field names rule them out. These are the
        // lengths of Range, If-Match, If-None-Match, If-Modified-Since and If-Unmodified-Since.
        let mayHaveAny = unsafe (0..<table.count).contains { place in
            switch unsafe table.name(place).count {
            case 5, 8, 13, 17, 19: true
            default: false
            }
        }
        guard mayHaveAny else { return false }
        return fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince)
            || fields.contains(.range) || fields.contains(.ifMatch)
            || fields.contains(.ifUnmodifiedSince)
    }

    /// Checks the conditions of a request that changes something. Call it before the change.
    ///
    /// For GET and HEAD, use `Response.conditional(for:)`, which also answers 304.
    /// - Parameters:
    ///   - entityTag: the current tag of the resource; `nil` if it has none.
    ///   - lastModified: the time of its last change; `nil` if it is unknown.
    ///   - exists: whether the resource exists; if not, tag and time are ignored.
    /// - Throws: `HTTPError` with 412 if a condition is not met (RFC 9110 section 13.2.2).
    public func requireConditions(
        entityTag: EntityTag?, lastModified: HTTPDate? = nil, exists: Bool = true
    ) throws(HTTPError) {
        guard let conditions = Preconditions(self) else { return }
        let isRead = knownMethod == .get || knownMethod == .head
        let state =
            exists
            ? CurrentState(entityTag: entityTag, lastModified: lastModified) : CurrentState.missing
        let now = HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
        let result = conditions.evaluate(method: isRead ? .head : .other, current: state, now: now)
        guard result != .preconditionFailed else { throw HTTPError(.preconditionFailed) }
    }
}

/// The validator of If-Range: the range is applied only if the validator matches.
///
/// RFC 9110, section 13.1.5.
public enum RangeCondition: Hashable, Sendable {
    /// A tag, which must be equal to the current one; a weak tag never matches.
    case tag(EntityTag)
    /// A date, which must be equal to the current Last-Modified.
    case date(HTTPDate)
}

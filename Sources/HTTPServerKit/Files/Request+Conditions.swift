public import HTTPCodecs
public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// The validators, ranges and codings of a request, read field by field. Responses with validators
/// need none of it: `Response.file`, `Response.conditional(for:)` and the handlers of files and
/// content evaluate these fields themselves.
extension Request {
    /// If-Modified-Since, in any of the three formats of HTTP; `nil` without one that is a date
    /// (RFC 9110 section 13.1.3).
    public var ifModifiedSince: HTTPDate? { date(.ifModifiedSince) }

    /// If-Unmodified-Since; `nil` without one that is a date (RFC 9110 section 13.1.4).
    public var ifUnmodifiedSince: HTTPDate? { date(.ifUnmodifiedSince) }

    /// If-None-Match, all its lines; `nil` without the field, or when it cannot be read (RFC 9110
    /// section 13.1.2).
    public var ifNoneMatch: EntityTagCondition? {
        fields.list(.ifNoneMatch).flatMap { EntityTagCondition($0) }
    }

    /// If-Match, all its lines; `nil` without the field, or when it cannot be read (RFC 9110
    /// section 13.1.1).
    public var ifMatch: EntityTagCondition? {
        fields.list(.ifMatch).flatMap { EntityTagCondition($0) }
    }

    /// If-Range; `nil` without one that is a tag or a date (RFC 9110 section 13.1.5).
    public var ifRange: RangeCondition? {
        guard let field = fields[.ifRange] else { return nil }
        if let tag = EntityTag(field) { return .tag(tag) }
        return date(.ifRange).map { .date($0) }
    }

    /// The byte ranges of Range, in its order; `nil` without the field, with another unit or more
    /// than 200 ranges, and if it is malformed: all of these are ignored (RFC 9110 section 14.2).
    public var ranges: [RangeSpec]? { fields[.range].flatMap { RangeSpec.ranges(in: $0) } }

    /// The preferences of Accept-Encoding, with their weights; `.absent` without the field, or when
    /// it is malformed (RFC 9110 section 12.5.3).
    public var acceptedCodings: ContentCodingPreference { AcceptedCoding.preference(of: self) }

    /// The preferences of Accept, with their weights; `nil` without the field, or when it is
    /// malformed, which accepts anything (RFC 9110 section 12.5.1).
    public var acceptedMediaTypes: MediaTypePreference? {
        fields.list(.accept).flatMap { MediaTypePreference($0) }
    }

    private func date(_ name: HTTPFieldName) -> HTTPDate? {
        let now = HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
        return fields[name].flatMap { HTTPDate($0, now: now) }
    }

    /// Whether there is any that `requireConditions` would look at.
    package var hasConditions: Bool {
        let table = unsafe storage.head.table
        // Most requests have none, and the lengths of their names show that: those of Range, If-Match,
        // If-None-Match, If-Modified-Since and If-Unmodified-Since.
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

    /// Checks the conditions of a request that is about to change something, before it does.
    ///
    /// Conditions of GET and HEAD that fail only save sending the content; for those there is
    /// `Response.conditional(for:)`.
    /// - Parameters:
    ///   - entityTag: the tag of what is there; `nil` when it has none.
    ///   - lastModified: when it was changed last; `nil` when that is not known.
    ///   - exists: whether there is something; what is not there has neither tag nor date.
    /// - Throws: `HTTPError` with 412 when a condition is not met (RFC 9110 section 13.2.2).
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

/// The validator of If-Range: the range counts only as long as it still matches.
///
/// RFC 9110, section 13.1.5.
public enum RangeCondition: Hashable, Sendable {
    /// The current tag; a weak one never agrees.
    case tag(EntityTag)
    /// The current date of the last change, exactly.
    case date(HTTPDate)
}

package import HTTPParser

/// The conditional fields of a request, as raw values; `nil` for an absent field.
///
/// Several lines of one field are joined with a comma. RFC 9110, section 13.
package struct Preconditions: Hashable, Sendable {
    /// The kinds of methods that conditions distinguish.
    package enum Method: Hashable, Sendable {
        case get
        case head
        /// Any method that changes something. Do not evaluate conditions for CONNECT, OPTIONS and
        /// TRACE, which have none.
        case other
    }

    package var ifMatch: String?
    package var ifNoneMatch: String?
    package var ifModifiedSince: String?
    package var ifUnmodifiedSince: String?
    package var ifRange: String?
    package var hasRange: Bool

    package init(
        ifMatch: String? = nil, ifNoneMatch: String? = nil, ifModifiedSince: String? = nil,
        ifUnmodifiedSince: String? = nil, ifRange: String? = nil, hasRange: Bool = false
    ) {
        self.ifMatch = ifMatch
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
        self.ifUnmodifiedSince = ifUnmodifiedSince
        self.ifRange = ifRange
        self.hasRange = hasRange
    }
}

/// The state of the resource when the conditions are evaluated.
package struct CurrentState: Hashable, Sendable {
    /// Whether the resource has a representation.
    package var exists: Bool
    package var entityTag: EntityTag?
    package var lastModified: HTTPDate?

    /// The state of a resource that exists.
    package init(entityTag: EntityTag?, lastModified: HTTPDate?) {
        exists = true
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    private init() {
        exists = false
    }

    /// The state of a resource that does not exist.
    package static let missing = CurrentState()
}

/// The result of a request's conditions.
package enum PreconditionResult: Hashable, Sendable {
    /// Perform the method; apply the `Range` field only if `rangeAllowed` is true.
    case proceed(rangeAllowed: Bool)
    /// Answer 304.
    case notModified
    /// Answer 412.
    case preconditionFailed
}

extension Preconditions {
    /// Evaluates the conditions in the order of RFC 9110, section 13.2.2.
    ///
    /// Call it only if the answer would be a success without conditions. Invalid dates are ignored.
    /// A malformed list of tags matches nothing: with If-Match the result is 412; with
    /// If-None-Match a read proceeds, and a change gets 412.
    ///
    /// - Parameters:
    ///   - method: the kind of the request's method.
    ///   - current: the state of the resource.
    ///   - now: the current time.
    package func evaluate(
        method: Method, current: CurrentState, now: HTTPDate
    ) -> PreconditionResult {
        if let ifMatch {
            guard isMatched(ifMatch, current) else { return .preconditionFailed }
        } else if let limit = date(ifUnmodifiedSince, now), let modified = current.lastModified {
            guard modified <= limit else { return .preconditionFailed }
        }
        let isRead = method != .other
        if let ifNoneMatch {
            guard isNoneMatched(ifNoneMatch, current, isRead: isRead) else {
                return isRead ? .notModified : .preconditionFailed
            }
        } else if isRead, let limit = date(ifModifiedSince, now),
            let modified = current.lastModified
        {
            guard modified > limit else { return .notModified }
        }
        return .proceed(rangeAllowed: isRangeAllowed(method, current, now))
    }

    private func date(_ field: String?, _ now: HTTPDate) -> HTTPDate? {
        field.flatMap { HTTPDate($0, now: now) }
    }

    /// Section 13.1.1.
    private func isMatched(_ field: String, _ current: CurrentState) -> Bool {
        switch EntityTagCondition(field) {
        case .any: current.exists
        case .tags(let tags): tags.contains { current.entityTag?.strongMatches($0) ?? false }
        case nil: false
        }
    }

    /// Section 13.1.2.
    private func isNoneMatched(_ field: String, _ current: CurrentState, isRead: Bool) -> Bool {
        switch EntityTagCondition(field) {
        case .any: !current.exists
        case .tags(let tags): !tags.contains { current.entityTag?.weakMatches($0) ?? false }
        // The list does not show which tags to protect, so a change is not safe.
        case nil: isRead
        }
    }

    /// Sections 13.1.5 and 14.2: only GET has ranges.
    private func isRangeAllowed(
        _ method: Method, _ current: CurrentState, _ now: HTTPDate
    ) -> Bool {
        guard method == .get, hasRange else { return false }
        guard let ifRange else { return true }
        if let tag = EntityTag(ifRange) {
            return current.entityTag?.strongMatches(tag) ?? false
        }
        // A date is a strong validator only after its second is over: until then the content may
        // change again without a new date (section 8.8.2.2).
        guard let date = date(ifRange, now), date == current.lastModified else { return false }
        return date < now
    }
}

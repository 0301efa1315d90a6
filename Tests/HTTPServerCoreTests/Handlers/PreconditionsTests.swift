import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("RFC 9110, 13: Conditional Requests")
struct PreconditionsTests {
    static let now = HTTPDate(secondsSinceEpoch: 784_111_777 + 3_600)
    static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
    static let exact = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let after = "Sun, 06 Nov 1994 08:49:38 GMT"
    static let current = CurrentState(
        entityTag: EntityTag(opaque: "a"), lastModified: HTTPDate(secondsSinceEpoch: 784_111_777))

    static func result(
        _ preconditions: Preconditions, _ method: Preconditions.Method = .get,
        _ current: CurrentState = current
    ) -> PreconditionResult {
        preconditions.evaluate(method: method, current: current, now: now)
    }

    static let proceed = PreconditionResult.proceed(rangeAllowed: false)

    @Test(
        "Without conditions every method proceeds",
        arguments: [Preconditions.Method.get, .head, .other])
    func none(method: Preconditions.Method) {
        #expect(Self.result(Preconditions(), method) == Self.proceed)
        #expect(Self.result(Preconditions(), method, .missing) == Self.proceed)
    }

    @Test(
        "13.1.1: With every method If-Match needs a strong match",
        arguments: [
            (#""a""#, true), (#""b", "a""#, true), ("*", true), (#""b""#, false),
            (#"W/"a""#, false), ("", false), ("a", false), (#""a", b"#, false),
        ])
    func ifMatch(field: String, isTrue: Bool) {
        for method in [Preconditions.Method.get, .head, .other] {
            let result = Self.result(Preconditions(ifMatch: field), method)
            #expect(result == (isTrue ? Self.proceed : .preconditionFailed))
        }
        #expect(
            Self.result(Preconditions(ifMatch: field), .other, .missing) == .preconditionFailed)
    }

    @Test("13.1.1: A weak or missing current tag satisfies only If-Match: *")
    func weakCurrent() {
        let weak = CurrentState(entityTag: EntityTag(#"W/"a""#), lastModified: nil)
        let none = CurrentState(entityTag: nil, lastModified: nil)
        #expect(
            Self.result(Preconditions(ifMatch: #"W/"a""#), .other, weak) == .preconditionFailed)
        #expect(Self.result(Preconditions(ifMatch: "*"), .other, weak) == Self.proceed)
        #expect(Self.result(Preconditions(ifMatch: "*"), .other, none) == Self.proceed)
        #expect(Self.result(Preconditions(ifMatch: #""a""#), .other, none) == .preconditionFailed)
    }

    @Test(
        "13.1.2: If-None-Match compares weakly: 304 for reads, 412 for the rest",
        arguments: [
            (#""a""#, true), (#"W/"a""#, true), (#""b" , "a""#, true), ("*", true),
            (#""b""#, false), ("", false),
        ])
    func ifNoneMatch(field: String, matches: Bool) {
        let preconditions = Preconditions(ifNoneMatch: field)
        #expect(Self.result(preconditions, .get) == (matches ? .notModified : Self.proceed))
        #expect(Self.result(preconditions, .head) == (matches ? .notModified : Self.proceed))
        #expect(
            Self.result(preconditions, .other) == (matches ? .preconditionFailed : Self.proceed))
        #expect(Self.result(preconditions, .other, .missing) == Self.proceed)
    }

    @Test("13.1.2: Malformed tags let a read pass and stop a change")
    func unreadableIfNoneMatch() {
        let preconditions = Preconditions(ifNoneMatch: "a")
        #expect(Self.result(preconditions, .get) == Self.proceed)
        #expect(Self.result(preconditions, .other) == .preconditionFailed)
    }

    @Test(
        "13.1.3: If-Modified-Since compares to the second, and only with GET and HEAD",
        arguments: [
            (before, false), (exact, true), (after, true),
            ("Sunday, 06-Nov-94 08:49:37 GMT", true), ("Sun Nov  6 08:49:37 1994", true),
            ("yesterday", false), ("", false), ("784111777", false),
        ])
    func ifModifiedSince(field: String, isUnmodified: Bool) {
        let preconditions = Preconditions(ifModifiedSince: field)
        #expect(Self.result(preconditions, .get) == (isUnmodified ? .notModified : Self.proceed))
        #expect(Self.result(preconditions, .head) == (isUnmodified ? .notModified : Self.proceed))
        #expect(Self.result(preconditions, .other) == Self.proceed)
        #expect(Self.result(preconditions, .get, .missing) == Self.proceed)
    }

    @Test(
        "13.1.4: With every method If-Unmodified-Since fails after a later change",
        arguments: [(before, false), (exact, true), (after, true), ("soon", true)])
    func ifUnmodifiedSince(field: String, passes: Bool) {
        let preconditions = Preconditions(ifUnmodifiedSince: field)
        let expected = passes ? Self.proceed : .preconditionFailed
        #expect(Self.result(preconditions, .get) == expected)
        #expect(Self.result(preconditions, .other) == expected)
        #expect(Self.result(preconditions, .other, .missing) == Self.proceed)
    }

    @Test(
        "13.2.2: If-Match overrides If-Unmodified-Since, If-None-Match overrides If-Modified-Since")
    func precedence() {
        let match = Preconditions(ifMatch: #""a""#, ifUnmodifiedSince: Self.before)
        #expect(Self.result(match) == Self.proceed)
        let noneMatch = Preconditions(ifNoneMatch: #""b""#, ifModifiedSince: Self.exact)
        #expect(Self.result(noneMatch) == Self.proceed)
        let unreadable = Preconditions(ifNoneMatch: "b", ifModifiedSince: Self.exact)
        #expect(Self.result(unreadable) == Self.proceed)
        let both = Preconditions(ifMatch: #""b""#, ifNoneMatch: #""a""#)
        #expect(Self.result(both) == .preconditionFailed)
        let matchThenNone = Preconditions(ifMatch: #""a""#, ifNoneMatch: #""a""#)
        #expect(Self.result(matchThenNone) == .notModified)
        let dateThenNone = Preconditions(ifNoneMatch: #""a""#, ifUnmodifiedSince: Self.before)
        #expect(Self.result(dateThenNone) == .preconditionFailed)
    }

    @Test(
        "13.1.5: If-Range needs a strong tag or the exact date",
        arguments: [
            (nil, true), (#""a""#, true), (#""b""#, false), (#"W/"a""#, false), ("*", false),
            (#""a", "b""#, false), ("a", false), ("", false),
            (before, false), (exact, true), (after, false), ("Sun Nov  6 08:49:37 1994", true),
        ] as [(String?, Bool)])
    func ifRange(field: String?, isAllowed: Bool) {
        let preconditions = Preconditions(ifRange: field, hasRange: true)
        #expect(Self.result(preconditions, .get) == .proceed(rangeAllowed: isAllowed))
        #expect(Self.result(preconditions, .head) == Self.proceed)
        #expect(Self.result(preconditions, .other) == Self.proceed)
    }

    @Test("13.1.5: If-Range without Range is ignored")
    func ifRangeAlone() {
        #expect(Self.result(Preconditions(ifRange: #""a""#)) == Self.proceed)
    }

    @Test("13.1.5: A weak current tag, no tag or no date never matches If-Range")
    func ifRangeWeak() {
        let weak = CurrentState(entityTag: EntityTag(#"W/"a""#), lastModified: nil)
        for field in [#"W/"a""#, #""a""#, Self.exact] {
            let preconditions = Preconditions(ifRange: field, hasRange: true)
            #expect(Self.result(preconditions, .get, weak) == Self.proceed)
        }
    }

    @Test(
        "8.8.2.2: A date is a strong validator only after its second has passed",
        arguments: [(-1, false), (0, false), (1, true)] as [(Int64, Bool)])
    func freshDate(seconds: Int64, isAllowed: Bool) {
        let now = HTTPDate(secondsSinceEpoch: 784_111_777 + seconds)
        let result = Preconditions(ifRange: Self.exact, hasRange: true)
            .evaluate(method: .get, current: Self.current, now: now)
        #expect(result == .proceed(rangeAllowed: isAllowed))
    }

    @Test("14.2: Ranges are evaluated after the other conditions")
    func rangeAfterConditions() {
        let matching = Preconditions(ifNoneMatch: #""a""#, ifRange: #""a""#, hasRange: true)
        #expect(Self.result(matching) == .notModified)
        let other = Preconditions(ifNoneMatch: #""b""#, ifRange: #""a""#, hasRange: true)
        #expect(Self.result(other) == .proceed(rangeAllowed: true))
    }
}

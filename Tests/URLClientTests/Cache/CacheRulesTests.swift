import HTTPParser
import Testing
import URLClient

/// 1994-11-06T08:49:37Z, the time at which the responses of these tests arrive.
private let now = HTTPDate(secondsSinceEpoch: 784_111_777)

private func head(
    _ fields: HTTPFields, status: HTTPStatus = .ok, delay: Int64 = 0
) -> CachedHead {
    CachedHead(
        url: "http://h.example/", status: status, fields: fields,
        requestTime: HTTPDate(secondsSinceEpoch: now.secondsSinceEpoch - delay), responseTime: now)
}

private func later(_ seconds: Int64) -> HTTPDate {
    HTTPDate(secondsSinceEpoch: now.secondsSinceEpoch + seconds)
}

@Suite("RFC 9111, 5.2: Directives")
struct CacheDirectivesTests {
    @Test(
        "max-age is a number of seconds; the least of several counts, and a malformed one is zero",
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=\"60\"", 60), ("x=\"a, max-age=5\", max-age=60", 60),
            ("max-age=60, max-age=10", 10), ("max-age=-1", 0), ("max-age=x", 0), ("max-age", 0),
            ("max-age=1.5", 0), ("max-age=99999999999999999999", 1 << 31), ("max-age=\"60", 0),
        ])
    func maxAge(_ value: String, _ seconds: Int64) {
        #expect(CacheDirectives([.cacheControl: value]).maxAge == seconds)
    }

    @Test("Lines are combined, names are case-insensitive, and unknown directives are ignored")
    func lines() {
        var fields: HTTPFields = [.cacheControl: "No-Cache=\"a, b\", foo=bar"]
        fields.append(.cacheControl, "PRIVATE, stale-if-error=5 , must-revalidate")
        let directives = CacheDirectives(fields)
        #expect(directives.noCache && directives.isPrivate && directives.mustRevalidate)
        #expect(directives.staleIfError == 5 && directives.maxAge == nil && !directives.noStore)
    }

    @Test("5.4: Pragma counts only without Cache-Control")
    func pragma() {
        #expect(CacheDirectives([.pragma: "x, No-Cache"]).noCache)
        #expect(!CacheDirectives([.pragma: "no-cache", .cacheControl: "max-age=1"]).noCache)
    }

    @Test("5.2.1.2: max-stale may have a number, and is ignored with an invalid one")
    func maxStale() {
        #expect(CacheDirectives([.cacheControl: "max-stale"]).maxStale == .max)
        #expect(CacheDirectives([.cacheControl: "max-stale=5"]).maxStale == 5)
        #expect(CacheDirectives([.cacheControl: "max-stale=x"]).maxStale == nil)
    }
}

@Suite("RFC 9111, 3: Storing")
struct CacheStoringTests {
    private func isStorable(
        _ response: HTTPFields, status: HTTPStatus = .ok, method: HTTPMethod = .get,
        request: HTTPFields = [:]
    ) -> Bool {
        CacheRules.isStorable(
            method: method, request: request, status: status, response: response)
    }

    @Test(
        "Heuristically cacheable statuses are stored by default, others only if a field allows it",
        arguments: [
            (200, true), (203, true), (204, true), (300, true), (301, true), (308, true),
            (404, true),
            (405, true), (410, true), (414, true), (501, true), (201, false), (302, false),
            (303, false), (307, false), (400, false), (403, false), (500, false), (503, false),
        ])
    func statuses(_ code: Int, _ isKept: Bool) throws {
        let status = try #require(HTTPStatus(code))
        #expect(isStorable([:], status: status) == isKept)
        for fields: HTTPFields in [
            [.cacheControl: "max-age=5"], [.cacheControl: "private"], [.cacheControl: "public"],
            [.expires: "Sun, 06 Nov 1994 08:50:37 GMT"],
        ] {
            #expect(isStorable(fields, status: status))
        }
    }

    @Test(
        "Interim, 206, 304 and unknown statuses, and partial content, are never stored",
        arguments: [100, 103, 206, 304, 600, 999])
    func never(_ code: Int) throws {
        let status = try #require(HTTPStatus(code))
        #expect(!isStorable([.cacheControl: "max-age=5"], status: status))
        #expect(!isStorable([.cacheControl: "max-age=5", .contentRange: "bytes 0-1/2"]))
    }

    @Test(
        "Only responses to GET are stored",
        arguments: [HTTPMethod.head, .post, .put, .delete, .options])
    func methods(_ method: HTTPMethod) {
        #expect(!isStorable([.cacheControl: "max-age=5"], method: method))
    }

    @Test(
        "no-store prevents storing, unless must-understand is present and the status is understood")
    func noStore() {
        #expect(!isStorable([.cacheControl: "max-age=5, no-store"]))
        // The field is malformed, so that it may contain any directive.
        #expect(!isStorable([.cacheControl: "no-store, x=\"a"]))
        #expect(!isStorable([.cacheControl: "max-age=5"], request: [.cacheControl: "no-store"]))
        #expect(isStorable([.cacheControl: "max-age=5, no-store, must-understand"]))
        #expect(
            !isStorable([.cacheControl: "max-age=5, must-understand"], status: .found))
    }

    @Test("A private cache stores private responses and responses to requests with credentials")
    func privacy() {
        #expect(isStorable([.cacheControl: "private, max-age=5"]))
        #expect(isStorable([.cacheControl: "max-age=5"], request: [.authorization: "Basic x"]))
    }

    @Test("4.1: a response with Vary: * or a malformed Vary is never stored")
    func vary() {
        #expect(!isStorable([.vary: "*"]) && !isStorable([.vary: "a, *"]))
        #expect(!isStorable([.vary: "a b"]) && isStorable([.vary: "Accept, X"]))
    }

    @Test("A response to a range request is not stored, even if it is complete")
    func ranges() {
        #expect(!isStorable([.cacheControl: "max-age=5"], request: [.range: "bytes=0-"]))
    }

    @Test("3.1: hop-by-hop fields are not stored")
    func perHop() {
        let fields: HTTPFields = [
            .connection: "close, X-Hop", "X-Hop": "1", .transferEncoding: "chunked", "X": "1",
            .proxyAuthenticate: "Basic", .keepAlive: "x", .eTag: "\"a\"",
        ]
        #expect(CacheRules.stored(fields).map(\.name.text) == ["X", "ETag"])
    }

    @Test(
        "4.4: an unsafe request invalidates its URL unless the response is an error",
        arguments: [
            (HTTPMethod.post, 200, 1), (.put, 204, 1), (.delete, 302, 1), (.patch, 404, 0),
            (.post, 500, 0), (.get, 200, 0), (.options, 200, 0), (.propfind, 207, 0),
        ])
    func invalidation(_ method: HTTPMethod, _ code: Int, _ count: Int) throws {
        let status = try #require(HTTPStatus(code))
        let urls = CacheRules.invalidated(
            by: method, url: "http://h.example/a", status: status, response: [:])
        #expect(urls.count == count)
    }

    @Test("4.4: Location and Content-Location are invalidated on the same origin only")
    func invalidatedLocations() {
        let urls = CacheRules.invalidated(
            by: .post, url: "http://h.example/a/b", status: .created,
            response: [.location: "c#f", .contentLocation: "http://other.example/d"])
        #expect(urls == ["http://h.example/a/b", "http://h.example/a/c"])
    }

    @Test("4.1: the variant depends on the fields that Vary names, and on the credentials")
    func variants() {
        func variant(_ request: HTTPFields) -> String {
            CacheRules.variant(of: request, names: ["accept", "x"])
        }
        var two: HTTPFields = [.accept: "a"]
        two.append(.accept, "b")
        #expect(variant([:]).isEmpty && variant([.userAgent: "u"]).isEmpty)
        #expect(
            variant(two) == variant(["ACCEPT": "a,b"]) && variant(two) != variant([.accept: "a"]))
        #expect(variant(["X": ""]) != variant([:]))
        #expect(variant([.authorization: "a"]) != variant([.authorization: "b"]))
        #expect(!variant([.authorization: "secret"]).contains("secret"))
    }
}

@Suite("RFC 9111, 4.2: Age and freshness")
struct CacheFreshnessTests {
    @Test(
        "4.2.1: the lifetime comes from max-age, else from Expires",
        arguments: [
            ([.cacheControl: "max-age=60"], 60), ([.cacheControl: "max-age=0"], 0), ([:], 0),
            ([.cacheControl: "max-age=60", .expires: "Sun, 06 Nov 1994 08:49:38 GMT"], 60),
            (
                [
                    .date: "Sun, 06 Nov 1994 08:49:37 GMT",
                    .expires: "Sun, 06 Nov 1994 08:50:37 GMT",
                ], 60
            ),
            ([.expires: "Sun, 06 Nov 1994 08:50:37 GMT"], 60),
            ([.expires: "Sunday, 06-Nov-94 08:50:37 GMT"], 60),
            ([.expires: "Sun, 06 Nov 1994 08:49:36 GMT"], 0), ([.expires: "0"], 0),
            ([.expires: "-1"], 0), ([.expires: "soon"], 0),
            ([.cacheControl: "s-maxage=60"], 0),
        ] as [(HTTPFields, Int64)])
    func lifetime(_ fields: HTTPFields, _ seconds: Int64) {
        #expect(head(fields).lifetime == seconds)
    }

    @Test("4.2.2: some statuses are fresh for a tenth of the time since the change, at most a day")
    func heuristic() {
        let hour: HTTPFields = [.lastModified: "Sun, 06 Nov 1994 07:49:37 GMT"]
        #expect(head(hour).lifetime == 360)
        #expect(head([.lastModified: "Mon, 06 Nov 1950 07:49:37 GMT"]).lifetime == 86_400)
        #expect(head([.lastModified: "Sun, 06 Nov 1994 09:49:37 GMT"]).lifetime == 0)
        #expect(head(hour, status: .found).lifetime == 0)
    }

    @Test("4.2.3: the age is computed from Date, Age, the response delay and the time since then")
    func age() {
        #expect(head([:]).age(at: now) == 0)
        #expect(head([:]).age(at: later(10)) == 10)
        #expect(head([.age: "30"]).age(at: later(10)) == 40)
        #expect(head([.age: "30"], delay: 5).age(at: later(10)) == 45)
        #expect(head([.date: "Sun, 06 Nov 1994 08:48:37 GMT"]).age(at: now) == 60)
        #expect(head([.date: "Sun, 06 Nov 1994 08:48:37 GMT", .age: "90"]).age(at: now) == 90)
        #expect(head([.date: "Sun, 06 Nov 1994 08:50:37 GMT"]).age(at: now) == 0)
        #expect(head([.age: "x"]).age(at: now) == 0)
        // Section 5.1: the first member of a list counts.
        #expect(head([.age: "30, 0"]).age(at: later(10)) == 40)
        // A clock that was set back a little does not make the response younger than at its
        // arrival.
        #expect(head([.age: "30"]).age(at: later(-50)) == 30)
    }

    @Test("A response is stale while the clock is more than a minute before its arrival")
    func clockAhead() {
        let stored = head([.cacheControl: "max-age=60"])
        #expect(stored.staleness(at: later(-50)) < 0)
        #expect(stored.staleness(at: later(-86_400)) > 0)
        #expect(head([.cacheControl: "max-age=2147483648"]).staleness(at: later(-100)) >= 0)
    }
}

@Suite("RFC 9111, 4: Responses from the cache")
struct CacheVerdictTests {
    private func verdict(
        _ stored: HTTPFields?, after seconds: Int64 = 0, request: HTTPFields = [:],
        method: HTTPMethod = .get, policy: CachePolicy = .useProtocolCachePolicy
    ) -> CacheVerdict {
        CacheVerdict(
            policy: policy, method: method, request: request, stored: stored.map { head($0) },
            now: later(seconds))
    }

    private let minute: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]

    @Test("A fresh response is served; a stale one is validated, or fetched without a validator")
    func fresh() {
        #expect(verdict(nil) == .fetch(stores: true))
        #expect(verdict(minute, after: 59) == .serve(revalidates: false))
        #expect(verdict(minute, after: 60) == .validate)
        #expect(verdict([.cacheControl: "max-age=60"], after: 60) == .fetch(stores: true))
        #expect(verdict(minute, after: 59, method: .head) == .serve(revalidates: false))
    }

    @Test("5.2.2.4: a response with no-cache is validated each time")
    func noCache() {
        #expect(verdict([.cacheControl: "max-age=60, no-cache", .eTag: "\"a\""]) == .validate)
        #expect(
            verdict([.cacheControl: "max-age=60, no-cache=\"x\"", .eTag: "\"a\""]) == .validate)
    }

    @Test(
        "5.2.1: request directives decide whether a stored response is served",
        arguments: [
            ("no-cache", 0, CacheVerdict.validate), ("max-age=0", 1, .validate),
            ("max-age=30", 30, .serve(revalidates: false)), ("max-age=30", 31, .validate),
            ("min-fresh=30", 30, .serve(revalidates: false)), ("min-fresh=30", 31, .validate),
            ("max-stale", 600, .serve(revalidates: false)),
            ("max-stale=10", 70, .serve(revalidates: false)), ("max-stale=10", 71, .validate),
            ("only-if-cached", 30, .serve(revalidates: false)),
            ("only-if-cached", 90, .gatewayTimeout), ("max-age=x", 1, .validate),
        ])
    func requests(_ directive: String, _ seconds: Int64, _ wanted: CacheVerdict) {
        #expect(
            verdict(minute, after: seconds, request: [.cacheControl: directive]) == wanted)
    }

    @Test("With nothing stored, only-if-cached is 504, and no-store and HEAD are not stored")
    func nothing() {
        #expect(verdict(nil, request: [.cacheControl: "only-if-cached"]) == .gatewayTimeout)
        #expect(verdict(nil, request: [.cacheControl: "no-store"]) == .fetch(stores: false))
        #expect(verdict(nil, method: .head) == .fetch(stores: false))
    }

    @Test("5.2.2.2: a stale response with must-revalidate is never served")
    func mustRevalidate() {
        let fields: HTTPFields = [
            .cacheControl:
                "max-age=60, must-revalidate, stale-while-revalidate=60, stale-if-error=60",
            .eTag: "\"a\"",
        ]
        #expect(verdict(fields, after: 61, request: [.cacheControl: "max-stale"]) == .validate)
        #expect(
            !CacheVerdict.servesOnError(request: [:], stored: head(fields), now: later(61)))
    }

    @Test("RFC 5861, 3: stale-while-revalidate serves a stale response and revalidates it")
    func staleWhileRevalidate() {
        let fields: HTTPFields = [
            .cacheControl: "max-age=60, stale-while-revalidate=30", .eTag: "\"a\"",
        ]
        #expect(verdict(fields, after: 59) == .serve(revalidates: false))
        #expect(verdict(fields, after: 60) == .serve(revalidates: true))
        #expect(verdict(fields, after: 90) == .serve(revalidates: true))
        #expect(verdict(fields, after: 91) == .validate)
        #expect(verdict(fields, after: 61, request: [.cacheControl: "max-age=600"]) == .validate)
    }

    @Test("RFC 5861, 4: stale-if-error in request or response allows a stale response on errors")
    func staleIfError() {
        let fields: HTTPFields = [.cacheControl: "max-age=60, stale-if-error=30"]
        func serves(_ fields: HTTPFields, _ request: HTTPFields, _ seconds: Int64) -> Bool {
            CacheVerdict.servesOnError(request: request, stored: head(fields), now: later(seconds))
        }
        #expect(serves(fields, [:], 90) && !serves(fields, [:], 91))
        #expect(serves(minute, [.cacheControl: "stale-if-error=30"], 90))
        #expect(!serves(minute, [:], 61))
        for code in [500, 502, 503, 504] {
            #expect(HTTPStatus(code).map(CacheVerdict.isServerFailure) == true)
        }
        #expect(!CacheVerdict.isServerFailure(.notFound))
        #expect(!CacheVerdict.isServerFailure(.notImplemented))
    }

    @Test(
        "Range requests, conditional requests and POST bypass the cache",
        arguments: [
            HTTPFieldName.range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
            .ifRange,
        ])
    func bypass(_ name: HTTPFieldName) {
        #expect(verdict(minute, request: [name: "x"]) == .fetch(stores: false))
        #expect(verdict(minute, method: .post) == .fetch(stores: false))
    }

    @Test("The cache policies of NSURLRequest decide between the cache and the server")
    func policies() {
        func both(_ policy: CachePolicy) -> [CacheVerdict] {
            [
                verdict(nil, policy: policy), verdict(minute, after: 5, policy: policy),
                verdict(minute, after: 500, policy: policy),
            ]
        }
        let fetch = CacheVerdict.fetch(stores: true)
        let serve = CacheVerdict.serve(revalidates: false)
        #expect(both(.useProtocolCachePolicy) == [fetch, serve, .validate])
        #expect(both(.reloadIgnoringLocalCacheData) == [fetch, fetch, fetch])
        #expect(both(.reloadIgnoringLocalAndRemoteCacheData) == [fetch, fetch, fetch])
        #expect(both(.returnCacheDataElseLoad) == [fetch, serve, serve])
        #expect(both(.returnCacheDataDontLoad) == [.notCached, serve, serve])
        #expect(both(.reloadRevalidatingCacheData) == [fetch, .validate, .validate])
        #expect(
            verdict(minute, request: [.range: "x"], policy: .returnCacheDataDontLoad) == .notCached)
    }
}

@Suite("RFC 9111, 4.3: Validation")
struct CacheValidationTests {
    @Test("4.3.1: a validation request has If-None-Match and If-Modified-Since")
    func validators() {
        var fields = HTTPFields()
        let date = "Sun, 06 Nov 1994 08:00:00 GMT"
        head([.eTag: "W/\"a\"", .lastModified: date]).addValidators(to: &fields)
        #expect(fields == [.ifNoneMatch: "W/\"a\"", .ifModifiedSince: date])
        #expect(!head([:]).hasValidator && head([.lastModified: date]).hasValidator)
    }

    @Test(
        "4.3.4: a 304 confirms the stored response unless its ETag differs",
        arguments: [
            ("\"a\"", nil, true), ("\"a\"", "\"a\"", true), ("\"a\"", "W/\"a\"", true),
            ("W/\"a\"", "W/\"a\"", true), ("\"a\"", "\"b\"", false), ("W/\"a\"", "\"a\"", false),
            ("x", "x", true), ("x", "y", false),
        ] as [(String, String?, Bool)])
    func confirmation(_ old: String, _ new: String?, _ isTheSame: Bool) {
        let fields: HTTPFields = new.map { [.eTag: $0] } ?? [:]
        #expect(head([.eTag: old]).isConfirmed(by: fields) == isTheSame)
    }

    @Test("3.2: the fields of a 304 replace stored fields, except those of the content")
    func freshening() {
        let old = head([
            .date: "Sun, 06 Nov 1994 08:49:37 GMT", .cacheControl: "max-age=60", "X": "1",
            .age: "50",
            .contentLength: "5", .contentType: "a/b", "Y": "1",
        ])
        let new = old.freshened(
            by: [
                .date: "Sun, 06 Nov 1994 08:59:37 GMT", .cacheControl: "max-age=30", "X": "2",
                .contentLength: "0", .contentType: "c/d", .connection: "close",
            ], requestTime: later(599), responseTime: later(600))
        #expect(new.fields[.cacheControl] == "max-age=30" && new.fields.values(of: "X") == ["2"])
        #expect(new.fields[.contentLength] == "5" && new.fields[.contentType] == "a/b")
        #expect(new.fields["Y"] == "1" && new.fields[.connection] == nil)
        #expect(new.age(at: later(600)) == 1 && old.staleness(at: later(600)) > 0)
        #expect(new.staleness(at: later(600)) < 0)
    }
}

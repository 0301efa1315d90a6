import HTTPParser
import Testing
import URLClient

/// 1994-11-06T08:49:37Z, at which the responses of these tests come.
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
        "max-age: digits, the least of several, zero where it is malformed",
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=\"60\"", 60), ("x=\"a, max-age=5\", max-age=60", 60),
            ("max-age=60, max-age=10", 10), ("max-age=-1", 0), ("max-age=x", 0), ("max-age", 0),
            ("max-age=1.5", 0), ("max-age=99999999999999999999", 1 << 31), ("max-age=\"60", 0),
        ])
    func maxAge(_ value: String, _ seconds: Int64) {
        #expect(CacheDirectives([.cacheControl: value]).maxAge == seconds)
    }

    @Test("Several lines are one; names in any case; what is not known does not matter")
    func lines() {
        var fields: HTTPFields = [.cacheControl: "No-Cache=\"a, b\", foo=bar"]
        fields.append(.cacheControl, "PRIVATE, stale-if-error=5 , must-revalidate")
        let directives = CacheDirectives(fields)
        #expect(directives.noCache && directives.isPrivate && directives.mustRevalidate)
        #expect(directives.staleIfError == 5 && directives.maxAge == nil && !directives.noStore)
    }

    @Test("5.4: Pragma counts where there is no Cache-Control")
    func pragma() {
        #expect(CacheDirectives([.pragma: "x, No-Cache"]).noCache)
        #expect(!CacheDirectives([.pragma: "no-cache", .cacheControl: "max-age=1"]).noCache)
    }

    @Test("5.2.1.2: max-stale with and without a number")
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
        "Statuses that may be kept though nothing says for how long, others only when it does",
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
        "Never: interim, 206, 304, odd statuses, parts", arguments: [100, 103, 206, 304, 600, 999])
    func never(_ code: Int) throws {
        let status = try #require(HTTPStatus(code))
        #expect(!isStorable([.cacheControl: "max-age=5"], status: status))
        #expect(!isStorable([.cacheControl: "max-age=5", .contentRange: "bytes 0-1/2"]))
    }

    @Test("GET alone", arguments: [HTTPMethod.head, .post, .put, .delete, .options])
    func methods(_ method: HTTPMethod) {
        #expect(!isStorable([.cacheControl: "max-age=5"], method: method))
    }

    @Test("no-store on either side; must-understand overrides it for statuses that are understood")
    func noStore() {
        #expect(!isStorable([.cacheControl: "max-age=5, no-store"]))
        // It cannot be read, so that it may say anything.
        #expect(!isStorable([.cacheControl: "no-store, x=\"a"]))
        #expect(!isStorable([.cacheControl: "max-age=5"], request: [.cacheControl: "no-store"]))
        #expect(isStorable([.cacheControl: "max-age=5, no-store, must-understand"]))
        #expect(
            !isStorable([.cacheControl: "max-age=5, must-understand"], status: .found))
    }

    @Test("A private cache keeps what is private, and what was asked with credentials")
    func privacy() {
        #expect(isStorable([.cacheControl: "private, max-age=5"]))
        #expect(isStorable([.cacheControl: "max-age=5"], request: [.authorization: "Basic x"]))
    }

    @Test("4.1: Vary: * is never kept, nor what cannot be read")
    func vary() {
        #expect(!isStorable([.vary: "*"]) && !isStorable([.vary: "a, *"]))
        #expect(!isStorable([.vary: "a b"]) && isStorable([.vary: "Accept, X"]))
    }

    @Test("A request for parts is not kept, even if the answer is the whole")
    func ranges() {
        #expect(!isStorable([.cacheControl: "max-age=5"], request: [.range: "bytes=0-"]))
    }

    @Test("3.1: fields of the connection are not kept")
    func perHop() {
        let fields: HTTPFields = [
            .connection: "close, X-Hop", "X-Hop": "1", .transferEncoding: "chunked", "X": "1",
            .proxyAuthenticate: "Basic", .keepAlive: "x", .eTag: "\"a\"",
        ]
        #expect(CacheRules.stored(fields).map(\.name.text) == ["X", "ETag"])
    }

    @Test(
        "4.4: what unsafe requests make doubtful",
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

    @Test("4.4: Location and Content-Location, on the same origin alone")
    func invalidatedLocations() {
        let urls = CacheRules.invalidated(
            by: .post, url: "http://h.example/a/b", status: .created,
            response: [.location: "c#f", .contentLocation: "http://other.example/d"])
        #expect(urls == ["http://h.example/a/b", "http://h.example/a/c"])
    }

    @Test("4.1: requests with the same fields have the same variant, and credentials their own")
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
        "4.2.1: how long it is fresh",
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

    @Test("4.2.2: a tenth of the time since the change, a day at most, and not for every status")
    func heuristic() {
        let hour: HTTPFields = [.lastModified: "Sun, 06 Nov 1994 07:49:37 GMT"]
        #expect(head(hour).lifetime == 360)
        #expect(head([.lastModified: "Mon, 06 Nov 1950 07:49:37 GMT"]).lifetime == 86_400)
        #expect(head([.lastModified: "Sun, 06 Nov 1994 09:49:37 GMT"]).lifetime == 0)
        #expect(head(hour, status: .found).lifetime == 0)
    }

    @Test("4.2.3: the age counts Date, Age, the way and the time since")
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
        // A clock that was set back a little does not make it younger than it came.
        #expect(head([.age: "30"]).age(at: later(-50)) == 30)
    }

    @Test("A response that came while the clock was ahead is not fresh until the clock gets there")
    func clockAhead() {
        let stored = head([.cacheControl: "max-age=60"])
        #expect(stored.staleness(at: later(-50)) < 0)
        #expect(stored.staleness(at: later(-86_400)) > 0)
        #expect(head([.cacheControl: "max-age=2147483648"]).staleness(at: later(-100)) >= 0)
    }
}

@Suite("RFC 9111, 4: Answering")
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

    @Test("Fresh answers, stale is asked for, without a validator anew")
    func fresh() {
        #expect(verdict(nil) == .fetch(stores: true))
        #expect(verdict(minute, after: 59) == .serve(revalidates: false))
        #expect(verdict(minute, after: 60) == .validate)
        #expect(verdict([.cacheControl: "max-age=60"], after: 60) == .fetch(stores: true))
        #expect(verdict(minute, after: 59, method: .head) == .serve(revalidates: false))
    }

    @Test("5.2.2.4: no-cache is asked for each time")
    func noCache() {
        #expect(verdict([.cacheControl: "max-age=60, no-cache", .eTag: "\"a\""]) == .validate)
        #expect(
            verdict([.cacheControl: "max-age=60, no-cache=\"x\"", .eTag: "\"a\""]) == .validate)
    }

    @Test(
        "5.2.1: what requests may ask for",
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

    @Test("Nothing stored: only-if-cached is 504, no-store is not kept")
    func nothing() {
        #expect(verdict(nil, request: [.cacheControl: "only-if-cached"]) == .gatewayTimeout)
        #expect(verdict(nil, request: [.cacheControl: "no-store"]) == .fetch(stores: false))
        #expect(verdict(nil, method: .head) == .fetch(stores: false))
    }

    @Test("5.2.2.2: must-revalidate never answers stale")
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

    @Test("RFC 5861, 3: stale-while-revalidate")
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

    @Test("RFC 5861, 4: stale-if-error, of either side")
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
        "Requests for parts and with preconditions of their own pass by",
        arguments: [
            HTTPFieldName.range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
            .ifRange,
        ])
    func bypass(_ name: HTTPFieldName) {
        #expect(verdict(minute, request: [name: "x"]) == .fetch(stores: false))
        #expect(verdict(minute, method: .post) == .fetch(stores: false))
    }

    @Test("The policies of NSURLRequest")
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
    @Test("4.3.1: with which fields the server is asked")
    func validators() {
        var fields = HTTPFields()
        let date = "Sun, 06 Nov 1994 08:00:00 GMT"
        head([.eTag: "W/\"a\"", .lastModified: date]).addValidators(to: &fields)
        #expect(fields == [.ifNoneMatch: "W/\"a\"", .ifModifiedSince: date])
        #expect(!head([:]).hasValidator && head([.lastModified: date]).hasValidator)
    }

    @Test(
        "4.3.4: of which response a 304 speaks",
        arguments: [
            ("\"a\"", nil, true), ("\"a\"", "\"a\"", true), ("\"a\"", "W/\"a\"", true),
            ("W/\"a\"", "W/\"a\"", true), ("\"a\"", "\"b\"", false), ("W/\"a\"", "\"a\"", false),
            ("x", "x", true), ("x", "y", false),
        ] as [(String, String?, Bool)])
    func confirmation(_ old: String, _ new: String?, _ isTheSame: Bool) {
        let fields: HTTPFields = new.map { [.eTag: $0] } ?? [:]
        #expect(head([.eTag: old]).isConfirmed(by: fields) == isTheSame)
    }

    @Test("3.2: new fields take the place of old ones, but for those of the content")
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

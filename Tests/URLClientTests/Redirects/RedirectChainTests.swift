import HTTPParser
import Testing
import URLClient

@Suite("RFC 9110, 15.4: Redirects")
struct RedirectChainTests {
    private struct Transaction {
        var method = HTTPMethod.get
        var url = "https://a.example/x/y?q"
        var fields = HTTPFields()
        var isOneShot = false
        var status = 302
        var locations = ["/z"]
        var policy = RedirectPolicy()

        func verdict() throws -> RedirectVerdict {
            var chain = RedirectChain(policy: policy)
            return try verdict(&chain)
        }

        func verdict(_ chain: inout RedirectChain) throws -> RedirectVerdict {
            chain.verdict(
                method: method, url: url, fields: fields, hasOneShotBody: isOneShot,
                status: try #require(HTTPStatus(status)), locations: locations)
        }

        func followed() throws -> Redirect {
            let verdict = try verdict()
            guard case .follow(let redirect) = verdict else {
                struct NotFollowed: Error { let verdict: RedirectVerdict }
                throw NotFollowed(verdict: verdict)
            }
            return redirect
        }

        func refusal() throws -> RedirectFault.Kind? {
            if case .refuse(let fault) = try verdict() { fault.kind } else { nil }
        }

        func isDelivered() throws -> Bool {
            if case .deliver = try verdict() { true } else { false }
        }
    }

    private static let methods: [HTTPMethod] = [
        .get, .head, .post, .put, .delete, .patch, .options,
    ]

    @Test("301 and 302 change POST to GET, and keep other methods", arguments: [301, 302], methods)
    func found(_ status: Int, _ method: HTTPMethod) throws {
        let next = try Transaction(method: method, status: status).followed()
        #expect(next.method == (method == .post ? .get : method))
        #expect(next.keepsBody == (method != .post))
        #expect(next.target == "https://a.example/z")
    }

    @Test("303 changes all methods except HEAD to GET, without content", arguments: methods)
    func seeOther(_ method: HTTPMethod) throws {
        let next = try Transaction(method: method, status: 303).followed()
        #expect(next.method == (method == .head ? .head : .get) && !next.keepsBody)
    }

    @Test("305 to 308 keep method and content", arguments: [305, 306, 307, 308], methods)
    func kept(_ status: Int, _ method: HTTPMethod) throws {
        let next = try Transaction(method: method, status: status).followed()
        #expect(next.method == method && next.keepsBody)
    }

    @Test(
        "300, 304 and statuses other than redirects are delivered, despite a Location",
        arguments: [200, 201, 300, 304, 309, 399, 404], methods)
    func delivered(_ status: Int, _ method: HTTPMethod) throws {
        #expect(try Transaction(method: method, status: status).isDelivered())
    }

    @Test("A redirect without Location, or with an empty one, is delivered")
    func noLocation() throws {
        #expect(try Transaction(locations: []).isDelivered())
        #expect(try Transaction(locations: [""]).isDelivered())
    }

    @Test("Redirects can be switched off")
    func off() throws {
        var policy = RedirectPolicy()
        policy.isEnabled = false
        #expect(try Transaction(policy: policy).isDelivered())
    }

    @Test("A redirect that requires one-shot content again is delivered")
    func oneShot() throws {
        for status in [307, 308, 305] {
            #expect(try Transaction(method: .post, isOneShot: true, status: status).isDelivered())
        }
        #expect(try Transaction(method: .put, isOneShot: true, status: 301).isDelivered())
        #expect(
            try Transaction(method: .post, isOneShot: true, status: 303).followed().method == .get)
        #expect(
            try Transaction(method: .post, isOneShot: true, status: 301).followed().method == .get)
    }

    @Test("Fields that describe content are removed or kept together with the content")
    func contentFields() throws {
        let fields: HTTPFields = [
            .contentType: "a/b", .contentLength: "5", .contentEncoding: "gzip",
            .expect: "100-continue",
            .transferEncoding: "chunked", "X": "1", .accept: "*/*",
        ]
        let next = try Transaction(method: .post, fields: fields, status: 302).followed()
        #expect(next.fields.map(\.name.text) == ["X", "Accept"])
        let kept = try Transaction(method: .post, fields: fields, status: 307).followed()
        #expect(kept.fields == fields)
    }

    // MARK: Origins

    private static let secrets: HTTPFields = [
        .authorization: "Basic x", .cookie: "a=1", .proxyAuthorization: "Basic y", .accept: "*/*",
        "X-API-Key": "k", "Cookie2": "b", .origin: "https://a.example", .host: "a.example",
        .userAgent: "u", .referer: "https://a.example/",
    ]

    @Test("10.2.2: a redirect to the same origin keeps all fields")
    func sameOrigin() throws {
        for location in ["/z", "https://A.EXAMPLE/z", "https://a.example:443/z", "//a.example/"] {
            let next = try Transaction(fields: Self.secrets, locations: [location]).followed()
            #expect(next.fields == Self.secrets && !next.crossesOrigin)
        }
    }

    @Test(
        "15.4: credentials and unknown fields are not sent to another host or port",
        arguments: [
            "https://b.example/", "//b.example/", "https://a.example:8443/",
            "https://x.a.example/", "https://a.example./", "https://a.example.evil.example/",
        ])
    func crossOrigin(_ location: String) throws {
        let next = try Transaction(fields: Self.secrets, locations: [location]).followed()
        #expect(next.crossesOrigin)
        #expect(next.fields.map(\.name.text) == ["Accept", "User-Agent", "Referer"])
    }

    @Test(
        "A redirect from http to https on the same host keeps all fields except credentials",
        arguments: [
            ("https://a.example/", true), ("https://A.example:8443/", true),
            ("https://b.example/", false), ("http://a.example:81/", false),
            ("https://x.a.example/", false),
        ])
    func upgrade(_ location: String, _ isSame: Bool) throws {
        let transaction = Transaction(
            url: "http://a.example/x", fields: Self.secrets, locations: [location])
        let next = try transaction.followed()
        #expect(next.crossesOrigin && next.isUpgrade == isSame)
        #expect((next.fields["X-API-Key"] != nil) == isSame)
        for name in [HTTPFieldName.authorization, .cookie] { #expect(next.fields[name] == nil) }
        var policy = RedirectPolicy()
        policy.sensitiveFields = ["x-api-key"]
        let strict = Transaction(
            url: "http://a.example/x", fields: Self.secrets, locations: [location], policy: policy)
        #expect(try strict.followed().fields["X-API-Key"] == nil)
    }

    @Test("A policy decides which other fields another origin gets, and which it never gets")
    func crossOriginFields() throws {
        var policy = RedirectPolicy()
        policy.crossOriginFields = .allButSensitive
        let location = ["https://b.example/"]
        let all = try Transaction(fields: Self.secrets, locations: location, policy: policy)
            .followed()
        #expect(
            all.fields.map(\.name.text) == ["Accept", "X-API-Key", "User-Agent", "Referer"])
        policy.sensitiveFields = ["x-api-key"]
        let some = try Transaction(fields: Self.secrets, locations: location, policy: policy)
            .followed()
        #expect(some.fields["X-API-Key"] == nil)
    }

    @Test("A redirect from https to http must be allowed, and is sent without Referer")
    func downgrade() throws {
        let location = ["http://a.example/"]
        #expect(try Transaction(locations: location).refusal() == .downgrade)
        var policy = RedirectPolicy()
        policy.allowsDowngrade = true
        let next = try Transaction(fields: Self.secrets, locations: location, policy: policy)
            .followed()
        #expect(next.crossesOrigin && next.fields[.referer] == nil)
        #expect(next.fields[.authorization] == nil)
        let up = try Transaction(url: "http://a.example/", locations: ["https://a.example/"])
            .followed()
        #expect(up.crossesOrigin)
    }

    // MARK: Targets

    @Test(
        "A scheme other than http and https is refused",
        arguments: [
            "ftp://a.example/", "file:///etc/passwd", "javascript:alert(1)", "data:,x",
            "gopher://a",
            "ws://a.example/", "mailto:a@b",
        ])
    func schemes(_ location: String) throws {
        #expect(try Transaction(locations: [location]).refusal() == .unsupportedScheme)
    }

    @Test(
        "A malformed Location is refused",
        arguments: [
            "https://", "https:///x", "https:g", "https://a b/", "https://a:port/", "/a\u{1}b",
            "https://a.example:99999/", "https://[::1/", "//",
        ])
    func malformed(_ location: String) throws {
        #expect(try Transaction(locations: [location]).refusal() == .malformed)
    }

    @Test("Equal Location fields count as one, and different ones are malformed")
    func several() throws {
        #expect(
            try Transaction(locations: ["/z", "/z"]).followed().target == "https://a.example/z")
        #expect(try Transaction(locations: ["/z", "/y"]).refusal() == .malformed)
    }

    @Test("User information in a Location is refused; that of the request is kept")
    func userInformation() throws {
        for location in [
            "https://u:p@b.example/", "//u@a.example/", "https://a.example@evil.example/",
        ] {
            #expect(try Transaction(locations: [location]).refusal() == .userInformation)
        }
        let next = try Transaction(url: "https://u:p@a.example/x").followed()
        #expect(next.target == "https://u:p@a.example/z")
    }

    @Test(
        "10.2.2: the target inherits the request's fragment, unless it has its own",
        arguments: [
            ("https://a.example/x#f", "/z", "https://a.example/z#f"),
            ("https://a.example/x#f", "/z#g", "https://a.example/z#g"),
            ("https://a.example/x#f", "/z#", "https://a.example/z#"),
            ("https://a.example/x", "/z", "https://a.example/z"),
            ("https://a.example/x?q=1", "?q=2", "https://a.example/x?q=2"),
            ("https://a.example/x/y?q=1", "../z?a=b&c", "https://a.example/z?a=b&c"),
        ])
    func fragments(_ url: String, _ location: String, _ target: String) throws {
        #expect(try Transaction(url: url, locations: [location]).followed().target == target)
    }

    // MARK: Chains

    @Test("Redirects are followed up to the limit, which is 20 by default", arguments: [0, 1, 16])
    func limit(_ limit: Int) throws {
        var policy = RedirectPolicy()
        policy.limit = limit
        var chain = RedirectChain(policy: policy)
        var transaction = Transaction(policy: policy)
        for number in 0..<limit {
            transaction.locations = ["/\(number)"]
            guard case .follow(let next) = try transaction.verdict(&chain) else {
                Issue.record("not followed: \(number)")
                return
            }
            transaction.url = next.target
        }
        #expect(chain.count == max(limit - 1, 0))
        transaction.locations = ["/more"]
        guard case .refuse(let fault) = try transaction.verdict(&chain) else {
            Issue.record("followed")
            return
        }
        #expect(fault.kind == .tooMany && fault.history.count == limit + 1)
        #expect(RedirectPolicy().limit == 20)
    }

    @Test("A repeated URL is requested again, until the limit ends the loop")
    func loop() throws {
        var chain = RedirectChain(policy: RedirectPolicy())
        for number in 0..<20 {
            let (url, next) = number.isMultiple(of: 2) ? ("/1", "/2") : ("/2", "/1")
            let transaction = Transaction(url: "https://a.example\(url)", locations: [next])
            guard case .follow = try transaction.verdict(&chain) else {
                Issue.record("refused after \(number)")
                return
            }
        }
        let last = Transaction(url: "https://a.example/1", locations: ["/2"])
        guard case .refuse(let fault) = try last.verdict(&chain) else {
            Issue.record("followed")
            return
        }
        #expect(fault.kind == .tooMany && fault.location == "/2" && fault.history.count == 21)
    }
}

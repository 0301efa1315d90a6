import HTTPParser
import Testing
import URLClient

@Suite("RFC 6265bis, 5.8: Sending cookies")
struct CookieSendingTests {
    @Test("5.8.3: cookies with longer paths come first, then older cookies")
    func order() throws {
        var site = CookieSite()
        for (name, path) in [("a", "/"), ("b", "/x/y"), ("c", "/x"), ("d", "/"), ("e", "/x/y")] {
            try site.receive("\(name)=1; path=\(path)", from: "http://h.example/")
            site.now.secondsSinceEpoch += 1
        }
        #expect(try site.sent(to: "http://h.example/x/y/z") == "b=1; e=1; c=1; a=1; d=1")
        #expect(try site.sent(to: "http://h.example/") == "a=1; d=1")
    }

    @Test(
        "5.1.4: a cookie path matches whole path segments",
        arguments: [
            ("/x", "/x", true), ("/x", "/x/", true), ("/x", "/x/y", true), ("/x/", "/x/y", true),
            ("/x", "/xy", false), ("/x/", "/x", false), ("/x", "/", false), ("/", "/x", true),
            ("/x", "/X", false), ("/x", "/%78", false),
        ])
    func paths(_ path: String, _ request: String, _ isSent: Bool) throws {
        var site = CookieSite()
        try site.receive("a=1; path=\(path)", from: "http://h.example/")
        #expect(try site.sent(to: "http://h.example\(request)") == (isSent ? "a=1" : nil))
    }

    @Test(
        "5.1.3: a cookie domain matches whole labels",
        arguments: [
            ("example.org", true), ("a.example.org", true), ("a.b.Example.Org", true),
            ("example.org.", true), ("badexample.org", false), ("org", false),
            ("example.org.evil.com", false), ("xample.org", false),
        ])
    func domains(_ host: String, _ isSent: Bool) throws {
        var site = CookieSite()
        try site.receive("a=1; domain=example.org", from: "http://example.org/")
        #expect(try site.sent(to: "http://\(host)/") == (isSent ? "a=1" : nil))
    }

    @Test("Without Domain, a cookie is sent to its host only, also over https")
    func hostOnly() throws {
        var site = CookieSite()
        try site.receive("a=1", from: "http://h.example/")
        #expect(try site.sent(to: "http://a.h.example/") == nil)
        #expect(try site.sent(to: "https://h.example/") == "a=1")
    }

    @Test(
        "For localhost names, Secure cookies are set and sent without TLS",
        arguments: [
            ("localhost", true), ("localhost.", false), ("a.localhost", true),
            ("notlocalhost", false), ("localhost.example", false),
        ])
    func local(_ host: String, _ isSecure: Bool) throws {
        var site = CookieSite()
        #expect(try site.receive("a=1; secure", from: "http://\(host)/") == isSecure)
        try site.receive("a=1; secure", from: "https://\(host)/")
        #expect(try site.sent(to: "http://\(host)/") == (isSecure ? "a=1" : nil))
    }

    @Test("5.8.3: the Cookie field has at most 8,190 bytes")
    func fieldLimit() throws {
        for (length, names) in [(4_092, "ab"), (4_093, "a")] {
            var site = CookieSite()
            for name in ["a", "b", "c"] {
                let value = String(repeating: "x", count: length)
                try site.receive("\(name)=\(value)", from: "http://h.example/")
                site.now.secondsSinceEpoch += 1
            }
            let pairs = try site.sent(to: "http://h.example/")?.split(separator: "; ") ?? []
            #expect(pairs.compactMap(\.first).map(String.init).joined() == names)
        }
    }

    @Test("Values that are not UTF-8 are sent back unchanged, also beside others and from files")
    func bytes() throws {
        var jar = CookieJar()
        let context = try CookieSite.context("http://h.example/")
        var now = HTTPDate(secondsSinceEpoch: 1_700_000_000)
        for (text, isLatin1) in [("a=\u{E9}\u{FF}", true), ("b=\u{E9}", false)] {
            jar.receive(text, isLatin1: isLatin1, from: context, policy: .always, now: now)
            now.secondsSinceEpoch += 1
        }
        let wanted = Array("a=".utf8) + [0xE9, 0xFF] + Array("; b=\u{E9}".utf8)
        #expect(jar.field(for: context, now: now)?.bytes == wanted)
        let kept = NetscapeCookies.cookies(in: NetscapeCookies.bytes(of: jar.cookies), now: now)
        var other = CookieJar()
        for cookie in kept { other.store(cookie, now: now) }
        #expect(other.field(for: context, now: now)?.bytes == wanted)
    }

    @Test(
        "5.7: a value that is not UTF-8 replaces or removes the cookie of the same name",
        arguments: ["id=\u{E9}", "id=\u{E9}; Max-Age=0"])
    func sameName(_ field: String) throws {
        var jar = CookieJar()
        let context = try CookieSite.context("http://h.example/")
        let now = HTTPDate(secondsSinceEpoch: 1_700_000_000)
        jar.receive("id=abc", from: context, policy: .always, now: now)
        let isTaken = jar.receive(
            field, isLatin1: true, from: context, policy: .always, now: now)
        #expect(isTaken)
        #expect(jar.cookies.map(\.value) == (field.hasSuffix("0") ? [] : ["\u{E9}"]))
        // Names with different bytes are different names, although they are equal as text.
        jar.removeAll()
        jar.receive("\u{E9}=1", from: context, policy: .always, now: now)
        jar.receive("\u{E9}=2", isLatin1: true, from: context, policy: .always, now: now)
        #expect(jar.count == 2)
    }

    @Test("5.7: http does not replace a Secure cookie whose value is not UTF-8")
    func shadowedName() throws {
        var jar = CookieJar()
        let now = HTTPDate(secondsSinceEpoch: 1_700_000_000)
        let (secure, plain) = (
            try CookieSite.context("https://h.example/"),
            try CookieSite.context("http://h.example/")
        )
        jar.receive(
            "id=\u{E9}; Secure", isLatin1: true, from: secure, policy: .always, now: now)
        let isTaken = jar.receive("id=1", from: plain, policy: .always, now: now)
        #expect(!isTaken)
        #expect(jar.count == 1)
    }

    @Test("Through a proxy, localhost does not count as secure")
    func localNameOfProxy() throws {
        let now = HTTPDate(secondsSinceEpoch: 1_700_000_000)
        for (host, hasProxy) in [("localhost", false), ("a.localhost", true), ("localhost", true)] {
            var jar = CookieJar()
            var context = try CookieSite.context("http://\(host)/")
            context.leavesMachine = hasProxy
            let isTaken = jar.receive("a=b; Secure", from: context, policy: .always, now: now)
            #expect(isTaken == !hasProxy)
        }
    }

    @Test(
        "With a connect target on another machine, localhost does not count as secure",
        arguments: [
            (ConnectTarget(host: "203.0.113.7"), false), (ConnectTarget(host: "127.test"), false),
            (ConnectTarget(host: "127.0.0.2"), true), (ConnectTarget(host: "[::1]"), true),
            (ConnectTarget(host: "A.Localhost"), true), (ConnectTarget(port: 81), true),
            (.unixSocket("/socket"), true), (.origin, true),
        ])
    func connectTargets(_ target: ConnectTarget, _ isLocal: Bool) {
        let cookies = CookieStorage()
        let configuration = ClientConfiguration.scripted { $0.cookies = cookies }
        var direct = MachineScript(.get, "http://localhost/", configuration)
        direct.respond(.ok, [.setCookie: "a=b; Secure"])
        var request = ClientRequest(.get, "http://localhost/")
        request.connectTo = target
        var script = MachineScript(request, configuration)
        #expect(script.sent.first?.fields[.cookie] == (isLocal ? "a=b" : nil))
        script.respond(.ok, [.setCookie: "c=d; Secure"])
        #expect(cookies.cookies.count == (isLocal ? 2 : 1))
    }

    @Test("Secure cookies of localhost are not sent if the session may connect to another machine")
    func movedSessions() {
        let cookies = CookieStorage()
        let here = ClientConfiguration.scripted { $0.cookies = cookies }
        var direct = MachineScript(.get, "http://localhost/", here)
        direct.respond(.ok, [.setCookie: "a=b; Secure"])
        let policy = ClientConfiguration.scripted {
            $0.cookies = cookies
            $0.endpoints = EndpointPolicy { _, _ in [ConnectTarget(host: "192.0.2.1")] }
        }
        let overrides = ["localhost", "LocalHost"].map { host in
            ClientConfiguration.scripted {
                $0.cookies = cookies
                $0.resolver.overrides = [
                    ResolverOptions.Override(host: host, port: 80, addresses: ["192.0.2.1"])
                ]
            }
        }
        #expect(MachineScript(.get, "http://localhost/", here).sent.first?.fields[.cookie] == "a=b")
        for configuration in [policy] + overrides {
            let script = MachineScript(.get, "http://localhost/", configuration)
            #expect(script.sent.allSatisfy { $0.fields[.cookie] == nil })
        }
    }

    @Test("Secure cookies are sent over https only, also to loopback addresses")
    func secure() throws {
        var site = CookieSite()
        try site.receive("a=1; secure", from: "https://127.0.0.1/")
        #expect(try site.sent(to: "http://127.0.0.1/") == nil)
        #expect(try site.sent(to: "https://127.0.0.1/") == "a=1")
    }

    @Test("A cookie expires after its Max-Age")
    func expiry() throws {
        var site = CookieSite()
        try site.receive("a=1; max-age=10", from: "http://h.example/")
        site.now.secondsSinceEpoch += 9
        #expect(try site.sent(to: "http://h.example/") == "a=1")
        site.now.secondsSinceEpoch += 1
        #expect(try site.sent(to: "http://h.example/") == nil)
    }

    @Test(
        "5.6.7: Lax and Strict cookies are not sent for a page of another site, nor is Lax set",
        arguments: [
            (nil, "u=1; n=1; l=1; s=1"), ("www.h.example", "u=1; n=1; l=1; s=1"),
            ("other.example", "u=1; n=1"),
        ] as [(String?, String)])
    func sameSite(_ main: String?, _ sent: String) throws {
        var site = CookieSite()
        let cookies = [
            "u=1", "n=1; samesite=none; secure", "l=1; samesite=lax", "s=1; samesite=strict",
        ]
        for cookie in cookies {
            try site.receive(cookie, from: "https://h.example/")
            site.now.secondsSinceEpoch += 1
        }
        #expect(try site.sent(to: "https://h.example/", main: main) == sent)
        #expect(
            try !site.receive("x=1; samesite=lax", from: "https://h.example/", main: "o.example"))
    }
}

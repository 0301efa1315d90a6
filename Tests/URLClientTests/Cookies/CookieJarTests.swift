import HTTPParser
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 6265bis, 5.6 and 5.7: Setting cookies")
struct SetCookieTests {
    @Test(
        "Name and value are kept as received, without surrounding whitespace",
        arguments: [
            ("a=b", "a=b"), (" a = b ; x", "a=b"), ("a=", "a="), ("a=b=c", "a=b=c"), ("=b", "b"),
            ("b", "b"), ("a=\"b c\"", "a=\"b c\""), ("a=b;;;", "a=b"), ("a=b,c", "a=b,c"),
            ("a=ä", "a=ä"), ("a=b\t", "a=b"), ("a=b; Max-Age=x; Expires=y; Path=z", "a=b"),
        ])
    func pairs(_ field: String, _ sent: String) throws {
        var site = CookieSite()
        #expect(try site.receive(field, from: "http://h.example/"))
        #expect(try site.sent(to: "http://h.example/") == sent)
    }

    @Test(
        "Empty cookies, cookies with control characters and too long cookies are refused",
        arguments: [
            "", ";", "=", " = ", "; a=b", "a=b\u{0}", "a=b\nc", "a\u{1}=b", "a=b; path=/\u{7F}",
            "a=" + String(repeating: "b", count: 4_096),
        ])
    func refusal(_ field: String) throws {
        var site = CookieSite()
        #expect(try !site.receive(field, from: "http://h.example/"))
        #expect(site.jar.count == 0)
    }

    @Test("Name and value may have 4096 bytes; an attribute longer than 1024 bytes is ignored")
    func lengths() throws {
        var site = CookieSite()
        let full = "a=" + String(repeating: "b", count: 4_095)
        #expect(try site.receive(full, from: "http://h.example/"))
        let path = "/" + String(repeating: "p", count: 1_023)
        try site.receive("c=1; path=\(path)", from: "http://h.example/")
        try site.receive("d=1; path=\(path)x", from: "http://h.example/")
        #expect(site.jar.cookies.map(\.path).sorted() == ["/", "/", path])
    }

    @Test("5.6: the last attribute of a name counts, and names are case-insensitive")
    func attributes() throws {
        var site = CookieSite()
        try site.receive(
            "a=b; PATH=/x; path=/y; Secure; HTTPONLY=1; sAmEsItE=Lax; max-age=5; Max-Age=7; Domain=x"
                + "; domain=example.org",
            from: "https://h.example.org/")
        let cookie = try #require(site.jar.cookies.first)
        #expect(cookie.path == "/y" && cookie.isSecure && cookie.isHTTPOnly)
        #expect(cookie.sameSite == .lax && cookie.domain == "example.org" && !cookie.isHostOnly)
        #expect(cookie.expiry?.secondsSinceEpoch == 1_700_000_007)
    }

    @Test(
        "Max-Age overrides Expires, both are limited to 400 days, and an expired cookie is removed")
    func ages() throws {
        var site = CookieSite()
        let far = 1_700_000_000 + 400 * 86_400
        for (attributes, expiry) in [
            ("max-age=10; expires=Sun, 06 Nov 1994 08:49:37 GMT", 1_700_000_010),
            ("max-age=99999999999", far), ("max-age=99999999999999999999999", far),
            ("expires=Fri, 31 Dec 9999 23:59:59 GMT", far),
        ] {
            try site.receive("a=b; \(attributes)", from: "http://h.example/")
            #expect(site.jar.cookies.first?.expiry?.secondsSinceEpoch == Int64(expiry))
        }
        for attributes in ["max-age=0", "max-age=-5", "expires=Sun, 06 Nov 1994 08:49:37 GMT"] {
            try site.receive("a=b", from: "http://h.example/")
            #expect(try site.receive("a=c; \(attributes)", from: "http://h.example/"))
            #expect(site.jar.count == 0)
            #expect(try !site.receive("a=c; \(attributes)", from: "http://h.example/"))
        }
    }

    @Test("5.1.4: the default path is the request path without its last segment")
    func defaultPath() throws {
        for (path, wanted) in [
            ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/c", "/a/b"),
        ] {
            for attribute in ["", "; path", "; path=", "; path=x"] {
                var site = CookieSite()
                try site.receive("a=b\(attribute)", from: "http://h.example\(path)")
                #expect(site.jar.cookies.first?.path == wanted)
            }
        }
    }

    @Test(
        "5.7: a domain must be the host or a parent domain, and not a public suffix",
        arguments: [
            ("www.example.org", "example.org", true), ("www.example.org", ".example.org", true),
            ("www.example.org", "EXAMPLE.org", true), ("www.example.org", "www.example.org", true),
            ("example.org", "www.example.org", false), ("www.example.org", "ample.org", false),
            ("www.example.org", "org", false), ("www.example.org", ".org", false),
            ("a.example.co.uk", "co.uk", false), ("a.example.co.uk", "example.co.uk", true),
            ("a.github.io", "github.io", false), ("example.org", "other.org", false),
            ("www.example.org", "example.org.", false), ("127.0.0.1", "0.0.1", false),
            ("127.0.0.1", "127.0.0.1", true), ("::1", "::1", true), ("a.b.0x1", "b.0x1", false),
            ("badexample.org", "example.org", false), ("www.example.org", "..example.org", false),
        ])
    func domains(_ host: String, _ domain: String, _ isTaken: Bool) throws {
        var site = CookieSite()
        let field = "a=b; domain=\(domain)"
        #expect(try site.receive(field, from: "http://\(host)/") == isTaken)
        #expect(site.jar.count == (isTaken ? 1 : 0))
    }

    @Test("A public suffix that is the host itself gets a host-only cookie")
    func suffixAsHost() throws {
        var site = CookieSite()
        #expect(try site.receive("a=b; domain=github.io", from: "http://github.io/"))
        #expect(site.jar.cookies.first?.isHostOnly == true)
        #expect(try site.sent(to: "http://x.github.io/") == nil)
    }

    @Test("5.7: only https sets Secure cookies, and http does not replace them")
    func secure() throws {
        var site = CookieSite()
        for domain in ["", "; domain=h.example"] {
            #expect(try !site.receive("a=b; secure\(domain)", from: "http://h.example/"))
        }
        #expect(try site.receive("a=b; secure", from: "https://h.example/x/"))
        #expect(try !site.receive("a=evil; path=/x", from: "http://h.example/x/"))
        #expect(try !site.receive("a=evil; path=/x/y", from: "http://h.example/x/"))
        #expect(try !site.receive("a=evil; domain=h.example; path=/x", from: "http://w.h.example/"))
        #expect(try site.receive("a=other; path=/", from: "http://h.example/x/"))
        #expect(try site.receive("b=fine", from: "http://h.example/x/"))
        #expect(try site.sent(to: "https://h.example/x/") == "a=b; b=fine; a=other")
    }

    @Test(
        "4.1.3: a cookie with the prefix __Secure- or __Host- must meet its requirements",
        arguments: [
            ("__Secure-a=b; secure", true), ("__Secure-a=b", false), ("__secure-a=b", false),
            ("__Host-a=b; secure; path=/", true), ("__Host-a=b; secure", false),
            ("__Host-a=b; secure; path=/x", false), ("__Host-a=b; path=/", false),
            ("__Host-a=b; secure; path=/; domain=www.example.org", false),
            ("__HOST-a=b; secure; path=/x", false), ("=__Host-a=b; secure; path=/", false),
            ("__Host-a; secure; path=/", false), ("=__Secure-a; secure", false),
            ("__Secure-\u{301}a=b", false), ("__Host-\u{301}a=b; path=/", false),
        ])
    func prefixes(_ field: String, _ isTaken: Bool) throws {
        var site = CookieSite()
        #expect(try site.receive(field, from: "https://www.example.org/") == isTaken)
    }

    /// Counts its calls.
    private struct CountingSuffixes: PublicSuffixes {
        let count = Locked(0)

        func isPublicSuffix(_ domain: String) -> Bool {
            count.withLock { $0 += 1 }
            return false
        }
    }

    @Test("The site of a host that is too long for DNS is found with few lookups of suffixes")
    func longHost() throws {
        let suffixes = CountingSuffixes()
        var site = CookieSite(jar: CookieJar(suffixes: suffixes))
        try site.receive("a=b; samesite=strict", from: "http://h.example/")
        suffixes.count.withLock { $0 = 0 }
        let long = String(repeating: "a.", count: 40_000)
        #expect(try site.sent(to: "http://\(long)h.example/", main: "w.example") == nil)
        #expect(suffixes.count.withLock { $0 } <= 4)
    }

    @Test("SameSite=None requires Secure")
    func sameSiteNone() throws {
        var site = CookieSite()
        #expect(try !site.receive("a=b; samesite=none", from: "https://h.example/"))
        #expect(try site.receive("a=b; samesite=none; secure", from: "https://h.example/"))
    }

    @Test("A new value keeps the creation time; another path or domain makes a separate cookie")
    func replacing() throws {
        var site = CookieSite()
        try site.receive("a=1", from: "http://h.example/x/y")
        try site.receive("b=1", from: "http://h.example/x/y")
        site.now = HTTPDate(secondsSinceEpoch: 1_700_000_100)
        try site.receive("a=2", from: "http://h.example/x/z")
        try site.receive("a=3; path=/", from: "http://h.example/")
        try site.receive("a=4; domain=h.example", from: "http://h.example/x/y")
        #expect(try site.sent(to: "http://h.example/x/y") == "a=2; b=1; a=4; a=3")
    }

    @Test(
        "Accept policies accept all cookies, none, or those for a page of the same site",
        arguments: CookieAcceptPolicy.allCases,
        [
            (nil, true), ("www.example.org", true), ("example.org", true), ("other.org", false),
            ("example.co.uk", false),
        ] as [(String?, Bool)])
    func policies(_ policy: CookieAcceptPolicy, _ main: (host: String?, isSame: Bool)) throws {
        var site = CookieSite()
        let isTaken = try site.receive(
            "a=b", from: "http://a.example.org/", main: main.host, policy: policy)
        let wanted =
            switch policy {
            case .always: true
            case .never: false
            case .onlyFromMainDocumentDomain: main.isSame
            }
        #expect(isTaken == wanted)
    }

    @Test("Above the limits per domain and in total, the least recently used cookies are removed")
    func limits() throws {
        var limits = CookieLimits()
        (limits.countPerDomain, limits.count) = (3, 10)
        var site = CookieSite(jar: CookieJar(limits: limits))
        for name in ["a", "b", "c"] {
            try site.receive("\(name)=1; path=/\(name)", from: "http://h.example/")
        }
        #expect(try site.sent(to: "http://h.example/a") == "a=1")
        try site.receive("d=1", from: "http://h.example/")
        #expect(Set(site.jar.cookies.map(\.name)) == ["a", "c", "d"])
        for number in 0..<40 {
            try site.receive("x=1", from: "http://h\(number).example/")
            #expect(site.jar.count <= 10 && site.jar.count == site.jar.cookies.count)
        }
        #expect(site.jar.cookies.contains { $0.domain == "h39.example" })
    }
}

extension SetCookieTests {
    @Test("5.7: cookies from http do not displace Secure cookies", arguments: [true, false])
    func secureStays(_ isOneDomain: Bool) throws {
        var limits = CookieLimits()
        (limits.countPerDomain, limits.count) = isOneDomain ? (4, 100) : (100, 4)
        var site = CookieSite(jar: CookieJar(limits: limits))
        for name in ["a", "b", "c"] {
            try site.receive("\(name)=1; secure", from: "https://h.example/")
        }
        for number in 0..<10 {
            let host = isOneDomain ? "h.example" : "h\(number).example"
            try site.receive("x\(number)=1", from: "http://\(host)/")
        }
        let names = site.jar.cookies.map(\.name)
        #expect(names.filter { ["a", "b", "c"].contains($0) }.count == 3)
        try site.receive("d=1; secure", from: "https://h.example/")
        try site.receive("e=1; secure", from: "https://h.example/")
        let left = Set(site.jar.cookies.map(\.name))
        #expect(left.contains("e") && !left.contains("a") && left.count <= 4)
    }
}

import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Security for browsers")
struct SecurityTests {
    // MARK: Fields

    @Test("Responses and errors get the security fields", arguments: Sample.Speed.allCases)
    func fields(_ speed: Sample.Speed) async throws {
        var options = SecurityFieldsHandler.Options()
        options.frameOptions = "DENY"
        options.contentSecurityPolicy = "default-src 'self'"
        let inner = Sample.handler(speed) { request in
            if request.path == "/bad" { throw HTTPError(.notFound) }
            return Response(
                .ok, fields: request.path == "/own" ? ["x-frame-options": "SAMEORIGIN"] : [:])
        }
        let handler = SecurityFieldsHandler(AnyTestHandler(inner), options: options)
        for path in ["/", "/bad", "/own"] {
            let answer = try await exchange(handler, "GET", path)
            #expect(answer["X-Content-Type-Options"] == "nosniff")
            #expect(answer["Referrer-Policy"] == "strict-origin-when-cross-origin")
            #expect(answer["Content-Security-Policy"] == "default-src 'self'")
            #expect(answer["X-Frame-Options"] == (path == "/own" ? nil : "DENY"))
            #expect(answer["Strict-Transport-Security"] == nil)
        }
        #expect(try await exchange(handler, "GET", "/own")["x-frame-options"] == "SAMEORIGIN")
    }

    @Test(
        "RFC 6797: Strict-Transport-Security is optional, and sent over HTTPS to named hosts only")
    func transportSecurity() async throws {
        var options = SecurityFieldsHandler.Options()
        options.transportSecurity = .init(maxAge: .seconds(300), includesSubdomains: true)
        options.forbidsSniffing = false
        options.referrerPolicy = nil
        let handler = SecurityFieldsHandler(Sample.target, options: options)
        let rule = "max-age=300; includeSubDomains"
        // Section 7.2: not over plain HTTP. Section 8.1.1: not for addresses.
        for (scheme, host, value) in [
            ("https", "a.test", rule), ("https", "a.test:8443", rule), ("http", "a.test", nil),
            ("https", "192.0.2.1", nil), ("https", "192.0.2.1:8443", nil),
            ("https", "[2001:db8::1]:8443", nil),
        ] {
            let secured = InterceptingHandler(handler) { request in
                request[ForwardedOriginKey.self] = ForwardedOrigin(scheme: scheme, host: nil)
                return nil
            }
            let answer = try await exchange(secured, host: host)
            #expect(answer["Strict-Transport-Security"] == value, "\(scheme) \(host)")
            #expect(answer["X-Content-Type-Options"] == nil)
            #expect(answer["Referrer-Policy"] == nil)
        }
    }

    // MARK: Hosts

    @Test(
        "An unknown host is 421 with any method",
        arguments: [
            "evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example",
            "good.example.evil", "xgood.example", "local", "notlocal", "1.2.3", "1.2.3.4.5",
        ], ["GET", "POST", "OPTIONS", "DELETE"])
    func foreignHost(_ host: String, _ method: String) async throws {
        let log = ServerLog<String>()
        let inner = SyncHandler { _ in
            log.add("reached")
            return Response(.ok)
        }
        let handler = HostCheckHandler(
            inner, hosts: AllowedHosts(["good.example", "*.local"]))
        #expect(try await exchange(handler, method, "/", host: host).status == 421)
        #expect(log.entries.isEmpty)
    }

    @Test(
        "Known hosts, addresses and localhost are served",
        arguments: [
            "good.example", "GOOD.example:8080", "good.example.", "my.Mac.local", "localhost",
            "app.localhost:80", "127.0.0.1", "192.0.2.1:8080", "[::1]", "[2001:db8::1]:80",
        ])
    func ownHost(_ host: String) async throws {
        let handler = HostCheckHandler(
            Sample.target, hosts: AllowedHosts(["Good.Example.", "*.local"]))
        #expect(try await exchange(handler, "GET", "/", host: host).status == 200)
    }

    @Test(
        "Brackets without a valid address are not an allowed host",
        arguments: ["[evil]", "[2001:db8::z]", "[v1.evil]", "[::1]x", "[::1", "[]", "a\u{301}"])
    func noAddress(_ host: String) {
        #expect(!AllowedHosts(["evil", "v1.evil", "a\u{301}"]).contains(host))
    }

    @Test("A host above the length of a name is unknown")
    func longHost() {
        let hosts = AllowedHosts(["*.local"])
        let longest = String(repeating: "a.", count: 124) + "local"
        #expect(longest.utf8.count == 253)
        #expect(hosts.contains(longest) && hosts.contains(longest + ".:65535"))
        #expect(!hosts.contains(String(repeating: "a.", count: 4_000) + "local"))
    }

    @Test("The authority of an absolute target counts, not Host")
    func absoluteTarget() async throws {
        let handler = HostCheckHandler(Sample.target, hosts: AllowedHosts(["good.example"]))
        let bad = try await exchange(
            handler, "GET", "http://evil.example/", host: "evil.example")
        #expect(bad.status == 421)
        let good = try await exchange(
            handler, "GET", "http://good.example/", host: "good.example")
        #expect(good.status == 200)
    }

    @Test("Addresses and localhost can be excluded")
    func strictHosts() {
        var hosts = AllowedHosts(["only.example"])
        hosts.allowsAddresses = false
        hosts.allowsLocalhost = false
        for host in ["127.0.0.1", "[::1]", "localhost", "a.localhost"] {
            #expect(!hosts.contains(host))
        }
        hosts.allow("127.0.0.1")
        hosts.allow("::1")
        #expect(hosts.contains("127.0.0.1:80") && hosts.contains("[::1]:80"))
    }

    // MARK: Origins

    @Test(
        "A changing request of a foreign page is 403",
        arguments: [
            "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n",
            "Origin: https://evil.example\r\n", "Origin: null\r\n", "Origin: http://a:81\r\n",
            "Origin: http://a.evil\r\n", "Origin: ftp://a\r\n", "Origin: a\r\n", "Origin:\r\n",
            "Sec-Fetch-Site: cross-site\r\nOrigin: http://a\r\n", "Sec-Fetch-Site: x\r\n",
        ], ["POST", "PUT", "DELETE", "PATCH", "FROB"])
    func foreignPage(_ fields: String, _ method: String) async throws {
        let handler = OriginCheckHandler(Sample.target)
        #expect(try await exchange(handler, method, "/", fields).status == 403)
    }

    @Test(
        "Requests of the site's own pages, of trusted pages and of programs are answered",
        arguments: [
            "", "Sec-Fetch-Site: same-origin\r\n", "Sec-Fetch-Site: none\r\n",
            "Origin: http://a\r\n", "Origin: https://A\r\n", "Origin: http://a:80\r\n",
            "Origin: https://trusted.example\r\nSec-Fetch-Site: cross-site\r\n",
        ], Sample.Speed.allCases)
    func ownPage(_ fields: String, _ speed: Sample.Speed) async throws {
        var options = OriginCheckHandler.Options()
        options.trustedOrigins = ["https://trusted.example"]
        let inner = AnyTestHandler(Sample.handler(speed) { _ in Response(.ok) })
        let handler = OriginCheckHandler(inner, options: options)
        #expect(try await exchange(handler, "POST", "/", fields).status == 200)
    }

    @Test("Safe methods are answered for any origin", arguments: ["GET", "HEAD", "OPTIONS"])
    func safe(_ method: String) async throws {
        let handler = OriginCheckHandler(SyncHandler { _ in Response(.ok) })
        let answer = try await exchange(
            handler, method, "/", "Sec-Fetch-Site: cross-site\r\nOrigin: https://evil\r\n")
        #expect(answer.status == 200)
    }

    @Test("Proof of the origin can be required")
    func proof() async throws {
        var options = OriginCheckHandler.Options()
        options.requiresProof = true
        let handler = OriginCheckHandler(Sample.target, options: options)
        #expect(try await exchange(handler, "POST").status == 403)
        #expect(try await exchange(handler, "POST", "/", "Origin: http://a\r\n").status == 200)
    }
}

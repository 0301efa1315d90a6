import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 6265bis, 4.1: Cookies of a response")
struct ResponseCookieTests {
    @Test("By default a cookie has Path=/, HttpOnly and SameSite=Lax")
    func defaults() throws {
        let cookie = try ResponseCookie("session", "1a")
        #expect(try cookie.fieldValue() == "session=1a; Path=/; HttpOnly; SameSite=Lax")
    }

    @Test("All attributes are written")
    func attributes() throws {
        var cookie = try ResponseCookie("a", "\"b\"", domain: "example.org", path: "/x")
        cookie.maxAge = .seconds(60)
        cookie.expires = HTTPDate(secondsSinceEpoch: 784_111_777)
        cookie.isSecure = true
        cookie.isHTTPOnly = false
        cookie.sameSite = ResponseCookie.SameSite.none
        cookie.isPartitioned = true
        #expect(
            try cookie.fieldValue()
                == "a=\"b\"; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 GMT; "
                + "Domain=example.org; Path=/x; Secure; SameSite=None; Partitioned")
    }

    @Test("A removal has the name, domain and path of the cookie, and expires at once")
    func removal() throws {
        let cookie = try ResponseCookie.removal(of: "a", domain: "example.org", path: nil)
        #expect(
            try cookie.fieldValue()
                == "a=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Domain=example.org; "
                + "HttpOnly; SameSite=Lax")
    }

    @Test(
        "Values with characters outside the grammar are refused",
        arguments: [";", ",", " ", "\"", "\\", "é", "\r\n"])
    func invalidValues(_ text: String) {
        #expect(throws: ResponseCookie.Fault.invalidValue) { try ResponseCookie("a", "b\(text)c") }
    }

    @Test("Invalid names and attributes are refused")
    func invalidParts() {
        for name in ["", "a b", "a=b", "a;b", "é"] {
            #expect(throws: ResponseCookie.Fault.invalidName) { try ResponseCookie(name, "b") }
        }
        for text in ["a;b", "a\r\nb", "é"] {
            #expect(throws: ResponseCookie.Fault.invalidAttribute) {
                try ResponseCookie("a", "b", domain: text)
            }
            #expect(throws: ResponseCookie.Fault.invalidAttribute) {
                try ResponseCookie("a", "b", path: text)
            }
        }
    }

    @Test("4.1.3: The conditions of name prefixes are enforced, in any case")
    func prefixes() throws {
        for name in ["__Secure-a", "__host-a"] {
            var cookie = try ResponseCookie(name, "b")
            #expect(throws: ResponseCookie.Fault.prefixNotHeld) { try cookie.fieldValue() }
            cookie.isSecure = true
            #expect(try cookie.fieldValue().hasPrefix("\(name)=b; Path=/; Secure"))
        }
        var cookie = try ResponseCookie("__Host-a", "b", path: "/x")
        cookie.isSecure = true
        #expect(throws: ResponseCookie.Fault.prefixNotHeld) { try cookie.fieldValue() }
        cookie = try ResponseCookie("__Host-a", "b", domain: "example.org")
        cookie.isSecure = true
        #expect(throws: ResponseCookie.Fault.prefixNotHeld) { try cookie.fieldValue() }
    }

    @Test(
        "A cookie set in response to an HTTPS request has Secure",
        arguments: [("http", ""), ("https", "; Secure")])
    func secure(_ scheme: String, _ attribute: String) async throws {
        let handler = SyncHandler { request in
            request[ForwardedOriginKey.self] = ForwardedOrigin(scheme: scheme, host: nil)
            var response = Response(.noContent)
            try response.setCookie(ResponseCookie("a", "1"), answering: request)
            return response
        }
        let answer = try await exchange(handler)
        #expect(answer["Set-Cookie"] == "a=1; Path=/\(attribute); HttpOnly; SameSite=Lax")
    }

    @Test("A cookie with the prefix __Host- can be set over HTTPS only")
    func hostPrefix() async throws {
        for (scheme, status) in [("http", 500), ("https", 204)] {
            let handler = SyncHandler { request in
                request[ForwardedOriginKey.self] = ForwardedOrigin(scheme: scheme, host: nil)
                var response = Response(.noContent)
                try response.setCookie(ResponseCookie("__Host-a", "1"), answering: request)
                return response
            }
            #expect(try await exchange(handler).status == status)
        }
    }

    @Test("A response has a field for each cookie")
    func fields() async throws {
        let client = MemoryConnection(
            SyncHandler { _ in
                var response = Response(.noContent)
                try response.setCookie(ResponseCookie("a", "1"))
                try response.setCookie(ResponseCookie("b", "2"))
                return response
            })
        client.send(Sample.get("/"))
        let record = try await client.output("\r\n\r\n")
        #expect(record.text.contains("Set-Cookie: a=1; Path=/; HttpOnly; SameSite=Lax\r\n"))
        #expect(record.text.contains("Set-Cookie: b=2; Path=/; HttpOnly; SameSite=Lax\r\n"))
    }
}

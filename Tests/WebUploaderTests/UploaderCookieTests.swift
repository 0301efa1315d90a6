import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import WebDAVKit
import WebUploader

@Suite("The cookie of the upload page")
struct UploaderCookieTests {
    /// The client of a page behind a proxy; the field X-Scheme chooses HTTP or HTTPS.
    private func client() -> UploaderClient {
        var options = UploaderOptions()
        options.hosts = nil
        let page = UploaderHandler(store: MemoryStore(), options: options)
        let handler = AsyncHandler { request in
            request[ForwardedOriginKey.self] = ForwardedOrigin(
                scheme: request.fields["X-Scheme"], host: nil)
            return try await page.respond(to: request)
        }
        var router = Router()
        router.mount("/up", handler)
        return UploaderClient(over: router)
    }

    /// RFC 6265bis: browsers reject a cookie over HTTP if one of the same name has `Secure`.
    @Test("HTTP and HTTPS have separate cookies, and a token is valid for one of them")
    func cookieOfEachScheme() async throws {
        let client = client()
        let (plain, token) = try await client.session("X-Scheme: http")
        let (secure, secureToken) = try await client.session("X-Scheme: https")
        let names = [plain, secure].map { cookie in cookie.prefix { $0 != "=" } }
        #expect(Set(names).count == 2, "\(names)")
        let tries = [
            ("http", token, 201), ("https", secureToken, 201), ("http", secureToken, 403),
            ("https", token, 403),
        ]
        for (scheme, token, status) in tries {
            let answer = try await client.post(
                "create", "path=/\(scheme)-\(status)", "X-Scheme: \(scheme)",
                "Cookie: \(secure); \(plain)", "X-Upload-Token: \(token)")
            #expect(answer.status == status, "\(scheme)")
        }
    }
}

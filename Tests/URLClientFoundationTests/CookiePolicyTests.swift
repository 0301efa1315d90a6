#if FoundationNetworking
    import Foundation
    import Testing
    import URLClientFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @Suite("RFC 6265bis 5.2: cookies that an application stores for a page")
    struct CookiePolicyTests {
        private static let url = "https://a.h.example/"

        private func isStored(
            _ policy: HTTPCookie.AcceptPolicy, _ url: String?, for page: String?
        ) throws -> Bool {
            let storage = HTTPCookieStorage()
            storage.cookieAcceptPolicy = policy
            let cookie = try #require(
                HTTPCookie(properties: [
                    .name: "n", .value: "v", .domain: "a.h.example", .path: "/",
                ]))
            let (from, main) = try (Self.parsed(url), Self.parsed(page))
            storage.setCookies([cookie], for: from, mainDocumentURL: main)
            return storage.cookies?.map(\.name) == ["n"]
        }

        private static func parsed(_ text: String?) throws -> URL? {
            guard let text else { return nil }
            let url: URL = try #require(URL(string: text))
            return url
        }

        @Test(
            "Cookies are stored for a page of the same site, and without a page",
            arguments: [
                nil, "https://a.h.example/page", "http://A.H.example.:8080/", "https://h.example/",
                "https://b.h.example/", "https://c.a.h.example/",
            ])
        func sameSite(_ page: String?) throws {
            #expect(try isStored(.onlyFromMainDocumentDomain, Self.url, for: page))
            #expect(try isStored(.always, Self.url, for: page))
            #expect(try !isStored(.never, Self.url, for: page))
        }

        @Test(
            "onlyFromMainDocumentDomain refuses cookies for a page of another site or of none",
            arguments: [
                "https://other.example/", "https://example/", "https://nota.h.example.org/",
                "file:///page.html", "about:blank", "data:text/html,page", "ftp://a.h.example/",
            ])
        func crossSite(_ page: String) throws {
            #expect(try !isStored(.onlyFromMainDocumentDomain, Self.url, for: page))
            #expect(try isStored(.always, Self.url, for: page))
            #expect(try !isStored(.never, Self.url, for: page))
        }

        @Test(
            "onlyFromMainDocumentDomain refuses cookies of a URL without a site for a page",
            arguments: [nil, "file:///page.html"])
        func noSite(_ url: String?) throws {
            #expect(try !isStored(.onlyFromMainDocumentDomain, url, for: Self.url))
            #expect(try isStored(.onlyFromMainDocumentDomain, url, for: nil))
            #expect(try isStored(.always, url, for: Self.url))
        }
    }
#endif

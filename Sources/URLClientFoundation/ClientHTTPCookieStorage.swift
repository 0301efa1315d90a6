#if FoundationNetworking
    public import Foundation
    internal import HTTPParser
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// The cookies of sessions with the names of `HTTPCookieStorage`, based on
    /// ``/URLClient/CookieStorage``.
    ///
    /// Two instances are equal if their underlying storage is the same.
    public final class ClientHTTPCookieStorage: NSObject, @unchecked Sendable {
        /// The default cookie storage of sessions.
        public static let shared = ClientHTTPCookieStorage(client: .shared)

        /// The underlying storage.
        public let client: CookieStorage

        /// Creates a wrapper of a storage.
        public init(client: CookieStorage) { self.client = client }

        /// Creates an empty storage in memory.
        public override convenience init() { self.init(client: CookieStorage()) }

        static func of(_ client: CookieStorage) -> ClientHTTPCookieStorage {
            client === shared.client ? shared : ClientHTTPCookieStorage(client: client)
        }

        /// Whether the underlying storage is the same.
        public override func isEqual(_ object: Any?) -> Bool {
            (object as? ClientHTTPCookieStorage)?.client === client
        }

        /// The same value for equal storages.
        public override var hash: Int { ObjectIdentifier(client).hashValue }

        /// Which cookies of responses are stored.
        public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
            get { HTTPCookie.AcceptPolicy(known: client.acceptPolicy) }
            set { client.acceptPolicy = CookieAcceptPolicy(newValue) }
        }

        /// All cookies that have not expired, except those without a name, which `HTTPCookie`
        /// cannot represent.
        public var cookies: [HTTPCookie]? { client.cookies.compactMap(HTTPCookie.init(known:)) }

        /// The cookies that are sent in a request for a URL.
        public func cookies(for url: URL) -> [HTTPCookie]? {
            client.cookies(for: url).compactMap(HTTPCookie.init(known:))
        }

        /// Stores a cookie, which replaces a cookie with the same name, domain and path, unless the
        /// accept policy is `.never`.
        public func setCookie(_ cookie: HTTPCookie) {
            guard cookieAcceptPolicy != .never else { return }
            client.store(Cookie(cookie))
        }

        /// Stores the cookies of a URL, except if the accept policy is `.never`, or is
        /// `.onlyFromMainDocumentDomain` and the URL is cross-site, as for responses of a session.
        /// A main document whose URL is neither http nor https belongs to no site. Without a main
        /// document, all cookies are stored.
        public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
            if cookieAcceptPolicy == .onlyFromMainDocumentDomain, let mainDocumentURL,
                client.isCrossSite(url, mainDocumentURL: mainDocumentURL)
            {
                return
            }
            for cookie in cookies { setCookie(cookie) }
        }

        /// Removes the cookie with the same name, domain and path.
        public func deleteCookie(_ cookie: HTTPCookie) { client.remove(Cookie(cookie)) }

        /// Removes the cookies that were set since a time.
        public func removeCookies(since date: Date) {
            client.removeAll(since: HTTPDate(date))
        }
    }

    extension HTTPDate {
        fileprivate init(_ date: Date) {
            let seconds = date.timeIntervalSince1970.rounded(.down)
            self.init(secondsSinceEpoch: Int64(max(-1e11, min(seconds, 1e11))))
        }
    }

    extension Cookie {
        fileprivate init(_ cookie: HTTPCookie) {
            let isBelow = cookie.domain.hasPrefix(".")
            self.init(
                name: cookie.name, value: cookie.value,
                domain: String(cookie.domain.drop { $0 == "." }),
                path: cookie.path, expiry: cookie.expiresDate.map { HTTPDate($0) },
                isHostOnly: !isBelow, isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly,
                creation: HTTPDate(Date()))
        }
    }

    extension HTTPCookie {
        fileprivate convenience init?(known cookie: Cookie) {
            var properties: [HTTPCookiePropertyKey: Any] = [
                .name: cookie.name, .value: cookie.value, .path: cookie.path,
                .domain: cookie.isHostOnly ? cookie.domain : "." + cookie.domain,
            ]
            if cookie.isSecure { properties[.secure] = "TRUE" }
            if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
            if let expiry = cookie.expiry {
                properties[.expires] = Date(
                    timeIntervalSince1970: Double(expiry.secondsSinceEpoch))
            } else {
                properties[.discard] = "TRUE"
            }
            self.init(properties: properties)
        }
    }

    extension HTTPCookie.AcceptPolicy {
        init(known policy: CookieAcceptPolicy) {
            self =
                switch policy {
                case .always: .always
                case .never: .never
                default: .onlyFromMainDocumentDomain
                }
        }
    }

    extension CookieAcceptPolicy {
        init(_ policy: HTTPCookie.AcceptPolicy) {
            self =
                switch policy {
                case .never: .never
                case .onlyFromMainDocumentDomain: .onlyFromMainDocumentDomain
                default: .always
                }
        }
    }
#endif

#if FoundationNetworking
    public import Foundation
    internal import HTTPParser
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// The settings of a ``ClientURLSession``, by the names of `URLSessionConfiguration`.
    ///
    /// A session copies its configuration when it is made; changes after that have no effect.
    /// Settings that `URLSession` has no name for stand in ``client``: connect-to, retries, TLS, limits.
    public final class ClientURLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
        /// The settings of the session below. Properties here read and write it.
        public var client: ClientConfiguration
        /// The identifier of a configuration made by ``background(withIdentifier:)``.
        public private(set) var identifier: String?
        /// A name for the session; only the program uses it.
        public var sharedContainerIdentifier: String?

        /// Creates a configuration from the client's own.
        public init(client: ClientConfiguration) {
            self.client = client
        }

        /// The settings of `URLSession`'s default: shared cookies and cache.
        public class var `default`: ClientURLSessionConfiguration {
            ClientURLSessionConfiguration(client: .default)
        }

        /// The settings of a separate session, whose cookies and cache are in memory.
        public class var ephemeral: ClientURLSessionConfiguration {
            ClientURLSessionConfiguration(client: .ephemeral)
        }

        /// The default settings. Transfers end with the process: the system has no service for them.
        public class func background(
            withIdentifier identifier: String
        ) -> ClientURLSessionConfiguration {
            let configuration = ClientURLSessionConfiguration(client: .default)
            configuration.identifier = identifier
            return configuration
        }

        /// A copy, as `ClientURLSessionConfiguration`.
        public func copy(with zone: NSZone? = nil) -> Any {
            ClientURLSessionConfiguration(copying: self)
        }

        /// Takes what the client's configuration does not hold.
        func take(_ other: ClientURLSessionConfiguration) {
            identifier = other.identifier
            sharedContainerIdentifier = other.sharedContainerIdentifier
            (cachePolicy, headers) = (other.cachePolicy, other.headers)
            cache = other.cache
            allowsCellularAccess = other.allowsCellularAccess
            waitsForConnectivity = other.waitsForConnectivity
            httpShouldUsePipelining = other.httpShouldUsePipelining
            isDiscretionary = other.isDiscretionary
            networkServiceType = other.networkServiceType
        }

        // MARK: limits

        /// The time in seconds in which bytes have to come or go; 60 where nothing is set.
        public var timeoutIntervalForRequest: TimeInterval {
            get { client.timeouts.idle?.inSeconds ?? .infinity }
            set { client.timeouts.idle = Duration(interval: newValue) }
        }

        /// The time in seconds for a task as a whole; seven days where nothing is set.
        public var timeoutIntervalForResource: TimeInterval {
            get { client.timeouts.total?.inSeconds ?? .infinity }
            set { client.timeouts.total = Duration(interval: newValue) }
        }

        /// The most connections to one origin at once.
        public var httpMaximumConnectionsPerHost: Int {
            get { client.connectionsPerOrigin }
            set { client.connectionsPerOrigin = max(1, newValue) }
        }

        // MARK: requests

        /// When requests are answered from the cache that do not say so themselves.
        public var requestCachePolicy: URLRequest.CachePolicy {
            get { cachePolicy }
            set {
                cachePolicy = newValue
                client.cachePolicy = CachePolicy(newValue)
            }
        }
        private var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy

        /// Fields that every request has that does not have them itself. Pairs that are no strings,
        /// or whose name is no token, are left out.
        public var httpAdditionalHeaders: [AnyHashable: Any]? {
            get { headers }
            set {
                headers = newValue
                client.additionalFields = HTTPFields()
                for case let (name as String, value as String) in newValue ?? [:] {
                    guard let name = HTTPFieldName(name) else { continue }
                    client.additionalFields.append(name, value)
                }
            }
        }
        private var headers: [AnyHashable: Any]?

        // MARK: cookies and cache

        /// Whether requests carry cookies and cookies of responses are kept.
        public var httpShouldSetCookies: Bool {
            get { client.setsCookies }
            set { client.setsCookies = newValue }
        }

        /// The cookies of the session; nil for none.
        public var httpCookieStorage: ClientHTTPCookieStorage? {
            get { client.cookies.map(ClientHTTPCookieStorage.of) }
            set { client.cookies = newValue?.client }
        }

        /// Which cookies are accepted. Set here, it holds for the sessions of this configuration;
        /// otherwise it is the policy of the storage, which others may share.
        public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
            get {
                client.cookiePolicy.map(HTTPCookie.AcceptPolicy.init(known:))
                    ?? httpCookieStorage?.cookieAcceptPolicy ?? .never
            }
            set { client.cookiePolicy = CookieAcceptPolicy(newValue) }
        }

        /// The cache of the session; nil for none.
        public var urlCache: ClientURLCache? {
            get { client.cache.map { cache?.client === $0 ? cache : .of($0) } ?? nil }
            set { (cache, client.cache) = (newValue, newValue?.client) }
        }
        private var cache: ClientURLCache?

        /// The credentials of the session.
        public var urlCredentialStorage: ClientURLCredentialStorage? {
            get { ClientURLCredentialStorage(client: client.authentication.credentials) }
            set { client.authentication.credentials = newValue?.client ?? CredentialStorage() }
        }

        // MARK: what this client has no use for

        /// Kept and not used: the client knows no cellular networks.
        public var allowsCellularAccess = true
        /// Kept and not used: the client does not wait for networks.
        public var waitsForConnectivity = false
        /// Kept and not used: the client does not pipeline, because servers get it wrong.
        public var httpShouldUsePipelining = false
        /// Kept and not used: transfers begin when they are resumed.
        public var isDiscretionary = false
        /// Kept and not used.
        public var networkServiceType = URLRequest.NetworkServiceType.default
    }

    extension Duration {
        /// In seconds.
        var inSeconds: TimeInterval {
            Double(components.seconds) + Double(components.attoseconds) / 1e18
        }

        /// nil for what is too long to be a limit, or no time at all.
        init?(interval: TimeInterval) {
            guard interval > 0, interval < 1e9 else { return nil }
            self = .seconds(interval)
        }
    }
#endif

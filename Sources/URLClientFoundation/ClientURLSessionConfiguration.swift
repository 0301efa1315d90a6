#if FoundationNetworking
    public import Foundation
    internal import HTTPParser
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// The settings of a ``ClientURLSession``, with the names of `URLSessionConfiguration`.
    ///
    /// A session copies its configuration when it is created; later changes have no effect.
    /// ``client`` has the settings that `URLSession` lacks, such as connect targets, retries, TLS
    /// and limits.
    public final class ClientURLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
        /// The settings of the underlying session. The other properties read and write this value.
        public var client: ClientConfiguration
        /// The identifier of a configuration made by ``background(withIdentifier:)``.
        public private(set) var identifier: String?
        /// A name for the session; the client does not use it.
        public var sharedContainerIdentifier: String?

        /// Creates a configuration from the client's configuration.
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

        /// The default settings. Transfers end with the process: the system has no service for
        /// them.
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

        /// Copies the values that the client's configuration does not contain.
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

        /// The longest time in seconds without a byte received or sent; 60 by default.
        public var timeoutIntervalForRequest: TimeInterval {
            get { client.timeouts.idle?.inSeconds ?? .infinity }
            set { client.timeouts.idle = Duration(interval: newValue) }
        }

        /// The longest time in seconds for a whole task; seven days by default.
        public var timeoutIntervalForResource: TimeInterval {
            get { client.timeouts.total?.inSeconds ?? .infinity }
            set { client.timeouts.total = Duration(interval: newValue) }
        }

        /// The most simultaneous connections to one origin, at least 1.
        public var httpMaximumConnectionsPerHost: Int {
            get { client.connectionsPerOrigin }
            set { client.connectionsPerOrigin = max(1, newValue) }
        }

        // MARK: requests

        /// The cache policy of requests that do not set one.
        public var requestCachePolicy: URLRequest.CachePolicy {
            get { cachePolicy }
            set {
                cachePolicy = newValue
                client.cachePolicy = CachePolicy(newValue)
            }
        }
        private var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy

        /// Fields for every request that does not have a field of the same name. Pairs that are not
        /// strings, or whose name is not a token, are left out.
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

        /// Whether cookies are sent in requests and stored from responses.
        public var httpShouldSetCookies: Bool {
            get { client.setsCookies }
            set { client.setsCookies = newValue }
        }

        /// The cookies of the session; nil for none.
        public var httpCookieStorage: ClientHTTPCookieStorage? {
            get { client.cookies.map(ClientHTTPCookieStorage.of) }
            set { client.cookies = newValue?.client }
        }

        /// Which cookies are accepted. A value that is set here applies only to the sessions of
        /// this configuration. Otherwise the policy of the storage applies, which other sessions
        /// may share.
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

        // MARK: settings without effect

        /// No effect: the client does not distinguish cellular networks.
        public var allowsCellularAccess = true
        /// No effect: the client does not wait for networks.
        public var waitsForConnectivity = false
        /// No effect: the client does not pipeline, because servers do not support it reliably.
        public var httpShouldUsePipelining = false
        /// No effect: transfers begin when they are resumed.
        public var isDiscretionary = false
        /// No effect.
        public var networkServiceType = URLRequest.NetworkServiceType.default
    }

    extension Duration {
        /// The duration in seconds.
        var inSeconds: TimeInterval {
            Double(components.seconds) + Double(components.attoseconds) / 1e18
        }

        /// Nil, which means no limit, unless the interval is above 0 and below 10^9 seconds.
        init?(interval: TimeInterval) {
            guard interval > 0, interval < 1e9 else { return nil }
            self = .seconds(interval)
        }
    }
#endif

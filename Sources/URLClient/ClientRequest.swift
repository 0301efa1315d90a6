public import HTTPParser

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A request of a client.
///
/// ```swift
/// var request = ClientRequest(.put, "https://example.org/notes/1")
/// request.fields[.contentType] = "text/plain"
/// request.body = .text("Buy milk")
/// ```
///
/// The session's ``ClientConfiguration`` supplies everything that is not set here.
public struct ClientRequest: Sendable {
    /// The method.
    public var method: HTTPMethod {
        get { unsafe box.values.method }
        _modify {
            own()
            yield unsafe &box.values.method
        }
    }
    /// The URL. A user name and password in it are used as credentials and never sent as part of
    /// the target; a fragment is not sent.
    public var url: URL {
        get { unsafe box.values.url }
        set {
            own()
            unsafe box.values.url = newValue
            unsafe box.values.wire = Self.wire(newValue.absoluteString)
        }
    }
    /// Fields to send. They win over the session's additional fields and over fields that the
    /// client would add. `Content-Length` and `Transfer-Encoding` are always set by the client.
    public var fields: HTTPFields {
        get { unsafe box.values.fields }
        _modify {
            own()
            yield unsafe &box.values.fields
        }
    }
    /// The content to send.
    public var body: ClientBody {
        get { unsafe box.values.body }
        _modify {
            own()
            yield unsafe &box.values.body
        }
    }
    /// When a stored response may answer; nil for the session's policy.
    public var cachePolicy: CachePolicy? {
        get { unsafe box.values.cachePolicy }
        _modify {
            own()
            yield unsafe &box.values.cachePolicy
        }
    }
    /// The time limits; nil for the session's limits.
    public var timeouts: ClientTimeouts? {
        get { unsafe box.values.overrides?.values.timeouts }
        set { changeOverrides { $0.timeouts = newValue } }
    }
    /// The idle limit of a request that sets no other time limit.
    var idleLimit: IdleLimit? {
        get { unsafe box.values.overrides?.values.idleLimit }
        set { changeOverrides { $0.idleLimit = newValue } }
    }

    /// ``ClientTimeouts/idle`` of a request that leaves the other limits to the session; nil for no
    /// limit.
    struct IdleLimit: Sendable {
        var value: Duration?
    }

    /// The priority when not all requests can run, 0...1. Higher values go first.
    public var priority: Double {
        get { unsafe box.values.priority }
        _modify {
            own()
            yield unsafe &box.values.priority
        }
    }
    /// The target to connect to instead of the URL's host; nil for the session's policy. Ignored
    /// after a redirect to another origin, unless the delegate sets it again. Still applied when
    /// HSTS or a redirect upgrades the request to https on the same host.
    public var connectTo: ConnectTarget? {
        get { unsafe box.values.overrides?.values.connectTo }
        set { changeOverrides { $0.connectTo = newValue } }
    }
    /// The credential that answers a challenge of the URL's origin, in place of the session's
    /// credentials. Nil to use the user and password of the URL, or else the session's credentials.
    /// It is sent when the server asks for it, and with the first request to paths where it is
    /// known to be required. It is never sent to other origins.
    public var credential: ClientCredential? {
        get { unsafe box.values.overrides?.values.credential }
        set { changeOverrides { $0.credential = newValue } }
    }
    /// The request's own credential: ``credential``, or the user and password of its URL.
    var ownCredential: ClientCredential? {
        if let credential { return credential }
        guard case .success(let wire) = wire else { return nil }
        return wire.credential
    }
    /// The value of Cookie, if it is not UTF-8.
    var cookieBytes: [UInt8]? {
        get { unsafe box.values.overrides?.values.cookieBytes }
        set { changeOverrides { $0.cookieBytes = newValue } }
    }
    /// The proxy; nil for the session's policy.
    public var proxy: ProxyPolicy? {
        get { unsafe box.values.overrides?.values.proxy }
        set { changeOverrides { $0.proxy = newValue } }
    }
    /// The versions of HTTP to use; nil for the session's policy.
    public var protocols: ProtocolPolicy? {
        get { unsafe box.values.overrides?.values.protocols }
        set { changeOverrides { $0.protocols = newValue } }
    }
    /// How servers are authenticated; nil for the session's options.
    public var tls: TLSOptions? {
        get { unsafe box.values.overrides?.values.tls }
        set { changeOverrides { $0.tls = newValue } }
    }
    /// When to wait for `100 Continue` before the content; nil for the session's policy.
    public var expectation: ExpectationPolicy? {
        get { unsafe box.values.overrides?.values.expectation }
        set { changeOverrides { $0.expectation = newValue } }
    }
    /// The most content that is accepted, in bytes after content decoding; nil for the session's
    /// limit.
    public var contentLimit: Int64? {
        get { unsafe box.values.overrides?.values.contentLimit }
        set { changeOverrides { $0.contentLimit = newValue } }
    }
    /// Whether gzip, deflate and, if libbrotlidec is installed, br are requested and decoded; nil
    /// for the session's setting.
    public var decodesContent: Bool? {
        get { unsafe box.values.decodesContent }
        _modify {
            own()
            yield unsafe &box.values.decodesContent
        }
    }
    /// Whether cookies are sent and stored.
    public var usesCookies: Bool {
        get { unsafe box.values.usesCookies }
        _modify {
            own()
            yield unsafe &box.values.usesCookies
        }
    }
    /// The URL of the page that the request is made for. It decides which cookies are same-site. A
    /// page whose URL is neither http nor https counts as another site than any request.
    public var mainDocumentURL: URL? {
        get { unsafe box.values.overrides?.values.mainDocumentURL }
        set { changeOverrides { $0.mainDocumentURL = newValue } }
    }
    /// Whether GET and TRACE may be sent with content, although they give it no meaning (RFC 9110
    /// section 9.3.1). Without this, such a request fails. HEAD with content always fails. Content
    /// of zero bytes is allowed.
    public var allowsContentWithoutMeaning: Bool {
        get { unsafe box.values.allowsContentWithoutMeaning }
        _modify {
            own()
            yield unsafe &box.values.allowsContentWithoutMeaning
        }
    }

    /// Makes tasks for this request fail with an error, until its URL is set again.
    mutating func refuse(_ error: ClientError) {
        own()
        unsafe box.values.wire = .failure(error)
    }

    /// The parsed URL, or the error for an invalid URL.
    var wire: Result<WireURL, ClientError> { unsafe box.values.wire }

    /// All values of a request, stored by reference: requests are often copied and seldom changed.
    private struct Values {
        var method: HTTPMethod
        var url: URL
        var fields: HTTPFields
        var body: ClientBody
        var cachePolicy: CachePolicy?
        var priority: Double
        var decodesContent: Bool?
        var usesCookies: Bool
        var allowsContentWithoutMeaning: Bool
        var wire: Result<WireURL, ClientError>
        var overrides: CopyOnWriteBox<Overrides>?
    }

    /// Settings that most requests leave to the session.
    private struct Overrides: Sendable {
        var timeouts: ClientTimeouts?
        var idleLimit: IdleLimit?
        var connectTo: ConnectTarget?
        var credential: ClientCredential?
        var cookieBytes: [UInt8]?
        var proxy: ProxyPolicy?
        var protocols: ProtocolPolicy?
        var tls: TLSOptions?
        var expectation: ExpectationPolicy?
        var contentLimit: Int64?
        var mainDocumentURL: URL?
    }

    /// Mutated only when uniquely referenced, so that accesses cannot overlap.
    private final class Box: @unchecked Sendable {
        @exclusivity(unchecked)
        var values: Values

        init(_ values: Values) {
            unsafe self.values = values
        }
    }

    private var box: Box

    /// Copies the values before a change, unless only this request refers to them.
    private mutating func own() {
        if !isKnownUniquelyReferenced(&box) { box = Box(unsafe box.values) }
    }

    private mutating func changeOverrides(_ body: (inout Overrides) -> Void) {
        own()
        var values = unsafe box.values.overrides?.values ?? Overrides()
        body(&values)
        unsafe box.values.overrides = CopyOnWriteBox(values)
    }

    /// Whether all of the rarely used settings are left to the session.
    var usesDefaults: Bool { unsafe box.values.overrides == nil }

    /// Creates a request.
    /// - Parameters:
    ///   - method: the method.
    ///   - url: an absolute URL, http or https; WebSockets also take ws and wss.
    ///   - fields: fields to send.
    ///   - body: content to send.
    public init(
        _ method: HTTPMethod = .get, _ url: URL, fields: HTTPFields = HTTPFields(),
        body: ClientBody = .none
    ) {
        self.init(method, url: url, wire: Self.wire(url.absoluteString), fields: fields, body: body)
    }

    /// Creates a request from the text of a URL.
    ///
    /// An invalid URL is reported when the request is sent: its task fails with
    /// ``ClientError/Kind/badURL``.
    /// - Parameters:
    ///   - method: the method.
    ///   - url: an absolute URL, http or https; WebSockets also take ws and wss.
    ///   - fields: fields to send.
    ///   - body: content to send.
    public init(
        _ method: HTTPMethod = .get, _ url: String, fields: HTTPFields = HTTPFields(),
        body: ClientBody = .none
    ) {
        guard let parsed = URL(string: url) else {
            let wire = Result<WireURL, ClientError>.failure(
                ClientError(.badURL, "not a URL: \(ClientError.shownUnparsed(url))"))
            self.init(
                method, url: URL(filePath: "/"), wire: wire, fields: fields, body: body)
            return
        }
        self.init(
            method, url: parsed, wire: Self.wire(parsed.absoluteString), fields: fields, body: body)
    }

    private init(
        _ method: HTTPMethod, url: URL, wire: Result<WireURL, ClientError>, fields: HTTPFields,
        body: ClientBody
    ) {
        box = Box(
            Values(
                method: method, url: url, fields: fields, body: body, priority: 0.5,
                usesCookies: true, allowsContentWithoutMeaning: false, wire: wire, overrides: nil))
    }

    private static func wire(_ text: String) -> Result<WireURL, ClientError> {
        do throws(ClientError) {
            return .success(try WireURL(text))
        } catch {
            return .failure(error)
        }
    }

    /// The scheme, host and port of the URL; nil when it is not an http or https URL.
    public var origin: Origin? { try? wire.get().origin }
}

/// When a response that was stored before may answer a request, as in `NSURLRequest`.
public enum CachePolicy: Sendable, Hashable, CaseIterable {
    /// A fresh response answers; a stale one is revalidated (RFC 9111).
    case useProtocolCachePolicy
    /// A stored response never answers.
    case reloadIgnoringLocalCacheData
    /// A stored response never answers, neither here nor in a cache between client and server.
    case reloadIgnoringLocalAndRemoteCacheData
    /// A stored response answers, whatever its age. Without one, the request is sent.
    case returnCacheDataElseLoad
    /// A stored response answers, whatever its age. Without one, the request fails.
    case returnCacheDataDontLoad
    /// A stored response answers after the server has confirmed it.
    case reloadRevalidatingCacheData
}

/// The versions of HTTP that are used.
public enum ProtocolPolicy: Sendable, Hashable {
    /// HTTP/2 if the server selects it in the TLS handshake (ALPN), otherwise HTTP/1.1.
    case automatic
    /// HTTP/1.1.
    case http1
    /// HTTP/1.0.
    case http10
    /// HTTP/2 without negotiation, also without TLS (RFC 9113 section 3.3).
    case http2PriorKnowledge
}

/// When `Expect: 100-continue` is sent (RFC 9110 section 10.1.1).
public enum ExpectationPolicy: Sendable, Hashable {
    /// Never.
    case never
    /// For content of more than `bytes` bytes or of unknown length. Without an answer the content
    /// is sent after `wait`.
    case above(bytes: Int64, wait: Duration)
}

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
    /// Fields to send. They win over the session's additional fields and over those that the client
    /// would make itself; `Content-Length` and `Transfer-Encoding` are always the client's own.
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
    /// When a stored response may answer; nil for the session's.
    public var cachePolicy: CachePolicy? {
        get { unsafe box.values.cachePolicy }
        _modify {
            own()
            yield unsafe &box.values.cachePolicy
        }
    }
    /// How long things may take; nil for the session's.
    public var timeouts: ClientTimeouts? {
        get { unsafe box.values.overrides?.values.timeouts }
        set { changeOverrides { $0.timeouts = newValue } }
    }
    /// The limit between two pieces, where it alone is the request's own.
    var idleLimit: IdleLimit? {
        get { unsafe box.values.overrides?.values.idleLimit }
        set { changeOverrides { $0.idleLimit = newValue } }
    }

    /// ``ClientTimeouts/idle`` of a request that leaves the other limits to the session.
    struct IdleLimit: Sendable {
        var value: Duration?
    }

    /// Which requests go first when not all can run, 0...1.
    public var priority: Double {
        get { unsafe box.values.priority }
        _modify {
            own()
            yield unsafe &box.values.priority
        }
    }
    /// Where to connect to instead of the URL's host; nil for the session's policy. Ignored after a
    /// redirect to another origin, unless the delegate sets it again. Still applied when HSTS or a
    /// redirect upgrades the request to https on the same host.
    public var connectTo: ConnectTarget? {
        get { unsafe box.values.overrides?.values.connectTo }
        set { changeOverrides { $0.connectTo = newValue } }
    }
    /// With what a challenge of the URL's origin is answered, in place of what the session has; nil
    /// for the user and password of the URL, or else for the session's. It is sent when the server
    /// asks for it, and at once to where it was asked for before. It does not go along to other
    /// origins.
    public var credential: ClientCredential? {
        get { unsafe box.values.overrides?.values.credential }
        set { changeOverrides { $0.credential = newValue } }
    }
    /// The credential that it brings itself.
    var ownCredential: ClientCredential? {
        if let credential { return credential }
        guard case .success(let wire) = wire else { return nil }
        return wire.credential
    }
    /// The field Cookie where it has bytes that are no UTF-8.
    var cookieBytes: [UInt8]? {
        get { unsafe box.values.overrides?.values.cookieBytes }
        set { changeOverrides { $0.cookieBytes = newValue } }
    }
    /// The proxy; nil for the session's.
    public var proxy: ProxyPolicy? {
        get { unsafe box.values.overrides?.values.proxy }
        set { changeOverrides { $0.proxy = newValue } }
    }
    /// Which versions of HTTP to speak; nil for the session's.
    public var protocols: ProtocolPolicy? {
        get { unsafe box.values.overrides?.values.protocols }
        set { changeOverrides { $0.protocols = newValue } }
    }
    /// How servers are authenticated; nil for the session's.
    public var tls: TLSOptions? {
        get { unsafe box.values.overrides?.values.tls }
        set { changeOverrides { $0.tls = newValue } }
    }
    /// When to wait for `100 Continue` before the content; nil for the session's.
    public var expectation: ExpectationPolicy? {
        get { unsafe box.values.overrides?.values.expectation }
        set { changeOverrides { $0.expectation = newValue } }
    }
    /// The most content that is taken, in bytes, content coding taken off; nil for the session's.
    public var contentLimit: Int64? {
        get { unsafe box.values.overrides?.values.contentLimit }
        set { changeOverrides { $0.contentLimit = newValue } }
    }
    /// Whether gzip, deflate and, where libbrotlidec is installed, br are asked for and taken off;
    /// nil for the session's.
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
    /// The URL of the page that the request is made for, where that matters to cookies. A page
    /// that is not of http or https is of another site than every request.
    public var mainDocumentURL: URL? {
        get { unsafe box.values.overrides?.values.mainDocumentURL }
        set { changeOverrides { $0.mainDocumentURL = newValue } }
    }
    /// Whether content, more than no bytes of it, may be sent with GET and TRACE, which give it no
    /// meaning (RFC 9110 section 9.3.1); such a request fails otherwise, and one with HEAD always does.
    public var allowsContentWithoutMeaning: Bool {
        get { unsafe box.values.allowsContentWithoutMeaning }
        _modify {
            own()
            yield unsafe &box.values.allowsContentWithoutMeaning
        }
    }

    /// Has a task for it fail with an error, until it is given another URL.
    mutating func refuse(_ error: ClientError) {
        own()
        unsafe box.values.wire = .failure(error)
    }

    /// The URL taken apart, or why it cannot be.
    var wire: Result<WireURL, ClientError> { unsafe box.values.wire }

    /// All of it. A request is handed on many times and seldom changed.
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

    /// Makes the values this request's own before they are changed.
    private mutating func own() {
        if !isKnownUniquelyReferenced(&box) { box = Box(unsafe box.values) }
    }

    private mutating func changeOverrides(_ body: (inout Overrides) -> Void) {
        own()
        var values = unsafe box.values.overrides?.values ?? Overrides()
        body(&values)
        unsafe box.values.overrides = CopyOnWriteBox(values)
    }

    /// Whether all that is seldom set is left to the session.
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
    /// The text is checked when the request is sent: a task for what is no URL fails with
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
                ClientError(.badURL, "not a URL: \(ClientError.shown(url))"))
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
    /// As RFC 9111 has it: a fresh response answers, a stale one is revalidated.
    case useProtocolCachePolicy
    /// The server is always asked.
    case reloadIgnoringLocalCacheData
    /// The server is asked, and so is every cache on the way.
    case reloadIgnoringLocalAndRemoteCacheData
    /// A stored response answers, whatever its age; the server is asked if there is none.
    case returnCacheDataElseLoad
    /// A stored response answers, whatever its age, and the request fails if there is none.
    case returnCacheDataDontLoad
    /// A stored response answers once the server has said that it still holds.
    case reloadRevalidatingCacheData
}

/// Which versions of HTTP are spoken.
public enum ProtocolPolicy: Sendable, Hashable {
    /// HTTP/2 where the server agrees to it under TLS (ALPN), HTTP/1.1 otherwise.
    case automatic
    /// HTTP/1.1.
    case http1
    /// HTTP/1.0.
    case http10
    /// HTTP/2 without asking before, also without TLS (RFC 9113 section 3.3).
    case http2PriorKnowledge
}

/// When `Expect: 100-continue` is sent (RFC 9110 section 10.1.1).
public enum ExpectationPolicy: Sendable, Hashable {
    /// Never.
    case never
    /// With content of more than so many bytes or of unknown length: waits so long for the answer,
    /// then sends the content anyway.
    case above(bytes: Int64, wait: Duration)
}

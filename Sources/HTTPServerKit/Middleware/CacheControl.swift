internal import HTTPParser
public import HTTPServerCore

/// The directives of Cache-Control in a response (RFC 9111 section 5.2.2).
///
/// ```swift
/// response.setCacheControl(.public(maxAge: .seconds(3_600)))
/// let answer = Response(.ok, body: body).cached(.noStore)
/// ```
public struct CacheControl: Sendable, Hashable {
    /// How long the response is fresh, in whole seconds.
    public var maxAge: Duration?
    /// How long the response is fresh in shared caches, in whole seconds; overrides `maxAge` there.
    public var sharedMaxAge: Duration?
    /// Whether shared caches may store the response even if its request had Authorization.
    public var isPublic = false
    /// Whether only the client's own cache may store the response.
    public var isPrivate = false
    /// Whether caches must revalidate the response before each use.
    public var noCache = false
    /// Whether no cache may store the response.
    public var noStore = false
    /// Whether intermediaries must not change the content.
    public var noTransform = false
    /// Whether caches must not use the response once it is stale.
    public var mustRevalidate = false
    /// Whether shared caches must not use the response once it is stale.
    public var proxyRevalidate = false
    /// Whether the response will not change while it is fresh (RFC 8246).
    public var isImmutable = false
    /// How long a cache may use the stale response while it revalidates it, in whole seconds (RFC
    /// 5861 section 3).
    public var staleWhileRevalidate: Duration?
    /// How long a cache may use the stale response when the server fails, in whole seconds (RFC
    /// 5861 section 4).
    public var staleIfError: Duration?

    /// Creates a value without directives.
    public init() {}

    /// Caches must revalidate the response before each use.
    public static var noCache: CacheControl {
        var control = CacheControl()
        control.noCache = true
        return control
    }

    /// No cache may store the response.
    public static var noStore: CacheControl {
        var control = CacheControl()
        control.noStore = true
        return control
    }

    /// Every cache may store the response.
    /// - Parameters:
    ///   - maxAge: how long the response is fresh, in whole seconds.
    ///   - isImmutable: whether the response will not change while it is fresh.
    public static func `public`(maxAge: Duration, isImmutable: Bool = false) -> CacheControl {
        var control = CacheControl()
        control.isPublic = true
        control.maxAge = maxAge
        control.isImmutable = isImmutable
        return control
    }

    /// Only the client's own cache may store the response.
    /// - Parameter maxAge: how long the response is fresh, in whole seconds.
    public static func `private`(maxAge: Duration) -> CacheControl {
        var control = CacheControl()
        control.isPrivate = true
        control.maxAge = maxAge
        return control
    }
}

extension CacheControl: CustomStringConvertible {
    /// The value of the field; empty without directives.
    public var description: String {
        var parts: [String] = []
        func add(_ name: String, _ isSet: Bool) { if isSet { parts.append(name) } }
        func add(_ name: String, _ time: Duration?) {
            if let time { parts.append("\(name)=\(max(time.components.seconds, 0))") }
        }
        add("public", isPublic)
        add("private", isPrivate)
        add("no-cache", noCache)
        add("no-store", noStore)
        add("no-transform", noTransform)
        add("max-age", maxAge)
        add("s-maxage", sharedMaxAge)
        add("must-revalidate", mustRevalidate)
        add("proxy-revalidate", proxyRevalidate)
        add("immutable", isImmutable)
        add("stale-while-revalidate", staleWhileRevalidate)
        add("stale-if-error", staleIfError)
        return parts.joined(separator: ", ")
    }
}

extension Response {
    /// Sets Cache-Control; an empty value, or `nil`, removes it.
    public mutating func setCacheControl(_ control: CacheControl?) {
        let text = control?.description ?? ""
        fields[.cacheControl] = text.isEmpty ? nil : text
    }

    /// The response with Cache-Control.
    public func cached(_ control: CacheControl) -> Response {
        var copy = self
        copy.setCacheControl(control)
        return copy
    }
}

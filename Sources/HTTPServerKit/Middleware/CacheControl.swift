internal import HTTPParser
public import HTTPServerCore

/// The rights of caches: the directives of Cache-Control (RFC 9111 section 5.2.2).
///
/// ```swift
/// response.setCacheControl(.public(maxAge: .seconds(3_600)))
/// let answer = Response(.ok, body: body).cached(.noStore)
/// ```
public struct CacheControl: Sendable, Hashable {
    /// How long it is fresh, in whole seconds.
    public var maxAge: Duration?
    /// The same for caches that many share.
    public var sharedMaxAge: Duration?
    /// Whether caches that many share may keep what they otherwise must not.
    public var isPublic = false
    /// Whether only the client's own cache may keep it.
    public var isPrivate = false
    /// Whether caches have to ask each time.
    public var noCache = false
    /// Whether no cache may store it.
    public var noStore = false
    /// Whether content must not be changed on the way.
    public var noTransform = false
    /// Whether it must not be used once it is stale.
    public var mustRevalidate = false
    /// The same for caches that many share.
    public var proxyRevalidate = false
    /// Whether it will not change while it is fresh (RFC 8246).
    public var isImmutable = false
    /// How long it may be used while a cache asks for a new one (RFC 5861 section 3).
    public var staleWhileRevalidate: Duration?
    /// How long it may be used when the server fails (RFC 5861 section 4).
    public var staleIfError: Duration?

    /// Creates a value without directives.
    public init() {}

    /// Caches have to ask each time.
    public static var noCache: CacheControl {
        var control = CacheControl()
        control.noCache = true
        return control
    }

    /// No cache may store it.
    public static var noStore: CacheControl {
        var control = CacheControl()
        control.noStore = true
        return control
    }

    /// Every cache may keep it.
    /// - Parameters:
    ///   - maxAge: how long it is fresh.
    ///   - isImmutable: whether it will not change meanwhile.
    public static func `public`(maxAge: Duration, isImmutable: Bool = false) -> CacheControl {
        var control = CacheControl()
        control.isPublic = true
        control.maxAge = maxAge
        control.isImmutable = isImmutable
        return control
    }

    /// Only the client's own cache may keep it.
    /// - Parameter maxAge: how long it is fresh.
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

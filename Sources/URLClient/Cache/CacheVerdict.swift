package import HTTPParser

/// The cache's decision on how a request is answered.
package enum CacheVerdict: Sendable, Hashable {
    /// By the server. `stores`: whether the response may be stored.
    case fetch(stores: Bool)
    /// By the server, which is asked whether the stored response is still valid.
    case validate
    /// By the stored response. `revalidates`: whether the server is asked as well, to have a fresh
    /// response the next time (RFC 5861 section 3).
    case serve(revalidates: Bool)
    /// With 504, because the request has `only-if-cached` and no stored response can be used (RFC
    /// 9111 section 5.2.1.7).
    case gatewayTimeout
    /// With an error, because the policy forbids a request to the server.
    case notCached
}

extension CacheVerdict {
    /// Decides how a request is answered.
    /// - Parameters:
    ///   - policy: the cache policy of the request.
    ///   - method: the method of the request.
    ///   - request: the fields of the request.
    ///   - stored: the head of the stored response; nil for none.
    ///   - now: the current time.
    package init(
        policy: CachePolicy, method: HTTPMethod, request: HTTPFields, stored: CachedHead?,
        now: HTTPDate
    ) {
        guard !CacheRules.bypasses(method, request) else {
            self = policy == .returnCacheDataDontLoad ? .notCached : .fetch(stores: false)
            return
        }
        let stores = method == .get
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData:
            self = .fetch(stores: stores)
        case .returnCacheDataElseLoad:
            self = stored == nil ? .fetch(stores: stores) : .serve(revalidates: false)
        case .returnCacheDataDontLoad:
            self = stored == nil ? .notCached : .serve(revalidates: false)
        case .reloadRevalidatingCacheData:
            self = stored?.hasValidator == true ? .validate : .fetch(stores: stores)
        case .useProtocolCachePolicy:
            self = Self.byProtocol(CacheDirectives(request), stored, now, stores)
        }
    }

    private static func byProtocol(
        _ request: CacheDirectives, _ stored: CachedHead?, _ now: HTTPDate, _ stores: Bool
    ) -> CacheVerdict {
        let fetch: CacheVerdict =
            request.onlyIfCached ? .gatewayTimeout : .fetch(stores: stores && !request.noStore)
        guard let stored else { return fetch }
        let response = stored.directives
        let ask: CacheVerdict =
            request.onlyIfCached ? .gatewayTimeout : stored.hasValidator ? .validate : fetch
        if request.noCache || response.noCache { return ask }
        let age = stored.age(at: now)
        if let maxAge = request.maxAge, age > maxAge { return ask }
        let staleness = stored.staleness(at: now)
        // A lifetime of zero seconds is over immediately.
        let isFresh = staleness < 0
        if isFresh {
            guard let wanted = request.minFresh else { return .serve(revalidates: false) }
            return -staleness >= wanted ? .serve(revalidates: false) : ask
        }
        if response.mustRevalidate { return ask }
        if let maxStale = request.maxStale, staleness <= maxStale {
            return .serve(revalidates: false)
        }
        if let allowed = response.staleWhileRevalidate, staleness <= allowed,
            request.maxAge == nil, request.minFresh == nil, !request.onlyIfCached
        {
            return .serve(revalidates: true)
        }
        return ask
    }

    /// Whether a stored response may answer if the server cannot be reached, or fails with 500,
    /// 502, 503 or 504 (RFC 5861 section 4).
    package static func servesOnError(
        request: HTTPFields, stored: CachedHead, now: HTTPDate
    ) -> Bool {
        let response = stored.directives
        guard !response.mustRevalidate, !response.noCache else { return false }
        let staleness = stored.staleness(at: now)
        let allowed = [CacheDirectives(request).staleIfError, response.staleIfError].compactMap(
            \.self)
        return allowed.contains { staleness <= $0 }
    }

    package static func isServerFailure(_ status: HTTPStatus) -> Bool {
        switch status.code {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}

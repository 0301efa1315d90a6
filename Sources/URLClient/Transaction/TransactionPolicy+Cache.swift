internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser
internal import ToolkitSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// The cache (RFC 9111).
extension TransactionPolicy {
    /// The cache if it applies to the request: data tasks with GET or HEAD and no content.
    func cache(for request: ClientRequest, _ context: TransactionContext) -> ClientCache? {
        guard let cache = configuration.cache, !context.isDownload,
            request.method == .get || request.method == .head, request.body.isNone,
            !context.memory.ignoresCache
        else { return nil }
        return cache
    }

    static func cacheURL(_ request: ClientRequest) -> String {
        (try? request.wire.get().text) ?? request.url.absoluteString
    }

    /// Identifies the user of a request: a response that was stored for one user does not answer
    /// another. A client certificate identifies a user, too.
    /// - Parameter identity: the credential that the session adds.
    func cacheUser(
        _ identity: String?, _ request: ClientRequest, _ context: TransactionContext
    ) -> String? {
        guard let certificate = (request.tls ?? configuration.tls).clientCertificate,
            let origin = request.origin, origin.isSecure, context.isFirstOrigin(origin)
        else { return identity }
        let credential = identity ?? request.fields[.authorization] ?? ""
        return "certificate \(certificate.certificate.digest) \(credential)"
    }

    func policy(of request: ClientRequest) -> CachePolicy {
        request.cachePolicy ?? configuration.cachePolicy
    }

    /// Handles a request that the session's cache does not apply to.
    func withoutCache(
        _ request: ClientRequest, _ context: inout TransactionContext
    ) -> TransactionStep {
        switch policy(of: request) {
        case .returnCacheDataDontLoad: .fail(notCached(request))
        case .reloadIgnoringLocalAndRemoteCacheData: proceed(pastCaches(request), &context)
        default: proceed(request, &context)
        }
    }

    private func notCached(_ request: ClientRequest) -> ClientError {
        ClientError(.notCached, "no stored response", url: request.url)
    }

    /// The request with the fields that make other caches forward it.
    private func pastCaches(_ request: ClientRequest) -> ClientRequest {
        var request = request
        request.fields[.cacheControl] = "no-cache"
        request.fields[.pragma] = "no-cache"
        return request
    }

    /// Answers a request from the cache, or sends it.
    func answer(
        _ request: ClientRequest, _ stored: ClientCache.Stored?,
        _ context: inout TransactionContext
    ) -> TransactionStep {
        let now = clock()
        let policy = policy(of: request)
        let verdict = CacheVerdict(
            policy: policy, method: request.method, request: request.fields, stored: stored?.head,
            now: now)
        context.memory.validating = verdict == .validate ? stored : nil
        context.memory.fallback = Self.isFallback(verdict, policy) ? stored : nil
        switch (verdict, stored) {
        case (.serve(let revalidates), let stored?):
            var answer = storedAnswer(stored, request, now)
            if revalidates { answer.revalidation = revalidation(of: stored, context) }
            return .serve(answer)
        case (.validate, let stored?):
            var request = request
            stored.head.addValidators(to: &request.fields)
            return proceed(request, &context)
        case (.notCached, _): return .fail(notCached(request))
        case (.gatewayTimeout, _):
            let response = ClientResponse(
                url: request.url, status: .gatewayTimeout, fields: [.contentLength: "0"])
            return .serve(StoredAnswer(response: response, content: .bytes([])))
        case (_, _) where policy == .reloadIgnoringLocalAndRemoteCacheData:
            return proceed(pastCaches(request), &context)
        default: return proceed(request, &context)
        }
    }

    /// Whether a stored response may answer if the server fails.
    private static func isFallback(_ verdict: CacheVerdict, _ policy: CachePolicy) -> Bool {
        switch (verdict, policy) {
        case (_, .reloadIgnoringLocalCacheData), (_, .reloadIgnoringLocalAndRemoteCacheData): false
        case (.validate, _), (.fetch(stores: true), _): true
        default: false
        }
    }

    private func storedAnswer(
        _ stored: ClientCache.Stored, _ request: ClientRequest, _ now: HTTPDate
    ) -> StoredAnswer {
        let content = request.method == .head ? .bytes([]) : stored.content
        var fields = stored.head.fields
        fields[.age] = "\(stored.head.age(at: now))"
        var response = ClientResponse(
            url: request.url, status: stored.head.status, version: stored.head.version,
            fields: fields)
        response.trailers = stored.head.trailers
        response.expectedLength = content.count
        response.isFromCache = true
        return StoredAnswer(response: response, content: content)
    }

    private func revalidation(
        of stored: ClientCache.Stored, _ context: TransactionContext
    ) -> StoredAnswer.Revalidation {
        var request = context.request
        request.cachePolicy = .reloadRevalidatingCacheData
        // The new task begins at this origin. If a redirect led to it, it must not get the
        // certificate.
        if let origin = request.origin, !context.isFirstOrigin(origin) {
            var tls = request.tls ?? configuration.tls
            if tls.clientCertificate.take() != nil { request.tls = tls }
        }
        return StoredAnswer.Revalidation(
            key: "\(stored.head.variant) \(stored.head.url)", request: request)
    }

    // MARK: after the head of a response

    /// The step, if the cache decides it; nil otherwise. Responses to unsafe requests invalidate
    /// stored ones.
    /// - Parameter isAuthenticated: whether the response is from the verified server; without TLS
    ///   it counts as such.
    func cached(
        _ response: ClientResponse, _ request: ClientRequest, _ context: inout TransactionContext,
        isAuthenticated: Bool
    ) -> TransactionStep? {
        guard let cache = configuration.cache else { return nil }
        if context.memory.validating != nil || context.memory.fallback != nil,
            let step = confirmed(
                response, request, &context, cache, isAuthenticated: isAuthenticated)
        {
            return step
        }
        if !request.method.isSafe {
            let urls = CacheRules.invalidated(
                by: request.method, url: Self.cacheURL(request), status: response.status,
                response: response.fields)
            for url in urls { cache.invalidate(url) }
        }
        return nil
    }

    /// Serves the stored response if the new one confirms it, or is a server error.
    private func confirmed(
        _ response: ClientResponse, _ request: ClientRequest, _ context: inout TransactionContext,
        _ cache: ClientCache, isAuthenticated: Bool
    ) -> TransactionStep? {
        let now = clock()
        let (validating, fallback) = (
            context.memory.validating.take(), context.memory.fallback.take()
        )
        if response.status == .notModified, let stored = validating {
            guard stored.head.isConfirmed(by: response.fields) else {
                // The 304 is not about this stored response. Send the request again without it.
                if isAuthenticated {
                    cache.invalidate(stored.head.url)
                } else {
                    context.memory.ignoresCache = true
                }
                return .follow(context.request, .retry)
            }
            let head = stored.head.freshened(
                by: response.fields, requestTime: context.memory.requestTime, responseTime: now)
            if isAuthenticated { keep(head, of: stored, for: request, cache) }
            let fresh = ClientCache.Stored(head: head, content: stored.content)
            return .serve(storedAnswer(fresh, request, now))
        }
        if CacheVerdict.isServerFailure(response.status), let stored = fallback,
            CacheVerdict.servesOnError(request: request.fields, stored: stored.head, now: now)
        {
            return .serve(storedAnswer(stored, request, now))
        }
        return nil
    }

    /// Updates a stored response after a 304, unless the request or the response forbids storing.
    private func keep(
        _ head: CachedHead, of stored: ClientCache.Stored, for request: ClientRequest,
        _ cache: ClientCache
    ) {
        // The response may answer this request, but no later one (RFC 9111 section 5.2.2.5).
        guard CacheRules.mayStay(head) else { return cache.invalidate(head.url) }
        // A request with `no-store` stores nothing (section 5.2.1.5).
        if !CacheDirectives(request.fields).noStore { cache.freshen(stored, head) }
    }

    /// A stored response in place of a network error (RFC 5861 section 4).
    func fallback(_ context: TransactionContext, _ error: ClientError) -> StoredAnswer? {
        guard error.kind != .cancelled, let stored = context.memory.fallback else { return nil }
        let now = clock()
        let request = context.request
        guard CacheVerdict.servesOnError(request: request.fields, stored: stored.head, now: now)
        else { return nil }
        return storedAnswer(stored, request, now)
    }

    /// The plan to store a response; nil if it must not be stored.
    func storagePlan(
        _ response: ClientResponse, _ request: ClientRequest, _ context: TransactionContext
    ) -> StoragePlan? {
        guard request.method == .get, Self.isWorthwhile(response),
            let cache = cache(for: request, context), isDeliveredPlain(response, request)
        else { return nil }
        let asked = context.request
        guard
            CacheRules.isStorable(
                method: request.method, request: asked.fields, status: response.status,
                response: response.fields),
            !CacheRules.bypasses(asked.method, asked.fields),
            let vary = CacheRules.varyNames(response.fields)
        else { return nil }
        let isDecoded = response.fields.contains(.contentEncoding)
        let fields =
            isDecoded
            ? CacheRules.storedAsDelivered(response.fields) : CacheRules.stored(response.fields)
        let announced = isDecoded ? nil : response.announcedLength
        guard cache.hasRoom(for: announced) else { return nil }
        let head = CachedHead(
            url: Self.cacheURL(request), status: response.status, version: response.version,
            fields: fields, requestTime: context.memory.requestTime, responseTime: clock(),
            vary: vary, variant: CacheRules.variant(of: context.memory.cacheFields, names: vary))
        return StoragePlan(
            head: head, announced: announced, moment: context.memory.cacheMoment)
    }

    /// Whether the delivered content has no content coding left. Coded content is not stored: the next
    /// request may want it without the coding (RFC 9110 section 8.4).
    private func isDeliveredPlain(_ response: ClientResponse, _ request: ClientRequest) -> Bool {
        guard response.head.value(of: "content-encoding") != nil else { return true }
        // An unknown coding is never decoded.
        guard let codings = Decoding.codings(of: response) else { return false }
        return codings.isEmpty || request.decodesContent ?? configuration.decodesContent
    }

    /// Whether storing a response is useful. Without any of these fields it is stale immediately
    /// and cannot be revalidated. They are searched in the bytes of the head, so most heads are not
    /// parsed.
    private static func isWorthwhile(_ response: ClientResponse) -> Bool {
        response.head.value(of: "cache-control") != nil || response.head.value(of: "etag") != nil
            || response.head.value(of: "expires") != nil
            || response.head.value(of: "last-modified") != nil
    }
}

extension TLSOptions.Source {
    /// Identifies the certificate.
    fileprivate var digest: String {
        switch self {
        case .file(let path): Hex.text(of: Crypto.sha256(Array("file \(path)".utf8)))
        case .pem(let bytes): Hex.text(of: Crypto.sha256(bytes))
        }
    }
}

internal import HTTPCodecs
internal import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// The cache between transactions. RFC 9111.
extension TransactionPolicy {
    /// The cache, where it has a say: data tasks and what reads only.
    func cache(for request: ClientRequest, _ context: TransactionContext) -> ClientCache? {
        guard let cache = configuration.cache, !(context.task is DownloadTask),
            request.method == .get || request.method == .head, request.body.isNone,
            !context.memory.withLock({ $0.ignoresCache })
        else { return nil }
        return cache
    }

    static func cacheURL(_ request: ClientRequest) -> String {
        (try? request.wire.get().text) ?? request.url.absoluteString
    }

    func policy(of request: ClientRequest) -> CachePolicy {
        request.cachePolicy ?? configuration.cachePolicy
    }

    /// A request that the session's cache has no say in.
    func withoutCache(_ request: ClientRequest, _ context: TransactionContext) -> Decision<
        TransactionStart
    > {
        switch policy(of: request) {
        case .returnCacheDataDontLoad: .now(.fail(notCached(request)))
        case .reloadIgnoringLocalAndRemoteCacheData:
            .now(proceed(pastCaches(request), context))
        default: .now(proceed(request, context))
        }
    }

    private func notCached(_ request: ClientRequest) -> ClientError {
        ClientError(.notCached, "no stored response", url: request.url)
    }

    /// The request as caches on the way hand it on.
    private func pastCaches(_ request: ClientRequest) -> ClientRequest {
        var request = request
        request.fields[.cacheControl] = "no-cache"
        request.fields[.pragma] = "no-cache"
        return request
    }

    /// Answers a request, or has it go on.
    func answer(
        _ request: ClientRequest, _ stored: ClientCache.Stored?, _ context: TransactionContext
    ) -> TransactionStart {
        let now = clock()
        let policy = policy(of: request)
        let verdict = CacheVerdict(
            policy: policy, method: request.method, request: request.fields, stored: stored?.head,
            now: now)
        context.memory.withLock { memory in
            memory.validating = verdict == .validate ? stored : nil
            memory.fallback = Self.isFallback(verdict, policy) ? stored : nil
        }
        switch (verdict, stored) {
        case (.serve(let revalidates), let stored?):
            if revalidates { revalidate(stored, context) }
            return serve(stored, request, now)
        case (.validate, let stored?):
            var request = request
            stored.head.addValidators(to: &request.fields)
            return proceed(request, context)
        case (.notCached, _): return .fail(notCached(request))
        case (.gatewayTimeout, _):
            let response = ClientResponse(
                url: request.url, status: .gatewayTimeout, fields: [.contentLength: "0"])
            return .serve(response, content: .bytes([]))
        case (_, _) where policy == .reloadIgnoringLocalAndRemoteCacheData:
            return proceed(pastCaches(request), context)
        default: return proceed(request, context)
        }
    }

    /// Whether what is stored may answer if the server fails.
    private static func isFallback(_ verdict: CacheVerdict, _ policy: CachePolicy) -> Bool {
        switch (verdict, policy) {
        case (_, .reloadIgnoringLocalCacheData), (_, .reloadIgnoringLocalAndRemoteCacheData): false
        case (.validate, _), (.fetch(stores: true), _): true
        default: false
        }
    }

    private func serve(
        _ stored: ClientCache.Stored, _ request: ClientRequest, _ now: HTTPDate
    ) -> TransactionStart {
        .serve(response(stored, request, now), content: content(stored, request))
    }

    private func content(_ stored: ClientCache.Stored, _ request: ClientRequest) -> StoredContent {
        request.method == .head ? .bytes([]) : stored.content
    }

    private func response(
        _ stored: ClientCache.Stored, _ request: ClientRequest, _ now: HTTPDate
    ) -> ClientResponse {
        var fields = stored.head.fields
        fields[.age] = "\(stored.head.age(at: now))"
        var response = ClientResponse(
            url: request.url, status: stored.head.status, version: stored.head.version,
            fields: fields)
        response.trailers = stored.head.trailers
        response.expectedLength = content(stored, request).count
        response.isFromCache = true
        return response
    }

    /// Asks the server for the next time (RFC 5861 section 3), once however many are answered
    /// meanwhile. Nobody has made this task, so nobody is told of it.
    private func revalidate(_ stored: ClientCache.Stored, _ context: TransactionContext) {
        guard let session = context.task.shared.withLock({ $0.session }) else { return }
        let key = "\(stored.head.variant) \(stored.head.url)"
        guard revalidations.withLock({ $0.insert(key).inserted }) else { return }
        var request = context.request
        request.cachePolicy = .reloadRevalidatingCacheData
        let revalidations = revalidations
        let task = session.adopt(
            DataTask(
                session.nextIdentifier(), request, session.loop, events: nil, wantsMetrics: false,
                completion: { _, _ in revalidations.withLock { _ = $0.remove(key) } }),
            ContentSink())
        task.resume()
    }

    // MARK: on the way in

    /// The decision, where the cache has it.
    func cached(
        _ response: ClientResponse, _ request: ClientRequest, _ context: TransactionContext
    ) -> TransactionDecision? {
        guard let cache = configuration.cache else { return nil }
        if context.memory.withLock({ $0.hasOverrides }),
            let decision = confirmed(response, request, context, cache)
        {
            return decision
        }
        if !request.method.isSafe {
            let urls = CacheRules.invalidated(
                by: request.method, url: Self.cacheURL(request), status: response.status,
                response: response.fields)
            for url in urls { cache.invalidate(url) }
        }
        return nil
    }

    /// The stored response that this one confirms or fails to replace.
    private func confirmed(
        _ response: ClientResponse, _ request: ClientRequest, _ context: TransactionContext,
        _ cache: ClientCache
    ) -> TransactionDecision? {
        let now = clock()
        let (validating, fallback, requestTime) = context.memory.withLock { memory in
            (memory.validating.take(), memory.fallback.take(), memory.requestTime)
        }
        if response.status == .notModified, let stored = validating {
            guard stored.head.isConfirmed(by: response.fields) else {
                context.memory.withLock { $0.ignoresCache = true }
                return .follow(context.request, .retry)
            }
            let head = stored.head.freshened(
                by: response.fields, requestTime: requestTime, responseTime: now)
            cache.freshen(stored, head)
            let fresh = ClientCache.Stored(head: head, content: stored.content)
            return .serve(
                self.response(fresh, request, now), content: content(fresh, request))
        }
        if CacheVerdict.isServerFailure(response.status), let stored = fallback,
            CacheVerdict.servesOnError(request: request.fields, stored: stored.head, now: now)
        {
            return .serve(self.response(stored, request, now), content: content(stored, request))
        }
        return nil
    }

    /// A stored response in place of an error of the network (RFC 5861 section 4).
    func fallback(_ context: TransactionContext, _ error: ClientError) -> TransactionRecovery? {
        guard error.kind != .cancelled, let stored = context.memory.withLock({ $0.fallback }) else {
            return nil
        }
        let now = clock()
        let request = context.request
        guard CacheVerdict.servesOnError(request: request.fields, stored: stored.head, now: now)
        else { return nil }
        return .serve(response(stored, request, now), content: content(stored, request))
    }

    /// Takes the content of a response that may be kept.
    func recorder(
        _ response: ClientResponse, _ request: ClientRequest, _ context: TransactionContext
    ) -> (any ContentRecorder)? {
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
        let (requestTime, asking) = context.memory.withLock { ($0.requestTime, $0.cacheFields) }
        var fields = CacheRules.stored(response.fields)
        let isDecoded = response.fields.contains(.contentEncoding)
        if isDecoded {
            // What is kept is what was delivered.
            fields.remove(.contentEncoding)
            fields.remove(.contentLength)
        }
        let head = CachedHead(
            url: Self.cacheURL(request), status: response.status, version: response.version,
            fields: fields, requestTime: requestTime, responseTime: clock(), vary: vary,
            variant: CacheRules.variant(of: asking, names: vary))
        return cache.recorder(head, announced: isDecoded ? nil : response.announcedLength)
    }

    /// Whether no content coding is left on what is delivered, and so on what is kept. Coded
    /// content is not kept: the next request may want it without the coding (RFC 9110 section 8.4).
    private func isDeliveredPlain(_ response: ClientResponse, _ request: ClientRequest) -> Bool {
        guard response.head.value(of: "content-encoding") != nil else { return true }
        // One that is not known stays on, whatever is asked for.
        guard let codings = Decoding.codings(of: response) else { return false }
        return codings.isEmpty || request.decodesContent ?? configuration.decodesContent
    }

    /// Without any of these fields a response is stale at once, and nobody can ask whether it still
    /// holds. They are looked for in the bytes; most responses need not be read for it.
    private static func isWorthwhile(_ response: ClientResponse) -> Bool {
        response.head.value(of: "cache-control") != nil || response.head.value(of: "etag") != nil
            || response.head.value(of: "expires") != nil
            || response.head.value(of: "last-modified") != nil
    }
}

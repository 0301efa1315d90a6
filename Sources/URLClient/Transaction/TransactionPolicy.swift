internal import HTTPCodecs
internal import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What happens between the transactions of a session's tasks: the rules for strict transport, cache,
/// cookies, credentials, redirects and retries, in this order on the way out, and backwards on the way
/// in.
///
/// The rules themselves are values that know neither sockets nor the time; this hands them both.
final class TransactionPolicy: TransactionDecider {
    let configuration: ClientConfiguration
    let authenticator: ClientAuthenticator
    let clock: @Sendable () -> HTTPDate
    private let random: @Sendable () -> Double
    /// What the server is asked about in the background.
    let revalidations = Locked(Set<String>())

    init(
        _ configuration: ClientConfiguration,
        clock: @escaping @Sendable () -> HTTPDate = { WallClock.now },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.configuration = configuration
        authenticator = ClientAuthenticator(
            configuration.authentication, proxy: configuration.proxy)
        (self.clock, self.random) = (clock, random)
    }

    // MARK: on the way out

    func begin(_ request: ClientRequest, in context: TransactionContext) -> Decision<
        TransactionStart
    > {
        let request = withCookies(upgraded(request, context))
        guard authenticator.lacksToken(request) else { return lookUp(request, context) }
        // For whom a response was stored is known only with the token.
        return .later {
            if let error = await self.authenticator.fetchToken() { return .fail(error) }
            switch self.lookUp(request, context) {
            case .now(let start): return start
            case .later(let wait): return await wait()
            }
        }
    }

    private func lookUp(_ request: ClientRequest, _ context: TransactionContext) -> Decision<
        TransactionStart
    > {
        guard let cache = cache(for: request, context) else {
            return withoutCache(request, context)
        }
        if policy(of: request) == .useProtocolCachePolicy,
            cache.isEmpty, !request.fields.contains(.cacheControl),
            authenticator.addsNothing(to: request)
        {
            return .now(.send(first(request, context)))
        }
        let url = Self.cacheURL(request)
        var fields = request.fields
        if let user = authenticator.identity(request, context) { fields[.authorization] = user }
        context.memory.withLock { [fields] in $0.cacheFields = fields }
        if let stored = cache.found(url, fields) { return .now(answer(request, stored, context)) }
        guard cache.asksDisk else { return .now(answer(request, nil, context)) }
        return .later { [fields] in
            self.answer(request, await cache.lookUp(url, fields), context)
        }
    }

    /// A request for which nothing is stored and nothing known.
    private func first(_ request: ClientRequest, _ context: TransactionContext) -> ClientRequest {
        let now = clock()
        context.memory.withLock { memory in
            memory.cacheFields = request.fields
            memory.beginTransaction()
            memory.requestTime = now
        }
        return request
    }

    private func upgraded(_ request: ClientRequest, _ context: TransactionContext) -> ClientRequest
    {
        guard let hosts = configuration.strictTransport,
            let text = hosts.upgraded(request.url.absoluteString, now: clock()),
            let url = URL(string: text)
        else { return request }
        let isFirstOrigin = request.origin == context.originalRequest.origin
        var request = request
        request.url = url
        if isFirstOrigin, let origin = request.origin {
            context.memory.withLock { $0.upgradedOrigin = origin }
        }
        return request
    }

    /// Cookies that the application has set itself are the only ones.
    private func withCookies(_ request: ClientRequest) -> ClientRequest {
        guard let cookies = configuration.cookies, configuration.setsCookies, request.usesCookies,
            !cookies.isEmpty, !request.fields.contains(.cookie),
            let place = CookieContext(request, configuration),
            let value = cookies.field(for: place, now: clock())
        else { return request }
        var request = request
        request.fields[.cookie] = value.text
        if let bytes = value.bytes { request.cookieBytes = bytes }
        return request
    }

    /// The request goes to the server, with what the session adds to it.
    func proceed(_ request: ClientRequest, _ context: TransactionContext) -> TransactionStart {
        let now = clock()
        return context.memory.withLock { memory in
            var request = request
            memory.requestTime = now
            authenticator.authorize(&request, &memory)
            // A token may have come since the cache was asked: the answer is for who has it.
            if configuration.cache != nil, let credential = memory.credential {
                memory.cacheFields[.authorization] = credential.identity
            }
            return .send(request)
        }
    }

    func proxyAuthorization(for request: ClientRequest, in context: TransactionContext) -> String? {
        authenticator.proxyAuthorization(for: request, context)
    }

    // MARK: on the way in

    func decide(
        _ response: ClientResponse, to request: ClientRequest, in context: TransactionContext
    ) -> Decision<TransactionDecision> {
        // What a proxy says is nothing that the server has said.
        if response.status != .proxyAuthenticationRequired { learn(response, request, context) }
        if let decision = cached(response, request, context) { return .now(decision) }
        if authenticator.mayAnswer(response, context) {
            return .later { await self.authenticator.answer(response, context) }
        }
        if response.status.class == .redirection,
            let decision = redirected(response, request, context)
        {
            return .now(decision)
        }
        if let decision = retried(response, context) { return .now(decision) }
        return .now(.deliver(recorder: recorder(response, request, context)))
    }

    private func learn(
        _ response: ClientResponse, _ request: ClientRequest, _ context: TransactionContext
    ) {
        if let hosts = configuration.strictTransport, let origin = request.origin,
            response.head.value(of: "strict-transport-security") != nil,
            // Who could be anybody says nothing of a host (RFC 6797 section 8.1).
            (request.tls ?? configuration.tls).verifiesServer,
            !context.task.loop.overruled.contains(origin)
        {
            hosts.receive(response.fields, from: origin, now: clock())
        }
        if let cookies = configuration.cookies, configuration.setsCookies, request.usesCookies,
            response.head.value(of: "set-cookie") != nil,
            let place = CookieContext(request, configuration)
        {
            cookies.receive(
                response.head.rawValues(of: "set-cookie"), from: place, now: clock())
        }
        authenticator.receive(response, to: request)
    }

    private func redirected(
        _ response: ClientResponse, _ request: ClientRequest, _ context: TransactionContext
    ) -> TransactionDecision? {
        // The request as it went out, but for what the session has added.
        var current = context.request
        current.url = request.url
        let policy = configuration.redirects
        let verdict = context.memory.withLock { memory in
            var chain = memory.redirects ?? RedirectChain(policy: policy)
            defer { memory.redirects = chain }
            return chain.verdict(
                method: current.method, url: current.url.absoluteString, fields: current.fields,
                hasOneShotBody: !current.body.isReplayable, status: response.status,
                locations: response.head.rawValues(of: "location").map(Self.locationText))
        }
        switch verdict {
        case .deliver: return nil
        case .refuse(let fault): return .fail(ClientError(fault, at: current.url))
        case .follow(let redirect):
            guard let url = URL(string: redirect.target) else {
                return .fail(ClientError(.redirectRefused, "to \(redirect.target)"))
            }
            var next = current
            (next.method, next.url, next.fields) = (redirect.method, url, redirect.fields)
            if !redirect.keepsBody { next.body = .none }
            // What was chosen for one host says nothing of another.
            if redirect.crossesOrigin {
                if !redirect.isUpgrade { next.connectTo = nil }
                next.credential = nil
            } else if let own = current.ownCredential {
                // A reference that is absolute brings no user.
                next.credential = own
            }
            return .follow(next, .redirect)
        }
    }

    /// Bytes that are no UTF-8 mean themselves, and not the characters of another encoding.
    private static func locationText(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? bytes.map { byte in
                byte < 0x80
                    ? String(Unicode.Scalar(byte)) : PercentEncoding.encode(bytes: [byte])
            }.joined()
    }

    private func retried(
        _ response: ClientResponse, _ context: TransactionContext
    ) -> TransactionDecision? {
        guard !configuration.retries.statuses.isEmpty,
            let retryAfter = response.head.value(of: "retry-after")
        else { return nil }
        let request = context.request
        let delay = configuration.retries.delay(
            after: response.status, retryAfter: retryAfter,
            method: request.method, isReplayable: request.body.isReplayable,
            count: context.retryCount, now: clock())
        return delay.map { .follow(request, .retry, after: $0) }
    }

    func tunnelRefused(
        _ response: ClientResponse, to request: ClientRequest, in context: TransactionContext
    ) -> Decision<TunnelDecision> {
        guard authenticator.mayAnswer(response, context) else { return .now(.fail(nil)) }
        return .later {
            switch await self.authenticator.answer(response, context) {
            case .follow(let next, _, _): .again(next)
            case .fail(let error): .fail(error)
            default: .fail(nil)
            }
        }
    }

    func recover(
        from error: ClientError, of request: ClientRequest, in context: TransactionContext
    ) -> Decision<TransactionRecovery> {
        if let answer = fallback(context, error) { return .now(answer) }
        switch error.kind {
        // Truncated before there was a response: the head was cut off.
        case .connectionLost, .emptyResponse, .truncated: break
        // What a server leaves undone when it closes an HTTP/2 connection has this error of libcurl.
        case .badResponse where error.curlCode == 16: break
        case .cannotConnect, .cannotFindHost, .timedOut(.connect), .timedOut(.tls):
            guard configuration.retries.retriesConnecting else { return .now(.giveUp) }
        default: return .now(.giveUp)
        }
        let delay = configuration.retries.delay(
            after: error.isSafeToRetry ? .nothingSent : .unknown, method: request.method,
            isReplayable: request.body.isReplayable, count: context.retryCount, random: random())
        return .now(delay.map { .retry(context.request, after: $0) } ?? .giveUp)
    }
}

extension CookieContext {
    fileprivate init?(_ request: ClientRequest, _ configuration: ClientConfiguration) {
        guard case .success(let wire) = request.wire else { return nil }
        let main = request.mainDocumentURL.flatMap { try? WireURL($0.absoluteString) }
        self.init(wire, mainHost: main?.origin.host, isSafe: request.method.isSafe)
        hasProxy =
            !origin.isSecure && (request.proxy ?? configuration.proxy).proxy(for: origin) != nil
    }
}

extension ClientError {
    /// What an application is told of a redirect that was not followed.
    init(_ fault: RedirectFault, at url: URL) {
        let chain = fault.history.joined(separator: " -> ")
        let text = "to \(fault.location), after \(chain)"
        switch fault.kind {
        case .tooMany: self.init(.tooManyRedirects, text, url: url)
        case .unsupportedScheme: self.init(.unsupportedURL, "a redirect \(text)", url: url)
        case .malformed: self.init(.badURL, "a redirect \(text)", url: url)
        case .downgrade: self.init(.redirectRefused, "from https to http, \(text)", url: url)
        case .userInformation:
            self.init(.redirectRefused, "with a user name, \(text)", url: url)
        }
    }
}

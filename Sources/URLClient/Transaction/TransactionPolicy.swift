internal import HTTPCodecs
package import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The rules between the transactions of a session's tasks: strict transport, cache, cookies,
/// credentials, redirects and retries, in this order for requests, and in reverse for responses.
///
/// The policy knows neither tasks nor the loop. It gets the state of a task as
/// ``TransactionContext``, and facts of the session as arguments; each method returns a
/// ``TransactionStep``. If the policy needs an answer from outside, the step is a question, and
/// ``answered(_:_:)`` continues with the answer.
package final class TransactionPolicy: Sendable {
    package let configuration: ClientConfiguration
    let authenticator: ClientAuthenticator
    let clock: @Sendable () -> HTTPDate
    private let random: @Sendable () -> Double

    convenience init(_ configuration: ClientConfiguration) {
        self.init(
            configuration, clock: { WallClock.now }, random: { Double.random(in: 0..<1) })
    }

    package init(
        _ configuration: ClientConfiguration, clock: @escaping @Sendable () -> HTTPDate,
        random: @escaping @Sendable () -> Double
    ) {
        self.configuration = configuration
        authenticator = ClientAuthenticator(
            configuration.authentication, proxy: configuration.proxy)
        (self.clock, self.random) = (clock, random)
    }

    // MARK: before a transaction

    /// Decides whether a request is sent, answered from the cache, or refused.
    func begin(
        _ request: ClientRequest, _ context: inout TransactionContext
    ) -> TransactionStep {
        // From here on the request has its final origin: logins are remembered by origin.
        context.request = upgraded(request, &context)
        let request = withCookies(context.request)
        guard authenticator.lacksToken(request) else { return lookUp(request, &context) }
        // The token is needed before the cache is searched, because the cache separates responses
        // by user.
        context.memory.pending = .token(request)
        return .ask(.token(refused: nil))
    }

    /// Continues with the answer to a question.
    func answered(
        _ answer: TransactionAnswer, _ context: inout TransactionContext
    ) -> TransactionStep {
        switch (context.memory.pending.take(), answer) {
        case (.token(let request), .token(let token)):
            if case .failure(let error) = token { return .fail(error) }
            return lookUp(request, &context)
        case (.lookUp(let request), .storedResponse(let stored)):
            return self.answer(request, stored, &context)
        case (.renewal(let refused), .token(let token)):
            return authenticator.renewed(token, refused: refused, context)
        case (.challenge(let round), .challenge(let answer)):
            return authenticator.answered(answer, to: round, &context)
        default:
            return .fail(ClientError(.internalFailure, "an answer without a question"))
        }
    }

    private func lookUp(
        _ request: ClientRequest, _ context: inout TransactionContext
    ) -> TransactionStep {
        guard let cache = cache(for: request, context) else {
            return withoutCache(request, &context)
        }
        context.memory.cacheMoment = cache.moment
        if policy(of: request) == .useProtocolCachePolicy,
            cache.isEmpty, !request.fields.contains(.cacheControl),
            authenticator.addsNothing(to: request)
        {
            return .send(first(request, &context))
        }
        let url = Self.cacheURL(request)
        var fields = request.fields
        let identity = authenticator.identity(request, context.memory)
        if let user = cacheUser(identity, request, context) { fields[.authorization] = user }
        context.memory.cacheFields = fields
        if let stored = cache.found(url, fields) { return answer(request, stored, &context) }
        guard cache.asksDisk else { return answer(request, nil, &context) }
        context.memory.pending = .lookUp(request)
        return .ask(.storedResponse(url: url, fields))
    }

    /// Prepares a request for which neither the cache nor the authenticator has anything.
    private func first(
        _ request: ClientRequest, _ context: inout TransactionContext
    ) -> ClientRequest {
        context.memory.cacheFields = request.fields
        if let user = cacheUser(nil, request, context) {
            context.memory.cacheFields[.authorization] = user
        }
        context.memory.beginTransaction()
        context.memory.requestTime = clock()
        return request
    }

    func upgraded(
        _ request: ClientRequest, _ context: inout TransactionContext
    ) -> ClientRequest {
        guard let hosts = configuration.strictTransport,
            let text = hosts.upgraded(request.url.absoluteString, now: clock()),
            let url = URL(string: text)
        else { return request }
        let isFirstOrigin = request.origin == context.originalRequest.origin
        var request = request
        request.url = url
        if isFirstOrigin, let origin = request.origin { context.memory.upgradedOrigin = origin }
        return request
    }

    /// Adds cookies, unless the application has set the Cookie field.
    func withCookies(_ request: ClientRequest) -> ClientRequest {
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

    /// Sends a request with the credential that the session adds to it.
    func proceed(
        _ request: ClientRequest, _ context: inout TransactionContext
    ) -> TransactionStep {
        var request = request
        context.memory.requestTime = clock()
        authenticator.authorize(&request, &context.memory)
        // A token may have arrived since the cache was searched: the response is stored for its user.
        if configuration.cache != nil, let credential = context.memory.login?.credential {
            context.memory.cacheFields[.authorization] = cacheUser(
                credential.identity, request, context)
        }
        return .send(request)
    }

    /// The request of a WebSocket's handshake: with cookies and the known credential. Neither cache
    /// nor redirects apply to it; challenges do.
    func handshake(
        _ request: ClientRequest, _ context: inout TransactionContext
    ) -> ClientRequest {
        context.request = upgraded(request, &context)
        var request = withCookies(context.request)
        authenticator.authorize(&request, &context.memory)
        return request
    }

    // MARK: after the head of a response

    /// Decides the next step after the head of a response.
    /// - Parameters:
    ///   - response: the response.
    ///   - request: the request as it was sent.
    ///   - isOverruled: whether the application has accepted this server's invalid certificate.
    func decide(
        _ response: ClientResponse, to request: ClientRequest, isOverruled: Bool,
        _ context: inout TransactionContext
    ) -> TransactionStep {
        // A proxy's 407 does not come from the server, so nothing is learned from it.
        if response.status != .proxyAuthenticationRequired || !authenticator.asksProxy(context) {
            learn(response, request, isOverruled: isOverruled)
        }
        // Without TLS a response counts as the server's.
        let isAuthenticated =
            request.origin?.isSecure != true || isVerified(request, isOverruled: isOverruled)
        if let step = cached(response, request, &context, isAuthenticated: isAuthenticated) {
            return step
        }
        if authenticator.mayAnswer(response, context, isForTunnel: false) {
            return authenticator.answer(response, &context)
        }
        if response.status.class == .redirection,
            let step = redirected(response, &context)
        {
            return step
        }
        if let step = retried(response, context) { return step }
        // A response of an unverified server is not stored: it would answer requests that verify
        // the server.
        return .deliver(isAuthenticated ? storagePlan(response, request, context) : nil)
    }

    /// Whether the server's certificate was verified.
    private func isVerified(_ request: ClientRequest, isOverruled: Bool) -> Bool {
        !isOverruled && request.tls?.verifiesServer ?? configuration.tls.verifiesServer
    }

    func learn(
        _ response: ClientResponse, _ request: ClientRequest, isOverruled: Bool
    ) {
        if let hosts = configuration.strictTransport, let origin = request.origin,
            response.head.value(of: "strict-transport-security") != nil,
            // A server that was not authenticated cannot set a policy (RFC 6797 section 8.1).
            isVerified(request, isOverruled: isOverruled)
        {
            hosts.receive(response.fields, from: origin, now: clock())
        }
        if let cookies = configuration.cookies, configuration.setsCookies, request.usesCookies,
            response.head.value(of: "set-cookie") != nil,
            let place = CookieContext(request, configuration)
        {
            cookies.receive(
                response.head.rawValues(of: "set-cookie"), from: place,
                policy: configuration.cookiePolicy, now: clock())
        }
        authenticator.receive(response, to: request)
    }

    private func redirected(
        _ response: ClientResponse, _ context: inout TransactionContext
    ) -> TransactionStep? {
        // The request without the fields that the session added.
        let current = context.request
        var chain = context.memory.redirects ?? RedirectChain(policy: configuration.redirects)
        let verdict = chain.verdict(
            method: current.method, url: current.url.absoluteString, fields: current.fields,
            hasOneShotBody: !current.body.isReplayable, status: response.status,
            locations: response.head.rawValues(of: "location").map(Self.locationText),
            upgraded: { self.configuration.strictTransport?.upgraded($0, now: self.clock()) })
        context.memory.redirects = chain
        switch verdict {
        case .deliver: return nil
        case .refuse(let fault): return .fail(ClientError(fault, at: current.url))
        case .follow(let redirect):
            guard let url = URL(string: redirect.target) else {
                return .fail(
                    ClientError(.redirectRefused, "to \(ClientError.shown(redirect.target))"))
            }
            var next = current
            (next.method, next.url, next.fields) = (redirect.method, url, redirect.fields)
            if !redirect.keepsBody { next.body = .none }
            // Settings for one host do not apply to another.
            if redirect.crossesOrigin {
                if !redirect.isUpgrade { next.connectTo = nil }
                next.credential = nil
            } else if let own = current.ownCredential {
                // An absolute reference omits the user information, which stays valid for the same
                // origin.
                next.credential = own
            }
            return .follow(next, .redirect)
        }
    }

    /// The value as text. If it is not UTF-8, its bytes beyond ASCII are percent-encoded.
    private static func locationText(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? bytes.map { byte in
                byte < 0x80
                    ? String(Unicode.Scalar(byte)) : PercentEncoding.encode(bytes: [byte])
            }.joined()
    }

    private func retried(
        _ response: ClientResponse, _ context: TransactionContext
    ) -> TransactionStep? {
        guard !configuration.retries.statuses.isEmpty else { return nil }
        let request = context.request
        let delay = configuration.retries.delay(
            after: response.status, retryAfter: response.head.value(of: "retry-after"),
            method: request.method, isReplayable: request.body.isReplayable,
            count: context.retryCount, now: clock(), random: random())
        return delay.map { .follow(request, .retry, after: $0) }
    }

    /// Decides the next step after a proxy refused a tunnel with 407. Nothing in that response comes
    /// from the server, so it is neither stored nor delivered.
    func tunnelRefused(
        _ response: ClientResponse, _ context: inout TransactionContext
    ) -> TransactionStep {
        guard authenticator.mayAnswer(response, context, isForTunnel: true) else { return .giveUp }
        return authenticator.answer(response, &context)
    }

    // MARK: after a failure

    /// How long to wait before a download continues; see
    /// ``RetryPolicy/delay(beforeContinuation:random:)``.
    func delay(beforeContinuation count: Int) -> Duration {
        configuration.retries.delay(beforeContinuation: count, random: random())
    }

    /// Decides the next step after a transaction failed before anything was delivered.
    func recover(
        from error: ClientError, of request: ClientRequest, _ context: TransactionContext
    ) -> TransactionStep {
        if let answer = fallback(context, error) { return .serve(answer) }
        switch error.kind {
        // Nothing was delivered, so `truncated` means that the head was cut off.
        case .connectionLost, .emptyResponse, .truncated: break
        // libcurl reports this when a server closes an HTTP/2 connection with unprocessed requests.
        case .badResponse where error.curlCode == 16: break
        // A reused connection has ended. libcurl cannot send a stream again, but another
        // transaction can open it again.
        case .bodyNotReplayable where request.body.isReplayable: break
        case .cannotConnect, .cannotFindHost, .timedOut(.connect), .timedOut(.tls):
            guard configuration.retries.retriesConnecting else { return .giveUp }
        default: return .giveUp
        }
        let delay = configuration.retries.delay(
            after: error.isSafeToRetry ? .nothingSent : .unknown, method: request.method,
            isReplayable: request.body.isReplayable, count: context.retryCount, random: random())
        return delay.map { .follow(context.request, .retry, after: $0) } ?? .giveUp
    }
}

extension ClientConfiguration {
    /// Whether an endpoint policy or a configured address may direct requests to another machine
    /// than the host.
    fileprivate func mayMove(_ origin: Origin) -> Bool {
        endpoints != nil
            || resolver.overrides.contains { $0.isFor(origin) }
    }
}

extension CookieContext {
    fileprivate init?(_ request: ClientRequest, _ configuration: ClientConfiguration) {
        guard case .success(let wire) = request.wire else { return nil }
        self.init(
            wire, mainHost: Self.mainHost(of: request.mainDocumentURL),
            isSafe: request.method.isSafe)
        guard !origin.isSecure else { return }
        let isProxied = (request.proxy ?? configuration.proxy).proxy(for: origin) != nil
        leavesMachine =
            isProxied || request.connectTo?.leavesMachine ?? configuration.mayMove(origin)
    }
}

extension ClientError {
    /// The error of a redirect that was not followed.
    init(_ fault: RedirectFault, at url: URL) {
        let chain = fault.history.joined(separator: " -> ")
        let text = "to \(Self.shown(fault.location)), after \(chain)"
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

internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser
internal import ToolkitSystem

/// Answers challenges for the tasks of one session, and remembers which credential each protection
/// space accepts.
///
/// It never waits. If it needs a token or the application's answer, it returns a question, and
/// ``answered(_:_:)`` continues with the answer.
final class ClientAuthenticator: Sendable {
    let options: AuthenticationOptions
    let proxy: ProxyPolicy
    private let tokens: BearerTokens?
    private let spaces = Locked(ProtectionSpaceCache())

    /// - Parameters:
    ///   - options: how the session authenticates.
    ///   - proxy: the proxy of requests that name none.
    init(_ options: AuthenticationOptions, proxy: ProxyPolicy = .direct) {
        (self.options, self.proxy) = (options, proxy)
        tokens = options.bearer.map { BearerTokens($0) }
    }

    /// Forgets all credentials, including those in the storage.
    func reset() {
        spaces.withLock { $0.removeAll() }
        options.credentials.removeAll()
        tokens?.reset()
    }

    // MARK: before a transaction

    /// Whether the session has neither tokens nor remembered logins to add to a request.
    func addsNothing(to request: ClientRequest) -> Bool {
        tokens == nil && spaces.withLock { $0.isEmpty }
    }

    /// Whether a request has to wait for a token.
    func lacksToken(_ request: ClientRequest) -> Bool {
        guard let tokens, request.ownCredential == nil, let origin = request.origin,
            tokens.covers(origin)
        else { return false }
        return tokens.current == nil && !request.fields.contains(.authorization)
    }

    /// Asks the source of tokens; the answer to ``TransactionQuestion/token(refused:)``.
    func token(refused: String?) async -> Result<String?, ClientError> {
        do {
            return .success(try await tokens?.token(refused: refused))
        } catch {
            // Even a ClientError is wrapped: it comes from the source, and does not describe this
            // task's connection.
            return .failure(
                ClientError(.hookFailed, "the source of tokens: \(error)", underlying: error))
        }
    }

    /// Adds the credential that the server is known to want.
    func authorize(_ request: inout ClientRequest, _ memory: inout TransactionMemory) {
        memory.login = nil
        guard !request.fields.contains(.authorization), case .success(let wire) = request.wire
        else { return }
        let user = user(of: request, memory)
        if case .session = user, let tokens, tokens.covers(wire.origin), let token = tokens.current,
            let value = BearerAuthorization.value(token: token)
        {
            request.fields[.authorization] = value
            memory.login = SentLogin(.token(token), for: nil)
            return
        }
        let (method, target) = (request.method, wire.target)
        let found = spaces.withLock {
            $0.authorization(origin: wire.origin, method: method, target: target, for: user)
        }
        guard let found else { return }
        request.fields[.authorization] = found.value
        memory.login = SentLogin(found.credential, for: found.space)
    }

    /// Identifies the user whose credential a request would get. The cache separates stored
    /// responses by user.
    func identity(_ request: ClientRequest, _ memory: TransactionMemory) -> String? {
        guard !request.fields.contains(.authorization), case .success(let wire) = request.wire
        else { return nil }
        let user = user(of: request, memory)
        if case .session = user, let tokens, tokens.covers(wire.origin) { return tokens.current }
        return spaces.withLock {
            $0.credential(origin: wire.origin, target: wire.target, for: user)
        }?.identity
    }

    /// The user of a request. The request's own credential takes precedence over those of the
    /// session.
    private func user(of request: ClientRequest, _ memory: TransactionMemory) -> RequestUser {
        guard let own = request.ownCredential else { return .session(options.credentials) }
        let choice = request.origin.flatMap { memory.choice(for: $0, isProxy: false) }
        return .own(choice ?? own)
    }

    // MARK: after the head of a response

    /// Takes the nonce for the next request from Authentication-Info.
    func receive(_ response: ClientResponse, to request: ClientRequest) {
        guard let info = response.head.value(of: "authentication-info"),
            info.utf8.count <= Challenges.lineLimit,
            let sent = request.fields[.authorization], let origin = request.origin
        else { return }
        spaces.withLock { $0.receive(info: info, origin: origin, sent: sent) }
    }

    /// Whether a response may lead to another request.
    /// - Parameters:
    ///   - response: the response.
    ///   - context: the context of the task.
    ///   - isForTunnel: whether the response is a proxy's answer to a request for a tunnel.
    func mayAnswer(
        _ response: ClientResponse, _ context: TransactionContext, isForTunnel: Bool
    ) -> Bool {
        let request = context.request
        guard context.authenticationCount < options.attemptLimit, request.body.isReplayable else {
            return false
        }
        switch response.status {
        case .unauthorized: return !request.fields.contains(.authorization)
        case .proxyAuthenticationRequired:
            return !request.fields.contains(.proxyAuthorization)
                && (isForTunnel || asksProxy(context))
        default: return false
        }
    }

    /// Answers the challenges of a response. The next request is the same as before; `authorize`
    /// adds the credential.
    func answer(
        _ response: ClientResponse, _ context: inout TransactionContext
    ) -> TransactionStep {
        guard let wire = try? context.request.wire.get() else { return .deliver() }
        if response.status == .proxyAuthenticationRequired {
            guard let asker = proxyAsker(of: context.request, context) else { return .deliver() }
            return begin(ChallengeRound(asker, response), &context)
        }
        let own = context.request.ownCredential
        if own == nil, let tokens, tokens.covers(wire.origin) { return renewal(&context) }
        let asker = ChallengeRound.Asker(
            origin: wire.origin, method: context.request.method, target: wire.target,
            given: own)
        return begin(ChallengeRound(asker, response), &context)
    }

    /// Continues with the application's answer to a challenge.
    func answered(
        _ answer: ChallengeAnswer, to round: ChallengeRound, _ context: inout TransactionContext
    ) -> TransactionStep {
        guard let open = round.open else { return .deliver() }
        switch answer {
        case .cancel: return .fail(ClientError(.cancelled, "by the answer to a challenge"))
        case .reject: break
        case .useProposed:
            if let proposed = open.proposed {
                return use(proposed, for: open.challenge, round, open.revision, context)
            }
        case .use(let credential, let remembers):
            guard credential.answers(open.challenge.scheme) else { break }
            if remembers { options.credentials.set(credential, for: open.space) }
            if round.asker.given != nil {
                context.memory.choose(
                    credential, for: round.asker.origin, isProxy: round.asker.isProxy)
            }
            return use(credential, for: open.challenge, round, open.revision, context)
        }
        return next(round, &context)
    }

    // MARK: tokens

    private func renewal(_ context: inout TransactionContext) -> TransactionStep {
        context.memory.renewals += 1
        guard context.memory.renewals == 1 else { return .deliver() }
        var refused: String?
        if case .token(let token) = context.memory.login?.credential { refused = token }
        context.memory.pending = .renewal(refused: refused)
        return .ask(.token(refused: refused))
    }

    /// Continues with a renewed token.
    func renewed(
        _ token: Result<String?, ClientError>, refused: String?, _ context: TransactionContext
    ) -> TransactionStep {
        switch token {
        case .failure(let error): return .fail(error)
        case .success(let token):
            guard let token, token != refused, BearerAuthorization.value(token: token) != nil else {
                return .deliver()
            }
            return .follow(context.request, .authentication)
        }
    }

    // MARK: challenges, the strongest first

    private func begin(
        _ round: ChallengeRound, _ context: inout TransactionContext
    ) -> TransactionStep {
        var round = round
        if let used = context.memory.sentLogin(isProxy: round.asker.isProxy) {
            round.carried = used.space
            noteRefusal(of: used, round, &context)
        }
        return next(round, &context)
    }

    /// Notes that the request's login was refused, if the challenges show that.
    private func noteRefusal(
        of used: SentLogin, _ round: ChallengeRound, _ context: inout TransactionContext
    ) {
        let asker = round.asker
        let refusing = round.challenges.filter { used.isRefused(in: asker.space(of: $0)) }
        guard let first = refusing.first, !first.isStale else { return }
        let asked = refusing.map { asker.space(of: $0) }
        context.memory.refuse(used, in: asked, isProxy: asker.isProxy)
        guard let space = used.space, asked.contains(space) else { return }
        spaces.withLock { $0.leave(space, used.credential) }
    }

    private func next(
        _ round: ChallengeRound, _ context: inout TransactionContext
    ) -> TransactionStep {
        var round = round
        while let challenge = round.challenges.popFirst() {
            // An eavesdropper can reuse the credentials of these schemes.
            let isPlain = challenge.scheme == .basic || challenge.scheme == .bearer
            if isPlain, !round.asker.origin.isSecure, !options.allowsBasicWithoutTLS { continue }
            if let step = take(challenge, &round, &context) { return step }
        }
        return .deliver()
    }

    /// The step that a challenge leads to; nil for a challenge without a credential.
    private func take(
        _ challenge: Challenges.Challenge, _ round: inout ChallengeRound,
        _ context: inout TransactionContext
    ) -> TransactionStep? {
        let asker = round.asker
        let space = asker.space(of: challenge)
        let revision = options.credentials.revision(of: asker.origin)
        if challenge.isStale, let used = context.memory.sentLogin(isProxy: asker.isProxy),
            used.isRefused(in: space)
        {
            // If the application has removed the credential since, it is not stored again.
            let answered = spaces.withLock { $0.answered(space, used.credential) }
            return enter(used.credential, for: challenge, round, answered: answered, context)
        }
        // If a request's own credential is refused, the request is not sent with the stored
        // credential of another user.
        var proposed = asker.given ?? options.credentials.credential(for: space)
        if let credential = proposed,
            !credential.answers(challenge.scheme)
                || context.memory.isRefused(credential, in: space)
        {
            proposed = nil
        }
        let open = ChallengeRound.Open(
            challenge: challenge, space: space, proposed: proposed, revision: revision)
        guard options.challenge != nil || context.hasDelegate else {
            return proposed.map { use($0, for: challenge, round, revision, context) }
        }
        round.open = open
        context.memory.pending = .challenge(round)
        return .ask(
            .challenge(
                ClientChallenge(
                    space: space, proposed: proposed,
                    failureCount: context.memory.refusalCount(isProxy: asker.isProxy),
                    response: round.response)))
    }

    private func use(
        _ credential: ClientCredential, for challenge: Challenges.Challenge,
        _ round: ChallengeRound, _ revision: UInt64, _ context: TransactionContext
    ) -> TransactionStep {
        let asker = round.asker
        let isStored =
            credential == asker.given
            || credential == options.credentials.credential(for: asker.space(of: challenge))
        return enter(
            credential, for: challenge, round, answered: isStored ? nil : revision, context)
    }

    /// - Parameter answered: the revision of the storage, if the credential is not stored.
    private func enter(
        _ credential: ClientCredential, for challenge: Challenges.Challenge,
        _ round: ChallengeRound, answered: UInt64?, _ context: TransactionContext
    ) -> TransactionStep {
        let asker = round.asker
        spaces.withLock {
            $0.enter(
                challenge, credential, origin: asker.origin, target: asker.target,
                answered: answered, carried: round.carried,
                cnonce: Hex.text(of: Crypto.random(16)), isProxy: asker.isProxy)
        }
        return .follow(context.request, .authentication)
    }

    // MARK: proxies

    /// The value of Proxy-Authorization, if a credential for the proxy is known. It never reaches
    /// the server: see ``EasyHandle``.
    func proxyAuthorization(
        for request: ClientRequest, _ context: inout TransactionContext
    ) -> String? {
        if case .direct = proxy, request.usesDefaults { return nil }
        context.memory.proxyLogin = nil
        guard let asker = proxyAsker(of: request, context) else { return nil }
        let login = proxyUser(asker, context.memory)
        let found = spaces.withLock {
            $0.authorization(
                origin: asker.origin, method: asker.method, target: asker.target, for: login,
                isProxy: true)
        }
        if let found {
            context.memory.proxyLogin = SentLogin(found.credential, for: found.space)
            return found.value
        }
        guard let given = asker.given, case .password(let user, let password) = given,
            (request.proxy ?? proxy).sendsBasicAtOnce,
            asker.origin.isSecure || options.allowsBasicWithoutTLS,
            !context.memory.isRefused(given, byProxy: asker.origin),
            let value = BasicAuthorization.value(user: user, password: password)
        else { return nil }
        context.memory.proxyLogin = SentLogin(given, for: nil)
        return value
    }

    /// The user for a proxy. The proxy's own credential takes precedence over those of the session,
    /// and an answer of the application over both.
    private func proxyUser(
        _ asker: ChallengeRound.Asker, _ memory: TransactionMemory
    ) -> RequestUser {
        guard let given = asker.given else { return .session(options.credentials) }
        return .own(memory.choice(for: asker.origin, isProxy: true) ?? given)
    }

    /// Whether the proxy itself can answer the request. Responses through a tunnel come from the
    /// server, whatever their status (RFC 9110 section 9.3.6).
    func asksProxy(_ context: TransactionContext) -> Bool {
        guard let (proxy, wire) = httpProxy(of: context.request) else { return false }
        return !proxy.makesTunnel(to: wire.origin, context.target)
    }

    /// The proxy of a request, as the asker of a challenge.
    private func proxyAsker(
        of request: ClientRequest, _ context: TransactionContext
    ) -> ChallengeRound.Asker? {
        guard let (proxy, wire) = httpProxy(of: request) else { return nil }
        return ChallengeRound.Asker(proxy, request.method, wire, context.target)
    }

    /// The HTTP proxy of a request. SOCKS proxies authenticate in another way.
    private func httpProxy(of request: ClientRequest) -> (ClientProxy, WireURL)? {
        guard case .success(let wire) = request.wire,
            let proxy = (request.proxy ?? self.proxy).proxy(for: wire.origin), proxy.speaksHTTP
        else { return nil }
        return (proxy, wire)
    }
}

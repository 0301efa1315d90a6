internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser

/// Answers challenges for the tasks of one session, and remembers where which credential holds.
final class ClientAuthenticator: Sendable {
    private let options: AuthenticationOptions
    private let proxy: ProxyPolicy
    private let tokens: BearerTokens?
    private let known = Locked(ProtectionSpaceCache())

    /// - Parameters:
    ///   - options: how the session authenticates.
    ///   - proxy: the proxy of requests that name none.
    init(_ options: AuthenticationOptions, proxy: ProxyPolicy = .direct) {
        (self.options, self.proxy) = (options, proxy)
        tokens = options.bearer.map { BearerTokens($0) }
    }

    /// Forgets what was learned.
    func reset() {
        known.withLock { $0.removeAll() }
        options.credentials.removeAll()
    }

    // MARK: before a transaction

    /// Whether there is nothing that it could add to a request.
    func addsNothing(to request: ClientRequest) -> Bool {
        tokens == nil && known.withLock { $0.isEmpty }
    }

    /// Whether a token has to be waited for.
    func lacksToken(_ request: ClientRequest) -> Bool {
        guard let tokens, request.ownCredential == nil, let origin = request.origin,
            tokens.covers(origin)
        else { return false }
        return tokens.current == nil && !request.fields.contains(.authorization)
    }

    /// Gets a token, if there is one to get.
    /// - Returns: why its source has failed.
    func fetchToken() async -> ClientError? {
        do {
            _ = try await tokens?.token()
            return nil
        } catch {
            return Self.error(ofSource: error)
        }
    }

    /// Also an error of a client is the source's own: it says nothing of this task's connection.
    private static func error(ofSource error: any Error) -> ClientError {
        ClientError(.hookFailed, "the source of tokens: \(error)", underlying: error)
    }

    /// Adds the credential that is known to be wanted.
    func authorize(_ request: inout ClientRequest, _ memory: inout TransactionMemory) {
        memory.credential = nil
        guard !request.fields.contains(.authorization), case .success(let wire) = request.wire
        else {
            return
        }
        let user = user(of: request, memory)
        if case .session = user, let tokens, tokens.covers(wire.origin), let token = tokens.current,
            let value = BearerAuthorization.value(token: token)
        {
            request.fields[.authorization] = value
            memory.credential = .token(token)
            return
        }
        let (method, target) = (request.method, wire.target)
        let found = known.withLock {
            $0.authorization(origin: wire.origin, method: method, target: target, for: user)
        }
        guard let found else { return }
        request.fields[.authorization] = found.value
        memory.credential = found.credential
    }

    /// Whose credential a request would get, for the cache: what one user was told is not for another.
    func identity(_ request: ClientRequest, _ context: TransactionContext) -> String? {
        guard !request.fields.contains(.authorization), case .success(let wire) = request.wire
        else {
            return nil
        }
        let user = context.memory.withLock { self.user(of: request, $0) }
        if case .session = user, let tokens, tokens.covers(wire.origin) { return tokens.current }
        return known.withLock {
            $0.credential(origin: wire.origin, target: wire.target, for: user)
        }?.identity
    }

    /// A credential of the request's own wins over all that the session has.
    private func user(of request: ClientRequest, _ memory: TransactionMemory) -> RequestUser {
        guard let own = request.ownCredential else { return .session(options.credentials) }
        guard let chosen = memory.chosen, chosen.origin == request.origin else {
            return .own(own)
        }
        return .own(chosen.credential)
    }

    // MARK: after the head of a response

    /// Takes the nonce that a server gives for the next request.
    func receive(_ response: ClientResponse, to request: ClientRequest) {
        guard let info = response.head.value(of: "authentication-info"),
            info.utf8.count <= Challenges.lineLimit,
            let sent = request.fields[.authorization], let origin = request.origin
        else { return }
        known.withLock { $0.receive(info: info, origin: origin, sent: sent) }
    }

    /// Whether a response may lead to another request.
    func mayAnswer(_ response: ClientResponse, _ context: TransactionContext) -> Bool {
        let request = context.request
        guard context.authenticationCount < options.attemptLimit, request.body.isReplayable else {
            return false
        }
        switch response.status {
        case .unauthorized: return !request.fields.contains(.authorization)
        case .proxyAuthenticationRequired:
            return !request.fields.contains(.proxyAuthorization)
                && proxyAsker(of: request, context) != nil
        default: return false
        }
    }

    /// Finds a credential for the next request; the request goes out again as it was, and
    /// `authorize` adds the credential.
    func answer(_ response: ClientResponse, _ context: TransactionContext) async
        -> TransactionDecision
    {
        guard let wire = try? context.request.wire.get() else { return .deliver() }
        let again = TransactionDecision.follow(context.request, .authentication)
        if response.status == .proxyAuthenticationRequired {
            guard let asker = proxyAsker(of: context.request, context) else { return .deliver() }
            return await answer(response, asker, context)
        }
        let own = context.request.ownCredential
        if own == nil, let tokens, tokens.covers(wire.origin) {
            do {
                return try await renews(tokens, context) ? again : .deliver()
            } catch {
                return .fail(Self.error(ofSource: error))
            }
        }
        let asker = Asker(
            origin: wire.origin, method: context.request.method, target: wire.target,
            given: own)
        return await answer(response, asker, context)
    }

    private func answer(
        _ response: ClientResponse, _ asker: Asker, _ context: TransactionContext
    ) async -> TransactionDecision {
        for challenge in Challenges.all(in: response.fields, asker.field) {
            // Both send what can be used again by whoever reads it.
            let isPlain = challenge.scheme == .basic || challenge.scheme == .bearer
            if isPlain, !asker.origin.isSecure, !options.allowsBasicWithoutTLS { continue }
            switch await credential(for: challenge, asker, response, context) {
            case .none: continue
            case .cancel: return .fail(ClientError(.cancelled, "by the answer to a challenge"))
            case .use(let credential, let answered):
                known.withLock {
                    $0.enter(
                        challenge, credential, origin: asker.origin, target: asker.target,
                        answered: answered, cnonce: Hex.text(of: Crypto.random(16)),
                        isProxy: asker.isProxy)
                }
                return .follow(context.request, .authentication)
            }
        }
        return .deliver()
    }

    private func renews(_ tokens: BearerTokens, _ context: TransactionContext) async throws -> Bool
    {
        let (used, isFirst) = context.memory.withLock { memory -> (ClientCredential?, Bool) in
            memory.renewals += 1
            return (memory.credential, memory.renewals == 1)
        }
        guard isFirst else { return false }
        var refused: String?
        if case .token(let token) = used { refused = token }
        guard let token = try await tokens.token(refused: refused) else { return false }
        return token != refused && BearerAuthorization.value(token: token) != nil
    }

    private func answer(
        _ question: ClientChallenge, _ context: TransactionContext
    ) async -> ChallengeAnswer {
        if let ask = options.challenge { return await ask(question) }
        return await context.task.events?.answer(question) ?? .useProposed
    }

    private enum Choice {
        case none, cancel
        /// `answered`: the revision of the storage, if the credential is not stored.
        case use(ClientCredential, answered: UInt64?)
    }

    private func credential(
        for challenge: Challenges.Challenge, _ asker: Asker, _ response: ClientResponse,
        _ context: TransactionContext
    ) async -> Choice {
        let space = ProtectionSpace(
            origin: asker.origin, realm: challenge.realm, scheme: challenge.scheme,
            isProxy: asker.isProxy)
        let used = context.memory.withLock { asker.isProxy ? $0.proxyCredential : $0.credential }
        let revision = options.credentials.revision(of: asker.origin)
        func use(_ credential: ClientCredential) -> Choice {
            let isKept =
                credential == asker.given
                || credential == options.credentials.credential(for: space)
            return .use(credential, answered: isKept ? nil : revision)
        }
        if case .digest(let digest) = challenge, digest.isStale, let used, used.fits(.digest) {
            // A login that was forgotten meanwhile does not come back.
            return .use(used, answered: known.withLock { $0.answered(space, used) })
        }
        let refused = context.memory.withLock { memory in
            memory.refuse(challenge.scheme, isProxy: asker.isProxy)
        }
        if let used { known.withLock { $0.leave(space, used) } }
        // Whoever brings a credential is not sent as somebody else when it is refused.
        var proposed = asker.given ?? options.credentials.credential(for: space)
        if let credential = proposed,
            !credential.answers(challenge.scheme) || refused.contains(credential)
        {
            proposed = nil
        }
        guard options.challenge != nil || context.task.events != nil else {
            return proposed.map(use) ?? .none
        }
        let question = ClientChallenge(
            space: space, proposed: proposed, failureCount: refused.count, response: response)
        switch await answer(question, context) {
        case .cancel: return .cancel
        case .reject: return .none
        case .useProposed: return proposed.map(use) ?? .none
        case .use(let credential, let remembers):
            guard credential.answers(challenge.scheme) else { return .none }
            if remembers { options.credentials.set(credential, for: space) }
            if asker.given != nil, !asker.isProxy {
                context.memory.withLock { $0.chosen = .init(asker.origin, credential) }
            }
            return use(credential)
        }
    }
}

// Proxies that speak HTTP; the others have logins of their own.
extension ClientAuthenticator {
    /// Who asks for credentials.
    private struct Asker {
        var origin: Origin
        var method: HTTPMethod
        /// What is asked for, as the asker sees it.
        var target: String
        var isProxy = false
        /// What is known to be meant for it.
        var given: ClientCredential?

        var field: HTTPFieldName { isProxy ? .proxyAuthenticate : .wwwAuthenticate }
    }

    /// The proxy of a request, if there is one that may ask.
    private func proxyAsker(of request: ClientRequest, _ context: TransactionContext) -> Asker? {
        guard case .success(let wire) = request.wire,
            let proxy = (request.proxy ?? self.proxy).proxy(for: wire.origin), proxy.speaksHTTP
        else { return nil }
        let given = proxy.user.map {
            ClientCredential.password(user: $0, password: proxy.password ?? "")
        }
        let scheme = proxy.kind == .https ? "https" : "http"
        let isTunnel = proxy.makesTunnel(to: wire.origin, context.target)
        return Asker(
            origin: Origin(scheme: scheme, host: proxy.host, port: proxy.port),
            method: isTunnel ? .connect : request.method,
            target: isTunnel ? Self.authority(wire.origin, context.target) : wire.text,
            isProxy: true, given: given)
    }

    /// Where a tunnel leads, as CONNECT has it (RFC 9110 section 9.3.6).
    private static func authority(_ origin: Origin, _ target: ConnectTarget?) -> String {
        var (host, port) = (origin.host, origin.port)
        if case .network(let otherHost, let otherPort) = target?.kind {
            (host, port) = (otherHost ?? host, otherPort ?? port)
        }
        let isAddress = host.utf8.contains(UInt8(ascii: ":"))
        return isAddress ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// What the proxy is known to want. It never gets to the server: see ``EasyHandle``.
    func proxyAuthorization(for request: ClientRequest, _ context: TransactionContext) -> String? {
        let asker = proxyAsker(of: request, context)
        return context.memory.withLock { memory in
            memory.proxyCredential = nil
            return asker.flatMap { proxyAuthorization(for: request, at: $0, &memory) }
        }
    }

    private func proxyAuthorization(
        for request: ClientRequest, at asker: Asker, _ memory: inout TransactionMemory
    ) -> String? {
        let found = known.withLock {
            $0.authorization(
                origin: asker.origin, method: asker.method, target: asker.target,
                for: asker.given.map { .own($0) } ?? .session(options.credentials), isProxy: true)
        }
        if let found {
            memory.proxyCredential = found.credential
            return found.value
        }
        guard case .password(let user, let password) = asker.given,
            (request.proxy ?? proxy).sendsBasicAtOnce,
            asker.origin.isSecure || options.allowsBasicWithoutTLS,
            let value = BasicAuthorization.value(user: user, password: password)
        else { return nil }
        memory.proxyCredential = asker.given
        return value
    }
}

extension ClientCredential {
    /// Whose it is, for the cache.
    var identity: String {
        switch self {
        case .password(let user, let password): "\(user):\(password)"
        case .token(let token): token
        }
    }

    /// Whether it can be sent to who asks in such a way.
    fileprivate func answers(_ scheme: ProtectionSpace.Scheme) -> Bool {
        if case .token(let token) = self, BearerAuthorization.value(token: token) == nil {
            return false
        }
        return fits(scheme)
    }
}

extension ClientProxy {
    fileprivate var speaksHTTP: Bool { kind == .http || kind == .https }

    /// Whether the proxy is asked to connect to a server, and not for something there.
    func makesTunnel(to origin: Origin, _ target: ConnectTarget?) -> Bool {
        guard speaksHTTP else { return false }
        if origin.isSecure || tunnels { return true }
        if case .network = target?.kind { return true }
        return false
    }
}

extension ProxyPolicy {
    fileprivate var sendsBasicAtOnce: Bool {
        if case .proxy(let proxy, _) = self { proxy.scheme == .basic } else { false }
    }
}

extension WireURL {
    /// Name and password of the URL, which are never sent as part of it.
    var credential: ClientCredential? {
        guard let userInfo, !userInfo.isEmpty else { return nil }
        let colon = userInfo.utf8.firstIndex(of: UInt8(ascii: ":")) ?? userInfo.endIndex
        guard let name = try? PercentEncoding.decode(String(userInfo[..<colon])),
            let password = try? PercentEncoding.decode(String(userInfo[colon...].dropFirst()))
        else { return nil }
        return .password(user: name, password: password)
    }
}

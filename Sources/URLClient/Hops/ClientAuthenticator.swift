internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser

/// Answers challenges for the tasks of one session, and remembers where which credential holds.
final class ClientAuthenticator: Sendable {
    private let options: AuthenticationOptions
    private let tokens: BearerTokens?
    private let known = Locked(KnownSpaces())

    init(_ options: AuthenticationOptions) {
        self.options = options
        tokens = options.bearer.map { BearerTokens($0) }
    }

    /// Forgets what was learned.
    func reset() {
        known.withLock { $0.removeAll() }
        options.credentials.removeAll()
    }

    // MARK: before a hop

    /// Whether a token has to be waited for.
    func lacksToken(_ request: ClientRequest) -> Bool {
        guard let tokens, let origin = request.origin, tokens.covers(origin) else { return false }
        return tokens.current == nil && !request.fields.contains(.authorization)
    }

    /// Gets a token; a failure shows when the server refuses the request without one.
    func fetchToken() async { _ = try? await tokens?.token() }

    /// Adds the credential that is known to be wanted.
    func authorize(_ request: inout ClientRequest, _ memory: inout HopMemory) {
        memory.credential = nil
        guard !request.fields.contains(.authorization), case .success(let wire) = request.wire
        else {
            return
        }
        if let tokens, tokens.covers(wire.origin), let token = tokens.current,
            let value = BearerAuthorization.value(token: token)
        {
            request.fields[.authorization] = value
            memory.credential = .token(token)
            return
        }
        let (method, target) = (request.method, wire.target)
        let found = known.withLock {
            $0.authorization(origin: wire.origin, method: method, target: target)
        }
        guard let found else { return }
        request.fields[.authorization] = found.value
        memory.credential = found.credential
    }

    /// Whose credential a request would get, for the cache: what one user was told is not for another.
    func identity(_ request: ClientRequest) -> String? {
        guard !request.fields.contains(.authorization), case .success(let wire) = request.wire
        else {
            return nil
        }
        if let tokens, tokens.covers(wire.origin) { return tokens.current }
        switch known.withLock({ $0.credential(origin: wire.origin, target: wire.target) }) {
        case .password(let user, let password): return "\(user):\(password)"
        case .token(let token): return token
        case nil: return nil
        }
    }

    // MARK: after the head of a response

    /// Takes the nonce that a server gives for the next request.
    func receive(_ response: ClientResponse, to request: ClientRequest) {
        guard let info = response.head.value(of: "authentication-info"),
            let sent = request.fields[.authorization], let origin = request.origin
        else { return }
        known.withLock { $0.receive(info: info, origin: origin, sent: sent) }
    }

    /// Whether a response may lead to another request.
    func mayAnswer(_ response: ClientResponse, _ context: HopContext) -> Bool {
        response.status == .unauthorized && context.authenticationCount < options.attemptLimit
            && context.request.body.isReplayable && !context.request.fields.contains(.authorization)
    }

    /// Finds a credential for the next request; the request goes out again as it was, and
    /// `authorize` adds the credential.
    func answer(_ response: ClientResponse, _ context: HopContext) async -> HopDecision {
        guard let wire = try? context.request.wire.get() else { return .deliver() }
        let again = HopDecision.follow(context.request, .authentication)
        if let tokens, tokens.covers(wire.origin) {
            return await renews(tokens, context) ? again : .deliver()
        }
        for challenge in Challenges.all(in: response.fields, .wwwAuthenticate) {
            guard challenge.scheme != .bearer else { continue }
            if challenge.scheme == .basic, !wire.origin.isSecure, !options.allowsBasicWithoutTLS {
                continue
            }
            switch await credential(for: challenge, wire, response, context) {
            case .none: continue
            case .cancel: return .fail(ClientError(.cancelled, "by the answer to a challenge"))
            case .use(let credential):
                known.withLock {
                    $0.enter(
                        challenge, credential, origin: wire.origin, target: wire.target,
                        cnonce: Hex.text(of: Crypto.random(16)))
                }
                return again
            }
        }
        return .deliver()
    }

    private func renews(_ tokens: BearerTokens, _ context: HopContext) async -> Bool {
        let (used, isFirst) = context.memory.withLock { memory -> (ClientCredential?, Bool) in
            memory.renewals += 1
            return (memory.credential, memory.renewals == 1)
        }
        guard isFirst else { return false }
        var refused: String?
        if case .token(let token) = used { refused = token }
        guard let token = try? await tokens.token(refused: refused) else { return false }
        return token != refused && BearerAuthorization.value(token: token) != nil
    }

    private func answer(
        _ question: ClientChallenge, _ context: HopContext
    ) async -> ChallengeAnswer {
        if let ask = options.challenge { return await ask(question) }
        return await context.task.events?.answer(question) ?? .useProposed
    }

    private enum Choice {
        case none, cancel
        case use(ClientCredential)
    }

    private func credential(
        for challenge: Challenges.Challenge, _ wire: WireURL, _ response: ClientResponse,
        _ context: HopContext
    ) async -> Choice {
        let space = ProtectionSpace(
            origin: wire.origin, realm: challenge.realm, scheme: challenge.scheme)
        let used = context.memory.withLock { $0.credential }
        if case .digest(let digest) = challenge, digest.isStale, let used, used.fits(.digest) {
            return .use(used)
        }
        let refused = context.memory.withLock { memory -> [ClientCredential] in
            if let used = memory.credential, used.fits(challenge.scheme) {
                memory.refused.append(used)
                memory.credential = nil
            }
            return memory.refused
        }
        if used != nil { known.withLock { $0.leave(space) } }
        let proposed = [wire.credential, options.credentials.credential(for: space)]
            .compactMap(\.self).first { $0.fits(challenge.scheme) && !refused.contains($0) }
        guard options.challenge != nil || context.task.events != nil else {
            return proposed.map { .use($0) } ?? .none
        }
        let question = ClientChallenge(
            space: space, proposed: proposed, failureCount: refused.count, response: response)
        switch await answer(question, context) {
        case .cancel: return .cancel
        case .reject: return .none
        case .useProposed: return proposed.map { .use($0) } ?? .none
        case .use(let credential, let remembers):
            guard credential.fits(challenge.scheme) else { return .none }
            if remembers { options.credentials.set(credential, for: space) }
            return .use(credential)
        }
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

internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser

/// Digest (RFC 7616).
extension Authenticator {
    /// The verdict, if the store answers at once and nobody has to wait for his turn.
    func digestNow(_ credentials: DigestCredentials, _ request: Request) throws -> Verdict? {
        guard isForUs(credentials) else { return .refused(challenge()) }
        guard case .immediate(let store) = source else { return nil }
        let nonce = Nonce(credentials.nonce, key: nonceKey)
        if isHeldUp(request), !isInUse(nonce) { return nil }
        let account =
            switch credentials.user {
            case .name(let name): try store.accountNow(named: name)
            case .hash(let hash): try store.accountNow(nameHash: hash, by: credentials.algorithm)
            }
        return decide(credentials, nonce, account, request)
    }

    /// The verdict on any credentials.
    func digest(_ credentials: DigestCredentials, _ request: Request) async throws -> Verdict {
        guard isForUs(credentials) else { return .refused(challenge()) }
        let nonce = Nonce(credentials.nonce, key: nonceKey)
        if !isInUse(nonce) { try await waitForTurn(request) }
        let account = try await account(credentials)
        return decide(credentials, nonce, account, request)
    }

    private func account(_ credentials: DigestCredentials) async throws -> Account? {
        let store: any AccountStore
        switch source {
        case .immediate(let immediate): store = immediate
        case .store(let other): store = other
        case .verifier: return nil
        }
        switch credentials.user {
        case .name(let name): return try await store.account(named: name)
        case .hash(let hash):
            return try await store.account(nameHash: hash, by: credentials.algorithm)
        }
    }

    private func isForUs(_ credentials: DigestCredentials) -> Bool {
        credentials.realm == realm && algorithms.contains(credentials.algorithm)
    }

    /// Whether somebody has logged in with the nonce before: only who knows a password can have
    /// one.
    private func isInUse(_ nonce: Nonce?) -> Bool {
        guard let nonce else { return false }
        return nonces.withLock { $0.contains(nonce.id) }
    }

    /// A user who does not exist goes the same way as one whose password is wrong. Only who knows
    /// the password learns what else is wrong.
    private func decide(
        _ credentials: DigestCredentials, _ nonce: Nonce?, _ account: Account?, _ request: Request
    ) -> Verdict {
        let known = account?.secret(credentials.algorithm)
        guard let secret = known ?? absentSecrets[credentials.algorithm] else {
            return .refused(challenge())
        }
        let expected = credentials.expectedResponse(secret, method: request.method.name)
        guard Crypto.areEqual(expected, credentials.response), let account, known != nil else {
            return failed(request)
        }
        // Section 3.4.6: a symptom of an attack.
        guard Self.names(credentials.uri, request.target) else {
            return .refused(
                HTTPError(.badRequest, "the credentials are for another request target"))
        }
        // Made by another process, or opaque was left from one: a new nonce is all that it takes.
        guard let nonce, credentials.opaque == nil || credentials.opaque == opaque else {
            return .refused(challenge(isStale: true))
        }
        let now = nonceTime
        let use = nonces.withLock {
            $0.use(id: nonce.id, issued: nonce.issued, count: credentials.count, now: now)
        }
        // A client that repeats a count by mistake can go on with a new nonce. Somebody who
        // repeats a request that he has overheard cannot.
        guard use == .first else { return .refused(challenge(isStale: true)) }
        let identity = Identity(name: account.name, scheme: .digest)
        return .granted(identity, info: credentials.info(secret))
    }

    /// Whether uri is the target of the request (section 3.4.6). A proxy may have been sent the
    /// absolute form of what the client has hashed.
    static func names(_ uri: String, _ target: RequestTarget) -> Bool {
        if uri.utf8.elementsEqual(target.text.utf8) { return true }
        guard target.form == .absolute else { return false }
        let query = target.query.map { "?\($0)" } ?? ""
        return uri.utf8.elementsEqual("\(target.path)\(query)".utf8)
    }
}

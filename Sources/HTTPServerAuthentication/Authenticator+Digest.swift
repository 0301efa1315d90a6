internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// Digest (RFC 7616).
extension Authenticator {
    /// The verdict; `nil` if the store is not immediate or the login has to be delayed.
    func digestNow(_ credentials: DigestCredentials, _ request: Request) throws -> Verdict? {
        guard isForUs(credentials) else { return .refused(challenge()) }
        guard case .immediate(let store) = source else { return nil }
        let nonce = Nonce(credentials.nonce, key: nonceKey)
        let user = Self.number(of: credentials.user)
        if isHeldUp(request, user), !isInUse(nonce, by: user) { return nil }
        let account =
            switch credentials.user {
            case .name(let name): try store.accountNow(named: name)
            case .hash(let hash): try store.accountNow(nameHash: hash, by: credentials.algorithm)
            }
        return decide(credentials, nonce, account, request)
    }

    /// The verdict on any credentials, after a delay if there were too many failures.
    func digest(_ credentials: DigestCredentials, _ request: Request) async throws -> Verdict {
        guard isForUs(credentials) else { return .refused(challenge()) }
        let nonce = Nonce(credentials.nonce, key: nonceKey)
        let user = Self.number(of: credentials.user)
        if !isInUse(nonce, by: user) { try await waitForTurn(request, user) }
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
        credentials.realm.hasBytes(of: realm) && algorithms.contains(credentials.algorithm)
    }

    /// Whether the user has logged in with the nonce before, or got it after a proof of the
    /// password. The request is then not a guess by another client.
    private func isInUse(_ nonce: Nonce?, by user: UInt64) -> Bool {
        guard let nonce else { return false }
        return nonces.withLock { $0.contains(nonce.id, by: user) }
    }

    private static func number(of user: DigestCredentials.User) -> UInt64 {
        switch user {
        case .name(let name): number(of: name)
        case .hash(let hash): number(of: hash)
        }
    }

    /// A challenge with a new nonce, after a proof of the password. The nonce is stored for the
    /// user, so that other clients' guesses do not delay its first use.
    private func staleChallenge(_ user: UInt64) -> Verdict {
        let nonce = Nonce.fresh(at: nonceTime)
        let now = nonceTime
        nonces.withLock { $0.expect(id: nonce.id, issued: nonce.issued, user: user, now: now) }
        return .refused(challenge(isStale: true, nonce: nonce))
    }

    /// An unknown user takes the same path as a wrong password. Only a client with the right
    /// password learns about other errors.
    private func decide(
        _ credentials: DigestCredentials, _ nonce: Nonce?, _ account: Account?, _ request: Request
    ) -> Verdict {
        let user = Self.number(of: credentials.user)
        let known = account?.secret(credentials.algorithm)
        guard let secret = known ?? absentSecrets[credentials.algorithm] else {
            return .refused(challenge())
        }
        let expected = credentials.expectedResponse(secret, method: request.method.name)
        guard Crypto.areEqual(expected, credentials.response), let account, known != nil else {
            return failed(request, user)
        }
        // Section 3.4.6: another target is a sign of an attack.
        guard Self.names(credentials.uri, request.originalTarget) else {
            return .refused(
                HTTPError(.badRequest, "the credentials are for another request target"))
        }
        // Another process made the nonce or opaque, for example before a restart. The client only
        // needs a new nonce.
        guard let nonce, credentials.opaque?.hasBytes(of: opaque) ?? true else {
            return staleChallenge(user)
        }
        let now = nonceTime
        let use = nonces.withLock {
            $0.use(
                id: nonce.id, issued: nonce.issued, count: credentials.count, user: user, now: now)
        }
        switch use {
        case .first:
            let identity = Identity(name: account.name, scheme: .digest)
            return .granted(identity, info: credentials.info(secret))
        case .expired: return staleChallenge(user)
        // A client that repeats a count by mistake can continue with a new nonce. An attacker that
        // replays a recorded request cannot, so the new nonce is not stored.
        case .repeated: return .refused(challenge(isStale: true))
        }
    }

    /// Whether `uri` is the target of the request (section 3.4.6). The target may be the absolute
    /// form of the path that the client has hashed, because a client sends that form to a proxy.
    static func names(_ uri: String, _ target: RequestTarget) -> Bool {
        if uri.utf8.elementsEqual(target.text.utf8) { return true }
        guard target.form == .absolute else { return false }
        let query = target.query.map { "?\($0)" } ?? ""
        return uri.utf8.elementsEqual("\(target.path)\(query)".utf8)
    }
}

internal import HTTPServerCore
internal import HTTPServerKit

/// Basic (RFC 7617).
extension Authenticator {
    /// The verdict on credentials that are cached as right; `nil` if they are not, or if cached
    /// credentials are not accepted at present.
    func basicNow(_ credentials: BasicCredentials, _ request: Request) throws -> Verdict? {
        if case .store = source { return nil }
        let user = Self.number(of: credentials.name)
        guard admitsKnown(request, user) else { return nil }
        let verdict = try rememberedNow(credentials)
        if verdict == nil { missed(request, user) } else { keepLogin(request, user) }
        return verdict
    }

    private func rememberedNow(_ credentials: BasicCredentials) throws -> Verdict? {
        switch source {
        case .store: return nil
        case .immediate(let store):
            let account = try store.accountNow(named: credentials.name)
            return remembered(credentials, account, store)
        case .verifier:
            let key = checker.key(credentials, nil)
            guard checker.isRemembered(key, now: clock()) else { return nil }
            return .granted(Identity(name: credentials.name, scheme: .basic), info: nil)
        }
    }

    /// The verdict on any credentials, after a check of the password if they are not cached.
    func basic(_ credentials: BasicCredentials, _ request: Request) async throws -> Verdict {
        switch source {
        case .immediate(let store): return try await check(credentials, store, request)
        case .store(let store): return try await check(credentials, store, request)
        case .verifier(let verify):
            let user = Self.number(of: credentials.name)
            try await waitForTurn(request, user)
            let isRight = try await checker.check(
                checker.key(credentials, nil), now: clock()
            ) { try await verify(credentials.name, credentials.password) }
            guard isRight else { return failed(request, user) }
            succeeded(request, user)
            return .granted(Identity(name: credentials.name, scheme: .basic), info: nil)
        }
    }

    private func remembered(
        _ credentials: BasicCredentials, _ account: Account?, _ store: any AccountStore
    ) -> Verdict? {
        let hash = account?.password ?? store.absentPassword
        let key = checker.key(credentials, hash)
        guard checker.isRemembered(key, now: clock()), let account, account.password != nil else {
            return nil
        }
        return .granted(Identity(name: account.name, scheme: .basic), info: nil)
    }

    /// An unknown user takes the same path as a wrong password.
    private func check(
        _ credentials: BasicCredentials, _ store: any AccountStore, _ request: Request
    ) async throws -> Verdict {
        let account = try await store.account(named: credentials.name)
        let user = Self.number(of: credentials.name)
        if admitsKnown(request, user) {
            if let verdict = remembered(credentials, account, store) {
                keepLogin(request, user)
                return verdict
            }
            missed(request, user)
        }
        try await waitForTurn(request, user)
        let hash = account?.password ?? store.absentPassword
        let isRight = try await checker.check(
            credentials.password, hash, checker.key(credentials, hash), now: clock())
        guard isRight, let account, account.password != nil else { return failed(request, user) }
        succeeded(request, user)
        return .granted(Identity(name: account.name, scheme: .basic), info: nil)
    }
}

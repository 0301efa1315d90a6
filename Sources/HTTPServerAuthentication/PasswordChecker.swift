internal import HTTPCrypto
internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// Checks passwords outside of the event loops, and caches right ones for a while, so that not
/// every request costs a key derivation.
///
/// The cache reveals no password: it contains an HMAC of name, password and stored hash, and only
/// this process has the key. A new password has another HMAC, so the old entry no longer matches.
package final class PasswordChecker: Sendable {
    /// The HMAC of a name, a password and the hash that the password is checked against.
    package struct Key: Hashable, Sendable {
        private let words: [UInt64]

        fileprivate init(_ code: [UInt8]) {
            words = stride(from: 0, to: code.count, by: 8).map { start in
                code[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }

    private struct State: Sendable {
        /// The times at which verified credentials have to be checked again, in nanoseconds.
        var verified: [Key: UInt64] = [:]
        /// The requests that wait for each check. Equal credentials share one check.
        var waiting: [Key: [CheckedContinuation<Bool, any Error>]] = [:]
        var waiterCount: Int { waiting.values.reduce(0) { $0 + $1.count } }
    }

    /// The most different checks that run or wait; further ones get 503. A check takes some tenths
    /// of a second.
    package static let waitingLimit = 128
    /// The most requests that wait for checks, often several for the same check. Further requests
    /// get 503. A request waits for its check even if its client has disconnected, because a wrong
    /// password must count as a failure.
    package static let waiterLimit = 1_024
    /// Runs key derivations. They keep processors busy, so only two run at the same time.
    static let pool = BlockingPool(threads: 2)
    /// The answer when too many checks wait.
    static var overload: HTTPError {
        HTTPError(.serviceUnavailable, fields: [.retryAfter: "2"])
    }

    private let state = Locked(State())
    private let secret = Crypto.random(32)
    private let limit: Int
    private let lifetime: UInt64
    private let matches: @Sendable (PasswordHash, String) -> Bool

    /// - Parameters:
    ///   - limit: the most right passwords that are cached; 0 for none.
    ///   - lifetime: how long they are cached, in nanoseconds.
    ///   - matches: compares a password with a hash; tests count the calls.
    package init(
        limit: Int, lifetime: UInt64,
        matches: @escaping @Sendable (PasswordHash, String) -> Bool = { $0.matches($1) }
    ) {
        self.limit = limit
        self.lifetime = lifetime
        self.matches = matches
    }

    /// The number of cached right passwords.
    package var rememberedCount: Int { state.withLock { $0.verified.count } }

    /// The number of requests that wait for the check of these credentials.
    package func waitingCount(_ key: Key) -> Int {
        state.withLock { $0.waiting[key]?.count ?? 0 }
    }

    /// The key of credentials.
    /// - Parameter hash: the hash to compare with; `nil` if another service checks the password.
    package func key(_ credentials: BasicCredentials, _ hash: PasswordHash?) -> Key {
        // NUL separates name and password, because neither can contain a control character.
        let text = Array("\(credentials.name)\0\(credentials.password)\0".utf8)
        return Key(Crypto.hmacSHA256(text + (hash?.distinction ?? []), key: secret))
    }

    /// Whether the credentials are cached as right.
    package func isRemembered(_ key: Key, now: UInt64) -> Bool {
        state.withLock { state in
            guard let end = state.verified[key] else { return false }
            if now < end { return true }
            state.verified[key] = nil
            return false
        }
    }

    /// Checks a password against a stored hash.
    package func check(
        _ password: String, _ hash: PasswordHash, _ key: Key, now: UInt64
    ) async throws -> Bool {
        let matches = matches
        return try await check(key, now: now) {
            try await Self.pool.run { matches(hash, password) }
        }
    }

    /// Checks credentials with a closure of the caller, or waits for a running check of the same
    /// credentials.
    /// - Throws: `HTTPError` with 503 if too many checks or requests wait, and errors of the
    ///   closure.
    package func check(
        _ key: Key, now: UInt64, _ check: @escaping @Sendable () async throws -> Bool
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            enum Turn { case starts, waits, refused }
            let turn = state.withLock { state -> Turn in
                let starts = state.waiting[key] == nil
                guard state.waiterCount < Self.waiterLimit,
                    !starts || state.waiting.count < Self.waitingLimit
                else { return .refused }
                state.waiting[key, default: []].append(continuation)
                return starts ? .starts : .waits
            }
            switch turn {
            case .waits: break
            case .refused:
                continuation.resume(throwing: Self.overload)
            case .starts:
                // An unstructured task: if this client disconnects, the others still get an answer.
                Task {
                    do {
                        self.finish(key, now, .success(try await check()))
                    } catch {
                        self.finish(key, now, .failure(error))
                    }
                }
            }
        }
    }

    private func finish(_ key: Key, _ now: UInt64, _ result: Result<Bool, any Error>) {
        let waiting = state.withLock { state in
            if case .success(true) = result, limit > 0 {
                if state.verified.count >= limit { makeRoom(&state, now) }
                state.verified[key] = now &+ lifetime
            }
            return state.waiting.removeValue(forKey: key) ?? []
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    private func makeRoom(_ state: inout State, _ now: UInt64) {
        state.verified = state.verified.filter { now < $0.value }
        while state.verified.count >= limit, let any = state.verified.first {
            state.verified[any.key] = nil
        }
    }
}

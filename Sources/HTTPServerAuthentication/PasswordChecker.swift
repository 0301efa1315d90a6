internal import HTTPCrypto
internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// Checks passwords outside of the event loops, and remembers for a while which were right, so that
/// not every request costs a key derivation.
///
/// The cache reveals no password: it holds an HMAC of name, password and stored hash, and only
/// this process has the key. A new password gives another HMAC, so the old entry no longer matches.
package final class PasswordChecker: Sendable {
    /// Stands for a name and a password that were, or are being, checked against one hash.
    package struct Key: Hashable, Sendable {
        private let words: [UInt64]

        fileprivate init(_ code: [UInt8]) {
            words = stride(from: 0, to: code.count, by: 8).map { start in
                code[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }

    private struct State: Sendable {
        /// When verified credentials have to be checked again.
        var verified: [Key: UInt64] = [:]
        /// The requests that wait for each check. Equal credentials share one check.
        var waiting: [Key: [CheckedContinuation<Bool, any Error>]] = [:]
        var waiterCount: Int { waiting.values.reduce(0) { $0 + $1.count } }
    }

    /// How many different checks may run or wait; further ones are answered with 503. A check
    /// takes some tenths of a second.
    package static let waitingLimit = 128
    /// How many requests may wait for checks, often several for the same one; further ones are
    /// answered with 503. A request waits until its check has ended even if its client is gone:
    /// a wrong password has to count as a failure.
    package static let waiterLimit = 1_024
    /// Key derivations keep processors busy, so only two run at once; the others go on serving.
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
    ///   - limit: how many right passwords are remembered at most; 0 for none.
    ///   - lifetime: for how long, in nanoseconds.
    ///   - matches: compares a password with a hash; tests count the calls.
    package init(
        limit: Int, lifetime: UInt64,
        matches: @escaping @Sendable (PasswordHash, String) -> Bool = { $0.matches($1) }
    ) {
        self.limit = limit
        self.lifetime = lifetime
        self.matches = matches
    }

    /// How many right passwords are remembered.
    package var rememberedCount: Int { state.withLock { $0.verified.count } }

    /// How many requests wait for the check of these credentials.
    package func waitingCount(_ key: Key) -> Int {
        state.withLock { $0.waiting[key]?.count ?? 0 }
    }

    /// - Parameter hash: the hash to compare with; `nil` when another service checks the password.
    package func key(_ credentials: BasicCredentials, _ hash: PasswordHash?) -> Key {
        // Neither name nor password can hold a control character.
        let text = Array("\(credentials.name)\0\(credentials.password)\0".utf8)
        return Key(Crypto.hmacSHA256(text + (hash?.distinction ?? []), key: secret))
    }

    /// Whether the credentials were found right a short time ago.
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

    /// Checks credentials with a closure of the caller.
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

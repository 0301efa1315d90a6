internal import HTTPServerCore
package import ToolkitSystem

/// Checks passwords outside of the event loops, a few at a time, and lets a bounded number of
/// checks wait for that.
package final class PasswordQueue: Sendable {
    /// Runs the checks of `PasswordHash.verify(_:)`. It has a separate thread, so that a flood of
    /// requests to a login form does not delay the logins of an `Authenticator`.
    static let shared = PasswordQueue(pool: BlockingPool(threads: 1))

    private let limit: Int
    private let pool: BlockingPool
    private let matches: @Sendable (PasswordHash, String) -> Bool
    private let underWay = Locked(0)

    /// - Parameters:
    ///   - limit: how many checks may be under way, most of them waiting.
    ///   - pool: runs the checks.
    ///   - matches: compares; tests watch it.
    package init(
        limit: Int = PasswordChecker.waitingLimit, pool: BlockingPool,
        matches: @escaping @Sendable (PasswordHash, String) -> Bool = { $0.matches($1) }
    ) {
        self.limit = limit
        self.pool = pool
        self.matches = matches
    }

    /// How many checks are under way. One that was cancelled counts until it is its turn.
    package var count: Int { underWay.withLock { $0 } }

    /// Checks a password.
    /// - Throws: `HTTPError` with 503 above the limit, and `CancellationError` as soon as the task is
    ///   cancelled; the check is left out then unless it has begun.
    package func check(_ password: String, _ hash: PasswordHash) async throws -> Bool {
        let result = PendingResult()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard result.isAwaited(by: continuation) else { return }
                guard enter() else { return result.end(with: .failure(PasswordChecker.overload)) }
                pool.submit { [self] in
                    if result.isOpen { result.end(with: .success(matches(hash, password))) }
                    underWay.withLock { $0 -= 1 }
                }
            }
        } onCancel: {
            result.end(with: .failure(CancellationError()))
        }
    }

    private func enter() -> Bool {
        underWay.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }
}

/// A result that is awaited by one task, and given once.
private final class PendingResult: Sendable {
    private enum State: Sendable {
        case unawaited
        case awaited(CheckedContinuation<Bool, any Error>)
        case ended
    }

    private let state = Locked(State.unawaited)

    /// Whether a result can still be given.
    var isOpen: Bool {
        state.withLock { if case .ended = $0 { false } else { true } }
    }

    /// Takes what awaits the result.
    /// - Returns: false when the task was cancelled before; it has its error then.
    func isAwaited(by continuation: CheckedContinuation<Bool, any Error>) -> Bool {
        let isOpen = state.withLock { state in
            guard case .unawaited = state else { return false }
            state = .awaited(continuation)
            return true
        }
        if !isOpen { continuation.resume(throwing: CancellationError()) }
        return isOpen
    }

    /// Gives the result, unless there is one.
    func end(with result: Result<Bool, any Error>) {
        let previous = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .awaited(let continuation) = previous { continuation.resume(with: result) }
    }
}

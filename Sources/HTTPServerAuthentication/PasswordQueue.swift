internal import HTTPServerCore
package import ToolkitSystem

/// Checks passwords outside of the event loops, a few at a time. The number of waiting checks is
/// limited.
package final class PasswordQueue: Sendable {
    /// Runs the checks of `PasswordHash.verify(_:)`. It has a separate thread, so that a flood of
    /// requests to a login form does not delay the logins of an `Authenticator`.
    static let shared = PasswordQueue(pool: BlockingPool(threads: 1))

    private let limit: Int
    private let pool: BlockingPool
    private let matches: @Sendable (PasswordHash, String) -> Bool
    private let underWay = Locked(0)

    /// - Parameters:
    ///   - limit: the most checks that run or wait.
    ///   - pool: runs the checks.
    ///   - matches: compares a password with a hash; tests observe the calls.
    package init(
        limit: Int = PasswordChecker.waitingLimit, pool: BlockingPool,
        matches: @escaping @Sendable (PasswordHash, String) -> Bool = { $0.matches($1) }
    ) {
        self.limit = limit
        self.pool = pool
        self.matches = matches
    }

    /// The number of checks that run or wait. A cancelled check counts until its thread reaches it.
    package var count: Int { underWay.withLock { $0 } }

    /// Checks a password.
    /// - Throws: `HTTPError` with 503 above the limit, and `CancellationError` as soon as the task
    ///   is cancelled; a check that has not begun is then skipped.
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

/// A result that one task awaits, and that is set once.
private final class PendingResult: Sendable {
    private enum State: Sendable {
        case unawaited
        case awaited(CheckedContinuation<Bool, any Error>)
        case ended
    }

    private let state = Locked(State.unawaited)

    /// Whether the result is not set yet.
    var isOpen: Bool {
        state.withLock { if case .ended = $0 { false } else { true } }
    }

    /// Registers the continuation that awaits the result.
    /// - Returns: `false` if the task was already cancelled; the continuation is then resumed with
    ///   an error.
    func isAwaited(by continuation: CheckedContinuation<Bool, any Error>) -> Bool {
        let isOpen = state.withLock { state in
            guard case .unawaited = state else { return false }
            state = .awaited(continuation)
            return true
        }
        if !isOpen { continuation.resume(throwing: CancellationError()) }
        return isOpen
    }

    /// Sets the result, unless it is set already.
    func end(with result: Result<Bool, any Error>) {
        let previous = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .awaited(let continuation) = previous { continuation.resume(with: result) }
    }
}

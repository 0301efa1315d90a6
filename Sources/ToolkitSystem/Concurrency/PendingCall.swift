/// A call that waits for a thread of a ``BlockingPool`` and can be cancelled until it begins.
final class PendingCall<Result: Sendable>: Sendable {
    typealias Body = @Sendable () throws -> Result

    private enum State: Sendable {
        case unawaited(Body)
        case awaited(Body, CheckedContinuation<Result, any Error>)
        /// Begun, or cancelled.
        case taken
    }

    private let state: Locked<State>

    init(_ body: @escaping Body) { state = Locked(.unawaited(body)) }

    /// Whether the call waits for a thread.
    var isAwaited: Bool {
        state.withLock { if case .awaited = $0 { true } else { false } }
    }

    /// Registers the continuation for the result.
    /// - Returns: `false` if the call was cancelled before; the continuation was then resumed with
    ///   `CancellationError`.
    func register(_ continuation: CheckedContinuation<Result, any Error>) -> Bool {
        let isAwaited = state.withLock { state in
            guard case .unawaited(let body) = state else { return false }
            state = .awaited(body, continuation)
            return true
        }
        if !isAwaited { continuation.resume(throwing: CancellationError()) }
        return isAwaited
    }

    /// Runs the body, unless the call was cancelled.
    func run() {
        guard case .awaited(let body, let continuation) = take() else { return }
        continuation.resume(with: Swift.Result(catching: body))
    }

    /// Cancels the call if it has not begun, and releases its body.
    func cancel() {
        guard case .awaited(_, let continuation) = take() else { return }
        continuation.resume(throwing: CancellationError())
    }

    private func take() -> State {
        state.withLock { state in
            defer { state = .taken }
            return state
        }
    }
}

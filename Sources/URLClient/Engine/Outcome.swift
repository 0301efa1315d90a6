internal import HTTPCodecs

/// What a task has come to, for one who waits for it.
final class Outcome: Sendable {
    typealias Value = Result<([UInt8], ClientResponse), ClientError>

    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case known(Value)
    }

    private let state = Locked(State.open)

    func set(_ content: [UInt8], _ task: TransferTask) {
        let value: Value
        let (error, response) = task.shared.withLock { ($0.error, $0.response) }
        if let error {
            value = .failure(error)
        } else if let response {
            value = .success((content, response))
        } else {
            value = .failure(ClientError(.internalFailure, "no response"))
        }
        let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
            if case .awaited(let waiter) = state {
                state = .known(value)
                return waiter
            }
            state = .known(value)
            return nil
        }
        waiter?.resume(returning: value)
    }

    func value() async -> Value {
        if case .known(let value) = state.withLock({ $0 }) { return value }
        return await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                if case .known(let value) = state { return value }
                state = .awaited(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

/// Lets one task at a time through, in the order of coming.
///
/// An actor would not do: what is done in a turn awaits, and no other may come between.
package final class Turns: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    package init() {}

    /// Waits until the lock is free and takes it; the caller must release it by `give`. A cancelled
    /// task waits, too: every holder releases it.
    package func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Ends the caller's turn.
    package func give() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}

/// A lock that tasks wait for without blocking a thread, in order of arrival.
///
/// An actor is not enough: it lets other tasks in while the holder of the lock awaits.
package final class AsyncLock: Sendable {
    private struct State: Sendable {
        var isLocked = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    package init() {}

    /// Waits until the lock is free and takes it; the caller must release it by `unlock`. A
    /// cancelled task waits, too, because every holder releases the lock.
    package func lock() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isLocked else {
                    state.isLocked = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Releases the lock, or passes it to the task that has waited longest.
    package func unlock() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.isLocked = false
            return nil
        }
        next?.resume()
    }
}

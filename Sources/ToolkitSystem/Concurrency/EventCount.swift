/// Counts the occurrences of an event, and lets tasks wait for them.
///
/// To wait for a condition without missing an occurrence, read `count`, check the condition, and
/// wait for `count + 1`.
package final class EventCount: Sendable {
    private struct Waiter: Sendable {
        let target: UInt64
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State: Sendable {
        var count: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// How often the event has occurred.
    package var count: UInt64 { state.withLock { $0.count } }

    /// Counts one more occurrence, and resumes the tasks that wait for it.
    package func advance() {
        let due = state.withLock { state in
            state.count += 1
            guard !state.waiters.isEmpty else { return [Waiter]() }
            let count = state.count
            let due = state.waiters.filter { $0.value.target <= count }
            for id in due.keys { state.waiters[id] = nil }
            return Array(due.values)
        }
        for waiter in due { waiter.continuation.resume() }
    }

    /// Waits until the event has occurred `target` times in all, or until `end`. Cancellation does
    /// not shorten the wait.
    package func wait(for target: UInt64, until end: ContinuousClock.Instant? = nil) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let alarm = end.map { end in
            Task {
                guard (try? await Task.sleep(until: end, clock: .continuous)) != nil else { return }
                self.endWait(id)
            }
        }
        await withCheckedContinuation { continuation in
            let isPast = state.withLock { state in
                if state.count >= target { return true }
                if let end, end <= .now { return true }
                state.waiters[id] = Waiter(target: target, continuation: continuation)
                return false
            }
            if isPast { continuation.resume() }
        }
        alarm?.cancel()
    }

    private func endWait(_ id: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume()
    }
}

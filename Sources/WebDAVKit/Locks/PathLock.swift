internal import ToolkitSystem

/// Serialises changes to overlapping paths, so that a condition that was checked still holds when
/// the change is made.
///
/// First come, first served: no request passes an older one that waits for a path around it or
/// inside of it. Otherwise a steady stream of writers inside of a folder would keep a MOVE of the
/// folder waiting without end.
package final class PathLock: Sendable {
    private struct State: Sendable {
        var queue = PathQueue()
        /// The waiting tasks, by the numbers of their requests.
        var continuations: [Int: CheckedContinuation<Bool, Never>] = [:]
        var lastObserver = 0
        /// Callbacks for paths that were held. A callback that returns `false` is removed.
        var observers: [Int: @Sendable ([ResourcePath]) -> Bool] = [:]

        /// Removes a request.
        /// - Returns: the tasks that may run now, in the order of arrival.
        mutating func remove(_ number: Int) -> [CheckedContinuation<Bool, Never>] {
            let ready = queue.remove(number)
            return ready.compactMap { continuations.removeValue(forKey: $0) }
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Adds a callback for paths that were held, once they are free again.
    /// - Parameter body: gets the paths, and returns whether it wants further calls; it must not
    ///   block.
    package func observe(_ body: @escaping @Sendable ([ResourcePath]) -> Bool) {
        state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = body
        }
    }

    /// Runs `body` with exclusive access to these paths, their ancestors and their descendants.
    /// - Parameter isWanted: called after a wait; whether `body` should still run.
    /// - Throws: `CancellationError` if the task is cancelled while it waits, or `isWanted` returns
    ///   false; then `body` does not run. Also the error of `body`.
    @inline(never)  // Each caller would have a copy of it.
    package func hold<Result>(
        _ paths: [ResourcePath], isWanted: () async -> Bool = { true },
        _ body: () async throws -> Result
    ) async throws -> Result {
        let (number, isWaiting) = state.withLock { $0.queue.add(paths) }
        if isWaiting {
            guard await wait(number) else { throw CancellationError() }
        }
        defer { leave(number) }
        if isWaiting {
            guard !Task.isCancelled, await isWanted() else { throw CancellationError() }
        }
        return try await body()
    }

    /// Runs `body` with exclusive access, without waiting.
    /// - Returns: `nil`, without a call of `body`, when another request holds an overlapping path
    ///   or waits for it.
    package func holdNow<Result>(
        _ paths: [ResourcePath], _ body: () throws -> Result?
    ) rethrows -> Result? {
        let added: Int? = state.withLock { state in
            state.queue.isFree(paths) ? state.queue.add(paths).number : nil
        }
        guard let number = added else { return nil }
        defer { leave(number) }
        return try body()
    }

    /// The number of waiting requests.
    package var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// - Returns: true when the request may run; false if its task was cancelled.
    private func wait(_ number: Int) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    guard state.queue.isWaiting(number) else {
                        // In the meantime the request was allowed to run, or was cancelled.
                        return state.queue.contains(number)
                    }
                    state.continuations[number] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: Int) {
        let (waiter, ready) = state.withLock {
            state -> (CheckedContinuation<Bool, Never>?, [CheckedContinuation<Bool, Never>]) in
            // The request is running already, or has ended.
            guard state.queue.isWaiting(number) else { return (nil, []) }
            // Later requests may have waited only for this one.
            return (state.continuations.removeValue(forKey: number), state.remove(number))
        }
        waiter?.resume(returning: false)
        for waiter in ready { waiter.resume(returning: true) }
    }

    private func leave(_ number: Int) {
        let (ready, paths, observers) = state.withLock { state in
            let paths = state.queue.paths(of: number)
            return (state.remove(number), paths, state.observers)
        }
        for waiter in ready { waiter.resume(returning: true) }
        guard !observers.isEmpty, !paths.isEmpty else { return }
        for (number, observer) in observers where !observer(paths) {
            state.withLock { $0.observers[number] = nil }
        }
    }
}

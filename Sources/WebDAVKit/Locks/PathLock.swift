internal import ToolkitSystem

/// Serialises changes to overlapping paths, so that a condition that was checked still holds when
/// the change is made.
///
/// First come, first served: no request passes an older one that waits for a path around it or
/// inside of it. Otherwise a steady stream of writers inside of a folder would keep a MOVE of the
/// folder waiting without end.
package final class PathLock: Sendable {
    private struct Waiter: Sendable {
        var number: Int
        var paths: [ResourcePath]
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: Sendable {
        /// Few at a time, so that a list finds them faster than a table.
        var held: [(number: Int, paths: [ResourcePath])] = []
        /// In the order of arrival.
        var waiting: [Waiter] = []
        /// Waiters that were cancelled before they began to wait.
        var cancelled: Set<Int> = []
        var next = 0
        /// Callbacks for paths that were held. A callback that returns `false` is removed.
        var observers: [Int: @Sendable ([ResourcePath]) -> Bool] = [:]

        /// Whether no earlier request is in the way.
        func isFree(_ paths: [ResourcePath]) -> Bool {
            !held.contains { Self.meet($0.paths, paths) }
                && !waiting.contains { Self.meet($0.paths, paths) }
        }

        private static func meet(_ some: [ResourcePath], _ others: [ResourcePath]) -> Bool {
            some.contains { one in others.contains { $0.isWithin(one) || one.isWithin($0) } }
        }

        /// The waiters that may run now, in the order of arrival.
        mutating func takeReady() -> [Waiter] {
            guard !waiting.isEmpty else { return [] }
            var before = OutermostPaths()
            for holder in held { before.insert(holder.paths) }
            var (ready, others): ([Waiter], [Waiter]) = ([], [])
            for waiter in waiting {
                if before.meet(waiter.paths) {
                    others.append(waiter)
                } else {
                    held.append((waiter.number, waiter.paths))
                    ready.append(waiter)
                }
                before.insert(waiter.paths)
            }
            waiting = others
            return ready
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Adds a callback for paths that were held, once they are free again.
    /// - Parameter body: gets the paths, and returns whether it wants further calls; it must not
    ///   block.
    package func observe(_ body: @escaping @Sendable ([ResourcePath]) -> Bool) {
        state.withLock { state in
            state.next &+= 1
            state.observers[state.next] = body
        }
    }

    /// Runs `body` with exclusive access to these paths, their ancestors and their descendants.
    /// - Parameter isWanted: called after a wait; whether `body` should still run.
    /// - Throws: `CancellationError` if the task is cancelled while it waits, or `isWanted` returns
    ///   false; then `body` does not run. Also the error of `body`.
    package func hold<Result>(
        _ paths: [ResourcePath], isWanted: () async -> Bool = { true },
        _ body: () async throws -> Result
    ) async throws -> Result {
        let (number, isFree) = begin(paths)
        if !isFree {
            guard await wait(number, paths) else { throw CancellationError() }
        }
        defer { leave(number) }
        if !isFree {
            guard !Task.isCancelled, await isWanted() else { throw CancellationError() }
        }
        return try await body()
    }

    /// The same without waiting.
    /// - Returns: `nil`, without a call of `body`, when another request holds one of the paths or
    ///   waits for it.
    package func holdNow<Result>(
        _ paths: [ResourcePath], _ body: () throws -> Result?
    ) rethrows -> Result? {
        let (number, isFree) = begin(paths)
        guard isFree else { return nil }
        defer { leave(number) }
        return try body()
    }

    /// How many wait.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func begin(_ paths: [ResourcePath]) -> (number: Int, isFree: Bool) {
        state.withLock { state in
            state.next &+= 1
            let isFree = state.isFree(paths)
            if isFree { state.held.append((state.next, paths)) }
            return (state.next, isFree)
        }
    }

    /// - Returns: whether it is the caller's turn; `false` where its task was cancelled.
    private func wait(_ number: Int, _ paths: [ResourcePath]) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (ready, isCancelled) = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return ([Waiter](), true) }
                    state.waiting.append(
                        Waiter(number: number, paths: paths, continuation: continuation))
                    return (state.takeReady(), false)
                }
                if isCancelled { return continuation.resume(returning: false) }
                for waiter in ready { waiter.continuation.resume(returning: true) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: Int) {
        let (waiter, ready) = state.withLock { state -> (Waiter?, [Waiter]) in
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                // It is at work, or has not begun to wait.
                if !state.held.contains(where: { $0.number == number }) {
                    state.cancelled.insert(number)
                }
                return (nil, [])
            }
            // Later waiters may have waited for this one alone.
            return (state.waiting.remove(at: index), state.takeReady())
        }
        waiter?.continuation.resume(returning: false)
        for waiter in ready { waiter.continuation.resume(returning: true) }
    }

    private func leave(_ number: Int) {
        let (ready, paths, observers) = state.withLock { state in
            var paths: [ResourcePath] = []
            if let index = state.held.firstIndex(where: { $0.number == number }) {
                paths = state.held.remove(at: index).paths
            }
            return (state.takeReady(), paths, state.observers)
        }
        for waiter in ready { waiter.continuation.resume(returning: true) }
        guard !observers.isEmpty, !paths.isEmpty else { return }
        for (number, observer) in observers where !observer(paths) {
            state.withLock { $0.observers[number] = nil }
        }
    }
}

/// Paths of which none is inside of another, in their order: one that is inside of another adds
/// nothing to the question of whether a path is around, or inside of, one of them.
package struct OutermostPaths {
    private var paths: [ResourcePath] = []

    package init() {}

    package mutating func insert(_ all: [ResourcePath]) {
        for path in all { insert(path) }
    }

    private mutating func insert(_ path: ResourcePath) {
        let start = paths.position(of: path)
        if start > 0, path.isWithin(paths[start - 1]) { return }
        // The members of the path follow it directly.
        var end = start
        while end < paths.count, paths[end].isWithin(path) { end += 1 }
        paths.replaceSubrange(start..<end, with: [path])
    }

    /// Whether one of some paths is around, or inside of, one of these.
    package func meet(_ others: [ResourcePath]) -> Bool {
        others.contains { path in
            let index = paths.position(of: path)
            if index < paths.count, paths[index].isWithin(path) { return true }
            return index > 0 && path.isWithin(paths[index - 1])
        }
    }
}

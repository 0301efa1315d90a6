internal import HTTPCodecs

/// Lets those wait for each other who change the same resource, or one inside of the other, so
/// that what was checked is still true when it counts.
package final class PathGate: Sendable {
    private struct Waiter: Sendable {
        var number: Int
        var paths: [ResourcePath]
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State: Sendable {
        /// Few at a time, so that a list finds them faster than a table.
        var held: [(number: Int, paths: [ResourcePath])] = []
        var waiting: [Waiter] = []
        var next = 0

        func isFree(_ paths: [ResourcePath]) -> Bool {
            !held.contains { others in
                others.paths.contains { other in
                    paths.contains { $0.isWithin(other) || other.isWithin($0) }
                }
            }
        }

        /// Those whose turn it is, in the order in which they came.
        mutating func takeReady() -> [Waiter] {
            guard !waiting.isEmpty else { return [] }
            var (ready, others): ([Waiter], [Waiter]) = ([], [])
            for waiter in waiting {
                guard isFree(waiter.paths) else {
                    others.append(waiter)
                    continue
                }
                held.append((waiter.number, waiter.paths))
                ready.append(waiter)
            }
            waiting = others
            return ready
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Runs `body` while nobody else runs with a path that is, or is around or inside of, one of
    /// these.
    package func hold<Result>(
        _ paths: [ResourcePath], _ body: () async throws -> Result
    ) async rethrows -> Result {
        let number = await enter(paths)
        defer { leave(number) }
        return try await body()
    }

    private func enter(_ paths: [ResourcePath]) async -> Int {
        let (number, isFree) = state.withLock { state in
            state.next &+= 1
            let isFree = state.isFree(paths)
            if isFree { state.held.append((state.next, paths)) }
            return (state.next, isFree)
        }
        guard !isFree else { return number }
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                state.waiting.append(
                    Waiter(number: number, paths: paths, continuation: continuation))
                return state.takeReady()
            }
            for waiter in ready { waiter.continuation.resume() }
        }
        return number
    }

    private func leave(_ number: Int) {
        let ready = state.withLock { state in
            if let index = state.held.firstIndex(where: { $0.number == number }) {
                state.held.remove(at: index)
            }
            return state.takeReady()
        }
        for waiter in ready { waiter.continuation.resume() }
    }
}

internal import CHTTPServerShims
internal import Dispatch

/// A bounded number of threads for calls that block.
package final class BlockingPool: Sendable {
    fileprivate struct State: Sendable {
        var limit: PoolLimit
        var running = 0
        var ended = 0
        var isWatched = false
        var waiting = FirstInFirstOut<Waiting>()
        /// How many of the waiting calls may have been cancelled.
        var cancelled = 0
    }

    fileprivate struct Waiting: Sendable {
        let work: @Sendable () -> Void
        /// Whether the call was not cancelled; `nil` for a call that cannot be cancelled.
        var isAwaited: (@Sendable () -> Bool)?
    }

    private let state: Locked<State>
    private static let watch = DispatchQueue(label: "http.blocking.watch")

    /// Runs file system calls of handlers.
    package static let files = BlockingPool(threads: 8, whileShort: Syscalls.activeProcessors())

    /// Runs work on content that takes processor time. It is separate from `files`, so that such
    /// work and calls that wait for disks do not delay each other.
    package static let computing = BlockingPool(threads: Syscalls.activeProcessors())

    /// Binds sockets. A slow name server can delay the resolution of the name.
    package static let binding = BlockingPool(threads: 4)

    /// Creates a pool, which starts threads when they are needed.
    /// - Parameters:
    ///   - threads: the most calls that run at the same time.
    ///   - whileShort: the most calls that run at the same time while each takes less than 10
    ///     milliseconds; not more than `threads`. `nil` for the same number as `threads`.
    package init(threads: Int, whileShort: Int? = nil) {
        state = Locked(State(limit: PoolLimit(least: whileShort ?? threads, most: threads)))
    }

    /// Whether the caller runs in a ``perform(_:)`` of any pool, and so may block.
    package static var mayBlockHere: Bool { http_server_may_block() != 0 }

    /// How often the caller's thread has had to wait since it started; negative if the system does
    /// not report this number.
    package static var waits: Int64 { http_server_waits() }

    /// Runs `body`, which cannot fail, on a thread of the pool; directly if the caller already runs
    /// in a `perform` of any pool.
    package func value<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        if http_server_may_block() != 0 { return body() }
        return await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: body()) }
        }
    }

    /// Runs `body` on a thread of the pool; directly if the caller already runs in a `perform` of
    /// any pool.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        if http_server_may_block() != 0 { return try body() }
        return try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }

    /// Runs `body` as `run` does, unless the caller's task is cancelled before a thread is free:
    /// then `body` is released immediately. Cancelled calls leave the queue once they may be half
    /// of all waiting calls.
    /// - Throws: `CancellationError` when `body` did not run, otherwise its error.
    package func runUnlessCancelled<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        if http_server_may_block() != 0 { return try body() }
        let call = PendingCall(body)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard call.register(continuation) else { return }
                submit(Waiting(work: { call.run() }, isAwaited: { call.isAwaited }))
            }
        } onCancel: {
            call.cancel()
            state.withLock { $0.noteCancellation() }
        }
    }

    /// Calls `body` for each item; `body` may block. Two threads share 64 items or more; when
    /// `body` throws, its thread skips the rest of its half.
    /// - Parameters:
    ///   - items: the items.
    ///   - body: the work for one item.
    /// - Throws: the first error of `body`.
    package static func inHalves<Item: Sendable, Fault: Error>(
        of items: [Item], _ body: @Sendable (Item) throws(Fault) -> Void
    ) throws(Fault) {
        guard items.count >= 64 else {
            for item in items { try body(item) }
            return
        }
        let fault = Locked<Fault?>(nil)
        DispatchQueue.concurrentPerform(iterations: 2) { half in
            // Take every other item, so that both halves take about the same time.
            for index in stride(from: half, to: items.count, by: 2) {
                do throws(Fault) {
                    try body(items[index])
                } catch {
                    return fault.withLock { $0 = $0 ?? error }
                }
            }
        }
        if let fault = fault.withLock({ $0 }) { throw fault }
    }

    /// Runs `work` on one of the threads without waiting for it.
    package func submit(_ work: @escaping @Sendable () -> Void) {
        submit(Waiting(work: work))
    }

    /// How many calls wait for a thread.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func submit(_ call: Waiting) {
        let (begins, isWatchDue) = state.withLock { state in
            if state.running < state.limit.current {
                state.running += 1
                return (true, false)
            }
            state.waiting.append(call)
            if state.isWatched || state.limit.isFixed { return (false, false) }
            state.isWatched = true
            state.ended = 0
            return (false, true)
        }
        if begins { start(call.work) }
        if isWatchDue { watch() }
    }

    private func start(_ work: @escaping @Sendable () -> Void) {
        BlockingThreads.run(work) { [self] in
            state.withLock { state in
                state.ended += 1
                if state.running <= state.limit.current, let next = state.waiting.popFirst() {
                    return next.work
                }
                state.running -= 1
                return nil
            }
        }
    }

    /// Adapts the limit every 10 milliseconds as long as calls wait.
    private func watch() {
        Self.watch.asyncAfter(deadline: .now() + .milliseconds(10)) { [self] in
            guard let begun = state.withLock({ $0.adapt() }) else { return }
            for work in begun { start(work) }
            watch()
        }
    }
}

extension BlockingPool.State {
    /// - Returns: the calls that may begin now; `nil` once no call waits, which ends the watch.
    mutating func adapt() -> [@Sendable () -> Void]? {
        if waiting.isEmpty {
            isWatched = false
            limit.reset()
            return nil
        }
        limit.adapt(running: running, ended: ended)
        ended = 0
        var begun: [@Sendable () -> Void] = []
        while running < limit.current, let next = waiting.popFirst() {
            running += 1
            begun.append(next.work)
        }
        return begun
    }

    /// Removes the cancelled calls once they may be half of those that wait.
    mutating func noteCancellation() {
        cancelled += 1
        guard cancelled * 2 > waiting.count else { return }
        var rest = FirstInFirstOut<BlockingPool.Waiting>()
        while let call = waiting.popFirst() {
            if call.isAwaited?() ?? true { rest.append(call) }
        }
        (waiting, cancelled) = (rest, 0)
    }
}

/// A task that calls the file system many times runs on the pool's threads. Otherwise it would
/// switch threads twice for each call.
extension BlockingPool: TaskExecutor {
    /// Runs `body` on threads of the pool. There, `run` and `value` call directly, without a change
    /// of thread. `body` starts on the caller's thread. It moves to the pool when it first
    /// suspends, at the latest at its first `run` or `value`.
    package func perform<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        if http_server_may_block() != 0 { return try await body() }
        return try await withTaskExecutorPreference(self) { try await body() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        submit { [self] in
            http_server_set_may_block(1)
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            http_server_set_may_block(0)
        }
    }
}

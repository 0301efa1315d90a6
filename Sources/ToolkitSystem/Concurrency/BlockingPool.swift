internal import CHTTPServerShims
internal import Dispatch

/// A bounded number of threads for calls that block.
///
/// Each is a serial queue, which Dispatch gives another thread than those of tasks. Concurrent queues
/// share theirs with tasks on Linux, as many as there are processors: calls that block would take
/// all of them, and Dispatch adds others only while none of them computes.
package final class BlockingPool: Sendable {
    private struct State: Sendable {
        var idle: [DispatchQueue] = []
        var queueCount = 0
        var waiting = FirstInFirstOut<@Sendable () -> Void>()
    }

    private let state = Locked(State())
    private let threads: Int

    /// For the file system calls of handlers.
    package static let files = BlockingPool(threads: 8)

    /// For work on content that takes processor time. It is separate from the calls that wait for
    /// disks, so that neither delays the other.
    package static let computing = BlockingPool(threads: Syscalls.activeProcessors())

    /// For binding, because resolving a name can take as long as a slow name server.
    package static let binding = BlockingPool(threads: 4)

    package init(threads: Int) {
        self.threads = max(threads, 1)
    }

    /// Whether the caller runs on a thread of a pool, where it may block.
    package static var mayBlockHere: Bool { http_server_may_block() != 0 }

    /// How often the caller's thread has had to wait since it started; negative if the system does
    /// not report it.
    package static var waits: Int64 { http_server_waits() }

    /// Runs `body`, which cannot fail, on a thread of the pool; directly if the caller runs on one
    /// already.
    package func value<Result: Sendable>(
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        if http_server_may_block() != 0 { return body() }
        return await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: body()) }
        }
    }

    /// Runs `body` on a thread of the pool; directly if the caller runs on one already.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        if http_server_may_block() != 0 { return try body() }
        return try await withCheckedThrowingContinuation { continuation in
            submit { continuation.resume(with: Swift.Result(catching: body)) }
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
            // Alternate, so that both halves take about the same time.
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
        let queue: DispatchQueue? = state.withLock { state in
            if let queue = state.idle.popLast() { return queue }
            guard state.queueCount < threads else {
                state.waiting.append(work)
                return nil
            }
            state.queueCount += 1
            return DispatchQueue(label: "http.blocking")
        }
        if let queue { start(work, on: queue) }
    }

    private func start(_ work: @escaping @Sendable () -> Void, on queue: DispatchQueue) {
        queue.async { @Sendable [self] in
            work()
            let next: (@Sendable () -> Void)? = state.withLock { state in
                if let next = state.waiting.popFirst() { return next }
                state.idle.append(queue)
                return nil
            }
            if let next { start(next, on: queue) }
        }
    }
}

/// A task that calls the file system many times runs on the pool's threads, so that it does not
/// change threads twice for each call.
extension BlockingPool: TaskExecutor {
    /// Runs `body` on threads of the pool, where `run` calls directly. `body` moves there at its
    /// first suspension, which is its first `run` at the latest; until then it stays on the
    /// caller's thread.
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

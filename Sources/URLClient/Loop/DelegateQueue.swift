internal import Dispatch

/// The serial queue on which delegates and completion handlers are called.
final class DelegateQueue: TaskExecutor, Sendable {
    private let queue: DispatchQueue

    /// - Parameter target: the queue whose threads are used, possibly concurrent or the main queue;
    ///   nil for the system's default.
    init(_ target: DispatchQueue?) {
        queue = DispatchQueue(label: "URLClient.delegate", target: target)
    }

    func send(_ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs `body` on the queue and returns its result.
    func ask<Answer: Sendable>(_ body: @escaping @Sendable () async -> Answer) async -> Answer {
        await Task(executorPreference: self) { await body() }.value
    }
}

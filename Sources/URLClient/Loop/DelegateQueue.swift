internal import Dispatch

/// Where delegates and completion handlers are called: one after the other.
final class DelegateQueue: TaskExecutor, Sendable {
    private let queue: DispatchQueue

    /// - Parameter target: whose threads are used, also a concurrent queue or the main one; nil for
    ///   the system's.
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

    /// Has a question answered there.
    func ask<Answer: Sendable>(_ body: @escaping @Sendable () async -> Answer) async -> Answer {
        await Task(executorPreference: self) { await body() }.value
    }
}

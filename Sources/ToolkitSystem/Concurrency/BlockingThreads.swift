internal import Dispatch

/// Threads for work that blocks: one for each piece of work that runs at the same time.
///
/// On Linux, tasks run on the threads of Dispatch's concurrent queues, one for each processor. Work
/// that blocks would occupy all of them, and Dispatch adds threads only while none of them
/// computes. Apple's systems run tasks on other threads.
enum BlockingThreads {
    #if canImport(Darwin)
        private static let queue = DispatchQueue(label: "http.blocking", attributes: .concurrent)

        /// Runs `work`, then all work that `next` returns, on the same thread if possible.
        static func run(
            _ work: @escaping @Sendable () -> Void,
            next: @escaping @Sendable () -> (@Sendable () -> Void)?
        ) {
            queue.async {
                work()
                if let following = next() { run(following, next: next) }
            }
        }
    #else
        private struct Job: Sendable {
            var work: @Sendable () -> Void
            let next: @Sendable () -> (@Sendable () -> Void)?
        }

        private final class Worker: Sendable {
            private let job: Locked<Job?>
            private let isDue = DispatchSemaphore(value: 0)

            init(_ job: Job) { self.job = Locked(job) }

            func give(_ new: Job) {
                job.withLock { $0 = new }
                isDue.signal()
            }

            /// Runs the job and the work that follows it. The worker keeps no reference to either.
            func work() {
                guard var job = job.withLock({ $0.take() }) else { return }
                while true {
                    job.work()
                    guard let following = job.next() else { return }
                    job.work = following
                }
            }

            func wait() { isDue.wait() }

            /// - Returns: whether work arrived in that time.
            func wait(seconds: Int) -> Bool {
                isDue.wait(timeout: .now() + .seconds(seconds)) == .success
            }
        }

        /// The idle workers; the one that became idle last is the last element.
        private static let idle = Locked<[Worker]>([])
        private static let idleSeconds = 5

        /// Runs `work`, then all work that `next` returns, on the same thread.
        static func run(
            _ work: @escaping @Sendable () -> Void,
            next: @escaping @Sendable () -> (@Sendable () -> Void)?
        ) {
            let job = Job(work: work, next: next)
            if let worker = idle.withLock({ $0.popLast() }) { return worker.give(job) }
            let worker = Worker(job)
            guard SystemThread.start({ serve(worker) }) else {
                return DispatchQueue(label: "http.blocking").async { serve(worker) }
            }
        }

        private static func serve(_ worker: Worker) {
            while true {
                worker.work()
                idle.withLock { $0.append(worker) }
                if worker.wait(seconds: idleSeconds) { continue }
                let wasIdle = idle.withLock { idle in
                    guard let place = idle.firstIndex(where: { $0 === worker }) else {
                        return false
                    }
                    idle.remove(at: place)
                    return true
                }
                // Otherwise a call took this worker from `idle`, and is about to give it work.
                if wasIdle { return }
                worker.wait()
            }
        }
    #endif
}

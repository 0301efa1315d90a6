import Dispatch
import HTTPServerCore
import TestSupport
import Testing

@Suite("The event loop as an executor")
struct EventLoopExecutorTests {
    private actor Counter {
        nonisolated let loop: EventLoop
        private var count = 0

        init(_ loop: EventLoop) {
            self.loop = loop
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe loop.asUnownedSerialExecutor()
        }

        /// Counts its calls; returns nil if it is not on the loop before and after a suspension.
        func next() async -> Int? {
            guard loop.isCurrent else { return nil }
            await Task.yield()
            assertIsolated()
            count += 1
            return loop.isCurrent ? count : nil
        }
    }

    @Test("Actors and tasks of the loop call each other, on its thread")
    func actors() async throws {
        let loop = try EventLoop(label: "test")
        let counter = Counter(loop)
        let counts = await Task(executorPreference: loop) {
            var counts: [Int?] = []
            for _ in 0..<20 {
                counts.append(await counter.next())
                if !loop.isCurrent { counts.append(nil) }
            }
            return counts
        }.value
        #expect(counts == (1...20).map { $0 })
        // Also from outside of the loop.
        #expect(await counter.next() == 21)
    }

    @Test("Jobs that work enqueues run before work that another thread adds meanwhile")
    func order() async throws {
        let loop = try EventLoop(label: "test")
        let log = ServerLog<String>()
        loop.execute {
            // Taken without a wake, because the loop's own thread has added it.
            loop.execute {
                Task(executorPreference: loop) { log.add("job") }
                let isAdded = DispatchSemaphore(value: 0)
                DispatchQueue.global().async {
                    loop.execute { log.add("work") }
                    isAdded.signal()
                }
                isAdded.wait()
            }
        }
        _ = await log.first { $0 == "work" }
        #expect(log.entries == ["job", "work"])
    }
}

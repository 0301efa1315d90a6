import Dispatch
import Foundation
import TestSupport
import Testing
import ToolkitSystem

@Suite("Calls that block")
struct BlockingPoolTests {
    /// In a process with a watch, because a failure is a process in which nothing goes on.
    private static func computingBeside() {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 20)
            exit(1)
        }
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        let pool = BlockingPool(threads: count)
        let begun = Locked(0)
        for _ in 0..<count {
            pool.submit {
                begun.withLock { $0 += 1 }
                DispatchSemaphore(value: 0).wait()
            }
        }
        while begun.withLock({ $0 }) < count {}
    }

    @Test("They begin while a task computes")
    func computing() async {
        await #expect(processExitsWith: .success) {
            await Task.detached { BlockingPoolTests.computingBeside() }.value
        }
    }

    @Test("As many run at once as the pool has threads, and the others follow in their order")
    func order() async throws {
        let pool = BlockingPool(threads: 2)
        let gate = DispatchSemaphore(value: 0)
        let (running, begun) = (Locked(0), Locked<[Int]>([]))
        for number in 0..<20 {
            pool.submit {
                running.withLock { $0 += 1 }
                begun.withLock { $0.append(number) }
                gate.wait()
                running.withLock { $0 -= 1 }
            }
        }
        for ended in 0..<20 {
            let expected = min(ended + 2, 20)
            try await waitUntil { begun.withLock { $0.count } == expected }
            #expect(running.withLock { $0 } <= 2)
            gate.signal()
        }
        try await waitUntil { running.withLock { $0 } == 0 }
        #expect(Set(begun.withLock { $0.prefix(2) }) == [0, 1])
        #expect(begun.withLock { $0.dropFirst(2) } == Array(2..<20)[...])
    }
}

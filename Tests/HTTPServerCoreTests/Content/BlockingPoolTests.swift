import Dispatch
import Foundation
import TestSupport
import Testing
import ToolkitSystem

@Suite("Calls that block")
struct BlockingPoolTests {
    /// In a process with a watch, because a failure is a process in which nothing goes on.
    private static func computingBeside() {
        OwnThread.start {
            Thread.sleep(forTimeInterval: 100)
            exit(1)
        }
        let count = 4 * Syscalls.activeProcessors()
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

    @Test("Calls that do not end are joined by others, up to the limit")
    func waiting() async throws {
        let pool = BlockingPool(threads: 6, whileShort: 1)
        let gate = DispatchSemaphore(value: 0)
        let (begun, ended) = (Locked(0), Locked(0))
        for _ in 0..<8 {
            pool.submit {
                begun.withLock { $0 += 1 }
                gate.wait()
                ended.withLock { $0 += 1 }
            }
        }
        try await waitUntil { begun.withLock { $0 } == 6 }
        for _ in 0..<8 { gate.signal() }
        try await waitUntil { ended.withLock { $0 } == 8 }
    }

    @Test("The limit grows while calls are long, and is the least one again once they are short")
    func limit() {
        var limit = PoolLimit(least: 2, most: 8)
        #expect(limit.current == 2 && !limit.isFixed)
        limit.adapt(running: 2, ended: 2)
        #expect(limit.current == 2)
        for (ended, expected) in [(1, 3), (0, 4), (3, 5), (0, 6), (0, 7), (0, 8), (7, 8)] {
            limit.adapt(running: limit.current, ended: ended)
            #expect(limit.current == expected)
        }
        limit.adapt(running: 8, ended: 8)
        #expect(limit.current == 2)
        limit.adapt(running: 2, ended: 0)
        limit.reset()
        #expect(limit.current == 2)
        #expect(PoolLimit(least: 4, most: 3).current == 3)
        #expect(PoolLimit(least: 3, most: 3).isFixed)
        #expect(PoolLimit(least: 0, most: 0).current == 1)
    }
}

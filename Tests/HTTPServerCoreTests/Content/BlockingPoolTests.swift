import Dispatch
import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("Blocking calls")
struct BlockingPoolTests {
    /// Runs in a separate process with a watchdog, because a failure blocks the whole process.
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

    @Test("Blocking calls begin while a task occupies its thread")
    func computing() async {
        await #expect(processExitsWith: .success) {
            await Task.detached { BlockingPoolTests.computingBeside() }.value
        }
    }

    @Test("As many calls run at once as the pool has threads, and the others follow in order")
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

    @Test("While calls do not end, more threads are added, up to the limit")
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

    /// A pool whose only thread waits for the gate.
    private static func busyPool() async throws -> (BlockingPool, DispatchSemaphore) {
        let (pool, gate, isBusy) = (
            BlockingPool(threads: 1), DispatchSemaphore(value: 0), Locked(false)
        )
        pool.submit {
            isBusy.withLock { $0 = true }
            gate.wait()
        }
        try await waitUntil { isBusy.withLock { $0 } }
        return (pool, gate)
    }

    private final class Content: Sendable {}

    @Test("A queued call that is cancelled is released at once and leaves the queue")
    func cancelledCalls() async throws {
        let (pool, gate) = try await Self.busyPool()
        let calls = Locked(0)
        weak let content: Content?
        var tasks: [Task<Void, any Error>] = []
        do {
            let held = Content()
            content = held
            tasks = (0..<100).map { _ in
                Task {
                    try await pool.runUnlessCancelled {
                        withExtendedLifetime(held) { calls.withLock { $0 += 1 } }
                    }
                }
            }
        }
        try await waitUntil { pool.waitingCount == 100 }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        tasks = []
        try await waitUntil { content == nil && pool.waitingCount <= 1 }
        gate.signal()
        try await pool.runUnlessCancelled { calls.withLock { $0 += 1000 } }
        #expect(calls.withLock { $0 } == 1000)
    }

    @Test("A running call is awaited, also when its task is cancelled")
    func cancelledWhileRunning() async throws {
        let pool = BlockingPool(threads: 1)
        let (gate, isRunning) = (DispatchSemaphore(value: 0), Locked(false))
        let task = Task {
            try await pool.runUnlessCancelled {
                isRunning.withLock { $0 = true }
                gate.wait()
                return 7
            }
        }
        try await waitUntil { isRunning.withLock { $0 } }
        task.cancel()
        gate.signal()
        #expect(try await task.value == 7)
    }

    @Test("Cancelled calls do not change the order of the others")
    func callsBesideCancelledOnes() async throws {
        let (pool, gate) = try await Self.busyPool()
        let order = Locked<[Int]>([])
        var cancelled: [Task<Void, any Error>] = []
        for number in 0..<40 {
            if number.isMultiple(of: 4) {
                pool.submit { order.withLock { $0.append(number) } }
            } else {
                cancelled.append(Task { try await pool.runUnlessCancelled {} })
            }
            try await waitUntil { pool.waitingCount == number + 1 }
        }
        for task in cancelled { task.cancel() }
        for task in cancelled { _ = await task.result }
        gate.signal()
        try await waitUntil { order.withLock { $0.count } == 10 }
        #expect(order.withLock { $0 } == Array(stride(from: 0, to: 40, by: 4)))
    }

    @Test("A BlockingHandler is not called for a queued request whose client has disconnected")
    func goneClient() async throws {
        let (gate, calls) = (DispatchSemaphore(value: 0), Locked(0))
        let handler = BlockingHandler(threads: 1) { _ in
            calls.withLock { $0 += 1 }
            gate.wait()
            return Response(.noContent)
        }
        let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        let first = MemoryConnection(handler)
        first.send(request)
        try await waitUntil { calls.withLock { $0 } == 1 }
        let second = MemoryConnection(handler)
        second.send(request)
        try await second.wait(for: "the request") { $0.received >= request.utf8.count }
        second.hangUp()
        _ = try await second.closed()
        gate.signal()
        let third = MemoryConnection(handler)
        third.send(request)
        gate.signal()
        for connection in [first, third] {
            let record = try await connection.output("\r\n\r\n")
            #expect(record.text.hasPrefix("HTTP/1.1 204 "))
            connection.end()
        }
        #expect(calls.withLock { $0 } == 2)
    }

    @Test(
        "The thread limit grows while calls are long, and drops to its minimum once they are short"
    )
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

import Dispatch
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("Password checks outside of event loops", .timeLimit(.minutes(2)))
struct PasswordQueueTests {
    private static let hash = PasswordHash(hashing: "right", rounds: 2)

    /// Blocks checks until the test lets them end.
    private final class Gate: Sendable {
        let begun = Locked(0)
        let semaphore = DispatchSemaphore(value: 0)

        func open(_ count: Int) { for _ in 0..<count { semaphore.signal() } }

        func queue(limit: Int, threads: Int = 2) -> PasswordQueue {
            PasswordQueue(limit: limit, pool: BlockingPool(threads: threads)) { hash, password in
                self.begun.withLock { $0 += 1 }
                self.semaphore.wait()
                return hash.matches(password)
            }
        }
    }

    @Test("Only the right password is verified")
    func verifying() async throws {
        #expect(try await Self.hash.verify("right"))
        for other in ["wrong", "", "right\0", "Right"] {
            #expect(try await !Self.hash.verify(other))
        }
    }

    @Test(
        "Two checks run at a time, others wait up to the limit, and one more gets 503",
        arguments: [1, 2, 5])
    func limit(_ limit: Int) async throws {
        let gate = Gate()
        let queue = gate.queue(limit: limit)
        let running = (0..<limit).map { number in
            Task { try await queue.check(number == 0 ? "right" : "wrong", Self.hash) }
        }
        try await waitUntil { queue.count == limit && gate.begun.withLock { $0 } == min(limit, 2) }
        let error = await #expect(throws: HTTPError.self) {
            try await queue.check("right", Self.hash)
        }
        #expect(error?.status == .serviceUnavailable && error?.fields[.retryAfter] == "2")
        #expect(gate.begun.withLock { $0 } == min(limit, 2))
        gate.open(limit + 1)
        for (number, task) in running.enumerated() {
            #expect(try await task.value == (number == 0))
        }
        try await waitUntil { queue.count == 0 }
        #expect(try await queue.check("right", Self.hash))
        #expect(gate.begun.withLock { $0 } == limit + 1)
    }

    @Test("A task cancelled while waiting fails at once, and its password is not checked")
    func cancelledWaiting() async throws {
        let gate = Gate()
        let queue = gate.queue(limit: 3, threads: 1)
        let first = Task { try await queue.check("right", Self.hash) }
        try await waitUntil { gate.begun.withLock { $0 } == 1 }
        let second = Task { try await queue.check("right", Self.hash) }
        try await waitUntil { queue.count == 2 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open(1)
        #expect(try await first.value)
        try await waitUntil { queue.count == 0 }
        #expect(gate.begun.withLock { $0 } == 1)
    }

    @Test("A task cancelled during its check does not wait for the end of the check")
    func cancelledRunning() async throws {
        let gate = Gate()
        let queue = gate.queue(limit: 1)
        let task = Task { try await queue.check("right", Self.hash) }
        try await waitUntil { gate.begun.withLock { $0 } == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // Its slot stays taken until the thread is free.
        #expect(queue.count == 1)
        gate.open(1)
        try await waitUntil { queue.count == 0 }
    }

    @Test("A task that is already cancelled takes no slot")
    func cancelledBefore() async throws {
        let gate = Gate()
        let queue = gate.queue(limit: 1)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await queue.check("right", Self.hash)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(queue.count == 0 && gate.begun.withLock { $0 } == 0)
    }
}

import Dispatch
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem

@Suite("Passwords that are checked outside of event loops", .timeLimit(.minutes(2)))
struct PasswordQueueTests {
    private static let hash = PasswordHash(hashing: "right", rounds: 2)

    /// Checks that end when the test lets them.
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

    @Test("The password is right, others are not")
    func verifying() async throws {
        #expect(try await Self.hash.verify("right"))
        for other in ["wrong", "", "right\0", "Right"] {
            #expect(try await !Self.hash.verify(other))
        }
    }

    @Test("Two run at a time, the limit is under way, and one more is 503", arguments: [1, 2, 5])
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

    @Test("A task that is cancelled while it waits has its error at once, and costs no derivation")
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

    @Test("A task that is cancelled during its check does not wait for the end")
    func cancelledRunning() async throws {
        let gate = Gate()
        let queue = gate.queue(limit: 1)
        let task = Task { try await queue.check("right", Self.hash) }
        try await waitUntil { gate.begun.withLock { $0 } == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        // Its place is free when the thread is.
        #expect(queue.count == 1)
        gate.open(1)
        try await waitUntil { queue.count == 0 }
    }

    @Test("A task that was cancelled before takes no place")
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

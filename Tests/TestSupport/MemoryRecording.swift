package import HTTPServerCore
import ToolkitSystem

/// The calls of a connection to its transport.
package struct MemoryRecord: Sendable {
    /// All bytes sent, in order.
    package var output: [UInt8] = []
    /// The bytes of each call that sent any.
    package var sends: [Int] = []
    /// Calls that could send nothing.
    package var blockedSends = 0
    /// The events that were watched for, from the first change on.
    package var interests: [PollInterest] = []
    /// How many bytes were received.
    package var received = 0
    package var hasShutDownWriting = false
    package var closes = 0
    /// How often the connection has requested to close by a reset.
    package var resets = 0
    /// Watched events to which the connection did not react: a poller would repeat them without
    /// end.
    package var needlessEvents = 0

    package var isClosed: Bool { closes > 0 }
    package var interest: PollInterest { interests.last ?? .read }

    /// The output as text without the Date lines, which differ each time.
    package var text: String {
        let lines = String(decoding: output, as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        return lines.filter { !$0.hasPrefix("Date: ") }.joined(separator: "\r\n")
    }

    /// How often the output contains a text.
    package func count(of part: String) -> Int {
        text.ranges(of: part).count
    }

    mutating func send(_ bytes: [UInt8]) {
        output += bytes
        sends.append(bytes.count)
    }
}

/// A record on whose changes tests wait.
package final class MemoryRecording: Sendable {
    private struct Waiter: Sendable {
        var id: Int
        var isMet: @Sendable (MemoryRecord) -> Bool
        var continuation: CheckedContinuation<MemoryRecord?, Never>
    }

    private struct State: Sendable {
        var record = MemoryRecord()
        var waiters: [Waiter] = []
        var nextID = 0
    }

    private let state = Locked(State())

    package init() {}

    package var record: MemoryRecord { state.withLock { $0.record } }

    package func change(_ body: (inout MemoryRecord) -> Void) {
        let (met, record) = state.withLock { state in
            body(&state.record)
            let record = state.record
            let met = state.waiters.filter { $0.isMet(record) }
            state.waiters.removeAll { waiter in met.contains { $0.id == waiter.id } }
            return (met, record)
        }
        for waiter in met { waiter.continuation.resume(returning: record) }
    }

    /// Waits until the record meets a condition.
    /// - Returns: the record, or `nil` when the condition was not met within the limit.
    package func record(
        within limit: Duration, when isMet: @escaping @Sendable (MemoryRecord) -> Bool
    ) async -> MemoryRecord? {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let alarm = Task {
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            self.giveUp(id)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            let waiter = Waiter(id: id, isMet: isMet, continuation: continuation)
            let record: MemoryRecord? = state.withLock { state in
                if isMet(state.record) { return state.record }
                state.waiters.append(waiter)
                return nil
            }
            if let record { continuation.resume(returning: record) }
        }
    }

    private func giveUp(_ id: Int) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: nil)
    }
}

internal import Synchronization

/// Counts the bytes that a task has received and sent.
final class TaskCounters: Sendable {
    private let receivedCount = Atomic<Int64>(0)
    /// How many bytes of `receivedCount` this task did not receive itself: the part that it resumed
    /// from, minus bytes that it received and discarded.
    private let foundCount = Atomic<Int64>(0)
    private let sentCount = Atomic<Int64>(0)
    private let expectedReceive = Atomic<Int64>(-1)
    private let expectedSend = Atomic<Int64>(-1)

    var received: Int64 { receivedCount.load(ordering: .relaxed) }
    /// Never negative: at the beginning of a response the two counts may not match.
    var newlyReceived: Int64 { max(0, received - foundCount.load(ordering: .relaxed)) }
    var sent: Int64 { sentCount.load(ordering: .relaxed) }
    var toReceive: Int64? { Self.known(expectedReceive.load(ordering: .relaxed)) }
    var toSend: Int64? { Self.known(expectedSend.load(ordering: .relaxed)) }

    private static func known(_ count: Int64) -> Int64? { count < 0 ? nil : count }

    func receive(_ count: Int) {
        receivedCount.add(Int64(count), ordering: .relaxed)
    }

    func send(_ count: Int) {
        sentCount.add(Int64(count), ordering: .relaxed)
    }

    /// Resets the counts when a transaction begins to send.
    func expectToSend(_ count: Int64?) {
        sentCount.store(0, ordering: .relaxed)
        expectedSend.store(count ?? -1, ordering: .relaxed)
    }

    /// Sets the counts when a response is delivered, of which `offset` bytes were received before.
    func expectToReceive(_ count: Int64?, after offset: Int64) {
        foundCount.add(offset - received, ordering: .relaxed)
        receivedCount.store(offset, ordering: .relaxed)
        // A server may announce any length.
        let (whole, isTooLong) = (count ?? 0).addingReportingOverflow(offset)
        expectedReceive.store(count == nil || isTooLong ? -1 : whole, ordering: .relaxed)
    }
}

/// The progress of a task.
public struct TransferProgress: Sendable, Hashable {
    /// How many bytes of the response's content were received, before content decoding. A resumed
    /// download includes the existing part.
    public var received: Int64
    /// How many bytes of content this task has received itself. Use this to compute rates.
    public var newlyReceived: Int64
    /// How many bytes will be received in total; nil if unknown.
    public var expectedToReceive: Int64?
    /// How many bytes of the request's content were sent.
    public var sent: Int64
    /// How many bytes will be sent in total; nil if unknown.
    public var expectedToSend: Int64?

    /// The completed fraction, 0...1: of the content to send until content is received, then of the
    /// content to receive. Nil if the length is unknown.
    public var fraction: Double? {
        if received > 0 || expectedToSend == nil || expectedToSend == 0 {
            return Self.part(received, expectedToReceive)
        }
        return Self.part(sent, expectedToSend)
    }

    private static func part(_ count: Int64, _ whole: Int64?) -> Double? {
        guard let whole, whole > 0 else { return nil }
        return min(1, Double(count) / Double(whole))
    }
}

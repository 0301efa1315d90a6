internal import Synchronization

/// How many bytes have come and gone.
final class TaskCounters: Sendable {
    private let receivedCount = Atomic<Int64>(0)
    /// How many received bytes do not come from this task: those of the part that it went on from,
    /// less those that it received and gave up.
    private let foundCount = Atomic<Int64>(0)
    private let sentCount = Atomic<Int64>(0)
    private let expectedReceive = Atomic<Int64>(-1)
    private let expectedSend = Atomic<Int64>(-1)

    var received: Int64 { receivedCount.load(ordering: .relaxed) }
    /// Between two transactions the counts may not fit each other.
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

    /// A transaction begins to send.
    func expectToSend(_ count: Int64?) {
        sentCount.store(0, ordering: .relaxed)
        expectedSend.store(count ?? -1, ordering: .relaxed)
    }

    /// A response is delivered; so much of it was there before.
    func expectToReceive(_ count: Int64?, after offset: Int64) {
        foundCount.add(offset - received, ordering: .relaxed)
        receivedCount.store(offset, ordering: .relaxed)
        // A server may claim any length.
        let (whole, isTooLong) = (count ?? 0).addingReportingOverflow(offset)
        expectedReceive.store(count == nil || isTooLong ? -1 : whole, ordering: .relaxed)
    }
}

/// How far a task has come.
public struct TransferProgress: Sendable, Hashable {
    /// How many bytes of the response's content have come, content coding still on. A download that
    /// is resumed counts the part that it found, too.
    public var received: Int64
    /// How many bytes of content this task has received itself: rates are made of them.
    public var newlyReceived: Int64
    /// How many bytes will come; nil if that is not known.
    public var expectedToReceive: Int64?
    /// How many bytes of the request's content were sent.
    public var sent: Int64
    /// How many bytes will be sent; nil if that is not known.
    public var expectedToSend: Int64?

    /// The part of the whole that is done, 0...1: of what is received, or of what is sent as long as
    /// nothing has come. Nil if the whole is not known.
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

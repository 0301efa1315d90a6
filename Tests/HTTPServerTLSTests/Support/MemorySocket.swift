import ToolkitSystem

/// A socket in memory below a TLS transport, on the thread of the test.
final class MemorySocket: Transport, @unchecked Sendable {
    /// Ciphertext for the next reads.
    var inbox: [[UInt8]] = []
    /// Whether the peer's stream ends after the inbox.
    var hasEnded = false
    /// Ciphertext that was sent, and not read by the test yet.
    var sent: [UInt8] = []
    /// The number of bytes of each call that sent any.
    var sends: [Int] = []
    /// How many bytes are accepted before the peer stops reading; `nil` for any number.
    var credit: Int?
    /// Whether the connection is lost, so that sending fails.
    var fails = false
    /// The greatest number of bytes that a call accepts.
    var sendLimit = Int.max
    private(set) var interest: PollInterest = .read
    private(set) var isShutDown = false
    private(set) var isClosed = false
    private(set) var isReset = false

    func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult {
        guard var first = inbox.first else { return hasEnded ? .done(0) : .wouldBlock }
        let count = min(first.count, room.count)
        unsafe room.copyBytes(from: first[..<count])
        first.removeFirst(count)
        if first.isEmpty { inbox.removeFirst() } else { inbox[0] = first }
        return .done(count)
    }

    func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
        guard !fails else { return .failed(32) }
        let count = min(bytes.count, sendLimit, credit ?? .max)
        guard count > 0 else { return .wouldBlock }
        unsafe sent += bytes[..<count]
        sends.append(count)
        if let old = credit { credit = old - count }
        return .done(count)
    }

    func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult { .failed(0) }
    func watch(_ interest: PollInterest) { self.interest = interest }
    func shutdownWriting() { isShutDown = true }
    func close() { isClosed = true }
    func closesByReset() { isReset = true }
}

/// The connection above the transport; it only records calls.
final class MemoryOwner: TransportOwner, @unchecked Sendable {
    let loopIdentity: ObjectIdentifier
    let socketPeer = PeerAddress()
    private let loop: AnyObject
    private var work: [@Sendable () -> Void] = []
    /// How often the transport reported that input is ready.
    private(set) var inputs = 0
    private(set) var failures: [String] = []
    private(set) var facts = TransportFacts()

    /// - Parameter loop: stands for the event loop of the connection.
    init(on loop: AnyObject) {
        self.loop = loop
        loopIdentity = ObjectIdentifier(loop)
    }

    func later(_ work: @escaping @Sendable () -> Void) { self.work.append(work) }
    func inputIsReady() { inputs += 1 }
    func noteFailure(_ cause: String) { failures.append(cause) }
    func learn(_ change: (inout TransportFacts) -> Void) { change(&facts) }

    /// Runs the deferred work.
    func turn() {
        let due = work
        work = []
        for work in due { work() }
    }
}

package import HTTPServerCore
import ToolkitSystem

/// A transport in memory whose faults a test chooses: input event by event, a peer that reads
/// slowly or not at all, and errors at a chosen byte.
///
/// It is used only on the loop. Tests use it through `MemoryConnection`.
package final class MemoryTransport: Transport, @unchecked Sendable {
    /// The input of one readable event.
    package enum Input: Sendable {
        case bytes([UInt8])
        /// The end of the peer's stream. It stays in the inbox.
        case end
        /// An error, such as ECONNRESET.
        case failure(CInt)
    }

    /// How the peer reads the output.
    package struct Peer: Sendable {
        /// The most bytes one call sends. After a call that sends only a part, the next one blocks.
        package var sendLimit: Int?
        /// How many bytes the peer reads before it stops; `nil` for any number.
        package var credit: Int?
        /// The error of the call that would send this byte.
        package var failure: (offset: Int, code: CInt)?

        package init(
            sendLimit: Int? = nil, credit: Int? = nil, failure: (offset: Int, code: CInt)? = nil
        ) {
            self.sendLimit = sendLimit
            self.credit = credit
            self.failure = failure
        }
    }

    package let recording = MemoryRecording()
    package weak var connection: Connection?
    private let loop: EventLoop
    private var peer: Peer
    private var inbox: [Input] = []
    package private(set) var interest: PollInterest = .read
    private var isReadable = false
    private var isWritable = true
    private var hasScheduledRead = false
    private var hasScheduledWrite = false
    private var sent = 0
    private var isClosed = false
    /// As a socket below TLS reports it.
    package var receivedBytes: Int64 = 0
    package var unacknowledgedBytes: Int?

    package init(_ loop: EventLoop, peer: Peer) {
        self.loop = loop
        self.peer = peer
    }

    // MARK: Events

    /// Adds input, each with a separate event as soon as the connection wants to read.
    package func add(_ input: [Input]) {
        inbox += input
        scheduleRead()
    }

    /// The peer reads this many more bytes.
    package func allow(_ bytes: Int) {
        peer.credit = (peer.credit ?? 0) + bytes
        scheduleWrite()
    }

    /// Makes sending fail at this byte of the output.
    package func fail(at offset: Int, _ code: CInt) {
        peer.failure = (offset, code)
    }

    private func scheduleRead() {
        guard !hasScheduledRead, !isClosed, !inbox.isEmpty, interest.contains(.read) else { return }
        hasScheduledRead = true
        loop.execute { [self] in tellReadable() }
    }

    private func tellReadable() {
        hasScheduledRead = false
        guard !isClosed, let first = inbox.first, interest.contains(.read) else { return }
        let before = inbox.count
        isReadable = true
        connection?.handle(MemoryTransport.event(isReadable: true))
        isReadable = false
        // Without a change, a poller reports the same event again, without end.
        if case .end = first, !isClosed, interest.contains(.read) {
            return recording.change { $0.needlessEvents += 1 }
        }
        if inbox.count == before, case .bytes(let old) = first, case .bytes(let new)? = inbox.first,
            old.count == new.count, !isClosed, interest.contains(.read)
        {
            return recording.change { $0.needlessEvents += 1 }
        }
        scheduleRead()
    }

    private func scheduleWrite() {
        guard !hasScheduledWrite, !isClosed, interest.contains(.write), peer.credit != 0 else {
            return
        }
        hasScheduledWrite = true
        loop.execute { [self] in tellWritable() }
    }

    private func tellWritable() {
        hasScheduledWrite = false
        guard !isClosed, interest.contains(.write) else { return }
        isWritable = true
        connection?.handle(MemoryTransport.event(isWritable: true))
        scheduleWrite()
    }

    /// The event of a poller.
    package static func event(
        isReadable: Bool = false, isWritable: Bool = false, isHungUp: Bool = false
    ) -> PollEvent {
        PollEvent(token: 0, isReadable: isReadable, isWritable: isWritable, isHungUp: isHungUp)
    }

    // MARK: Transport

    package func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult {
        // Input that arrived while it was not watched for can be read without an event.
        guard isReadable || !interest.contains(.read), let first = inbox.first else {
            return .wouldBlock
        }
        switch first {
        case .bytes(let bytes):
            let count = min(bytes.count, room.count)
            unsafe room.copyBytes(from: bytes[..<count])
            isReadable = count < bytes.count
            if isReadable {
                inbox[0] = .bytes(Array(bytes[count...]))
            } else {
                inbox.removeFirst()
            }
            recording.change { $0.received += count }
            return .done(count)
        case .end: return .done(0)
        case .failure(let code): return .failed(code)
        }
    }

    package func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
        let result = take(bytes.count)
        if case .done(let count) = result {
            let taken = unsafe Array(bytes[..<count])
            recording.change { $0.send(taken) }
        }
        return result
    }

    package func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult {
        var bytes = [UInt8](repeating: 0, count: Int(min(count, 1 << 20)))
        let read = unsafe bytes.withUnsafeMutableBytes {
            unsafe Syscalls.read(file, $0, at: offset)
        }
        guard case .done(let available) = read, available > 0 else { return read }
        let result = take(available)
        if case .done(let count) = result {
            let taken = Array(bytes[..<count])
            recording.change { $0.send(taken) }
        }
        return result
    }

    private func take(_ count: Int) -> IOResult {
        let result = takeNow(count)
        if case .wouldBlock = result { recording.change { $0.blockedSends += 1 } }
        return result
    }

    private func takeNow(_ count: Int) -> IOResult {
        guard isWritable else { return .wouldBlock }
        var part = min(count, peer.sendLimit ?? .max, peer.credit ?? .max)
        if let failure = peer.failure {
            guard sent < failure.offset else { return .failed(failure.code) }
            part = min(part, failure.offset - sent)
        }
        isWritable = part == count
        guard part > 0 else { return .wouldBlock }
        sent += part
        if let credit = peer.credit { peer.credit = credit - part }
        return .done(part)
    }

    package func watch(_ interest: PollInterest) {
        self.interest = interest
        recording.change { $0.interests.append(interest) }
        scheduleRead()
        scheduleWrite()
    }

    package func shutdownWriting() {
        recording.change { $0.hasShutDownWriting = true }
    }

    package func closesByReset() {
        recording.change { $0.resets += 1 }
    }

    package func close() {
        isClosed = true
        inbox = []
        recording.change { $0.closes += 1 }
    }
}

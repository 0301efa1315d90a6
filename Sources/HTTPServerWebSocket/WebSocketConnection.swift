internal import HTTPCodecs
internal import HTTPParser
package import HTTPServerCore
internal import Logging
internal import Synchronization
internal import ToolkitSystem
internal import WebSocketFrames

/// A WebSocket between its carrier and its tasks. Confined to the carrier's loop but for what is marked
/// otherwise.
package final class WebSocketConnection: UpgradedProtocol, @unchecked Sendable {
    /// Something to be sent.
    enum Output: Sendable {
        case message(WebSocketMessage)
        case piece(WebSocketPiece)
        case ping([UInt8])
    }

    typealias Reader = CheckedContinuation<WebSocketMessage?, any Error>
    typealias Writer = CheckedContinuation<Void, any Error>

    private let loop: EventLoop
    /// `nil` once the connection is gone, or about to be.
    private var carrier: (any UpgradeCarrier)?
    @exclusivity(unchecked)
    private var machine: WebSocketMachine
    private var inbox = Inbox()
    private var held = HeldInput()
    private var writers: [Writer] = []
    private var task: Task<Void, Never>?
    package private(set) var deadline = UInt64.max
    private let shared = Locked(Shared())
    private let waiting = Atomic<Int>(0)

    /// Bytes that wait for a slow client before `send` suspends, and bytes of messages that wait for
    /// a reader before input stops.
    static let highWater = 64 << 10
    /// Streams of zlib, which belong to a connection only while a message is on its way.
    private static let pool = ContentCodingPool()

    private struct Shared: Sendable {
        var end: WebSocketEnd?
    }

    /// Messages that wait for a reader, or a reader that waits for one.
    private struct Inbox {
        var messages = FirstInFirstOut<WebSocketMessage>()
        var bytes = 0
        var reader: (Reader, number: UInt64)?
        var lastNumber: UInt64 = 0
    }

    /// Input behind a message, which waits until the handler has had its turn: so it can answer a
    /// message although a fault follows it.
    private struct HeldInput {
        var bytes: [UInt8] = []
        var position = 0
        /// Whether it is about to be read.
        var isScheduled = false
        var isEmpty: Bool { bytes.isEmpty }
    }

    init(
        _ carrier: any UpgradeCarrier, deflate: DeflateExtension?, options: WebSocketOptions
    ) {
        self.carrier = carrier
        loop = carrier.loop
        unsafe machine = WebSocketMachine(
            role: .server, deflate: deflate, options: options, pool: Self.pool,
            at: .nanoseconds(Int64(truncatingIfNeeded: carrier.loop.now)))
        deadline = unsafe Self.nanoseconds(machine.deadline)
    }

    private var now: Duration { .nanoseconds(Int64(truncatingIfNeeded: loop.now)) }

    private static func nanoseconds(_ deadline: Duration?) -> UInt64 {
        guard let parts = deadline?.components else { return .max }
        return UInt64(clamping: parts.seconds) &* 1_000_000_000
            &+ UInt64(clamping: parts.attoseconds / 1_000_000_000)
    }

    /// Runs what the handler does with the socket.
    func run(_ body: @escaping @Sendable () async throws -> Void, logger: Logger) {
        task = Task(executorPreference: loop) {
            var code = CloseCode.normal
            do {
                try await body()
            } catch is WebSocketClosedError {
                // The end is known already.
            } catch is CancellationError {
                code = .goingAway
            } catch {
                code = .internalError
                logger.error("a WebSocket handler failed", metadata: ["error": "\(error)"])
            }
            await self.close(code, reason: "")
        }
    }

    // MARK: Any thread

    var end: WebSocketEnd? { shared.withLock { $0.end } }

    var waitingBytes: Int { waiting.load(ordering: .relaxed) }

    func send(_ output: Output) async throws {
        if loop.isCurrent, try write(output) { return }
        try await withCheckedThrowingContinuation { continuation in
            onLoop { self.write(output, continuation) }
        }
    }

    func next() async throws -> WebSocketMessage? {
        if loop.isCurrent, let message = takeMessage() { return message }
        let number = loop.isCurrent ? nextNumber() : nil
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                onLoop { self.read(continuation, number ?? self.nextNumber()) }
            }
        } onCancel: {
            loop.execute { self.cancelReader(number) }
        }
    }

    func close(_ code: CloseCode, reason: String) async {
        await withCheckedContinuation { continuation in
            onLoop {
                self.close(code, reason)
                continuation.resume()
            }
        }
    }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if loop.isCurrent { return body() }
        loop.execute(body)
    }

    // MARK: Output

    /// Sends, or reports that the sender has to wait: then nothing was sent.
    private func write(_ output: Output) throws -> Bool {
        guard let carrier, unsafe machine.phase == .open else {
            throw WebSocketClosedError(end: end)
        }
        guard writers.isEmpty, carrier.waitingBytes <= Self.highWater else { return false }
        try append(output, to: carrier)
        return true
    }

    private func append(_ output: Output, to carrier: any UpgradeCarrier) throws {
        var failure: WebSocketSendError?
        carrier.write { out in
            do throws(WebSocketSendError) {
                try unsafe machine.send(output, into: &out)
            } catch {
                failure = error
            }
        }
        flush(carrier)
        if let failure { throw failure == .closed ? WebSocketClosedError(end: end) : failure }
    }

    private func write(_ output: Output, _ writer: Writer) {
        guard let carrier, unsafe machine.phase == .open else {
            return writer.resume(throwing: WebSocketClosedError(end: end))
        }
        do {
            try append(output, to: carrier)
        } catch {
            return writer.resume(throwing: error)
        }
        guard carrier.waitingBytes > Self.highWater else { return writer.resume() }
        writers.append(writer)
    }

    /// Sends what was written, and has the machine know what is gone.
    private func flush(_ carrier: any UpgradeCarrier) {
        carrier.flush()
        noteSent(carrier)
        moveDeadline()
    }

    private func noteSent(_ carrier: any UpgradeCarrier) {
        let left = carrier.waitingBytes
        waiting.store(left, ordering: .relaxed)
        let sent = unsafe machine.unsentCount - left
        if sent > 0 { unsafe machine.sent(sent, at: now) }
    }

    private func moveDeadline() {
        let new = unsafe Self.nanoseconds(machine.deadline)
        guard new != deadline else { return }
        deadline = new
        carrier?.deadlineChanged()
    }

    package func hasRoom() {
        guard let carrier else { return }
        noteSent(carrier)
        moveDeadline()
        let waiting = writers
        writers = []
        for writer in waiting { writer.resume() }
        scheduleHeld()
        if wantsInput { carrier.readOn() }
    }

    private func close(_ code: CloseCode, _ reason: String) {
        guard let carrier else { return }
        carrier.write { unsafe machine.close(code, reason: reason, at: now, into: &$0) }
        flush(carrier)
        endIfDone()
    }

    // MARK: Input

    package var wantsInput: Bool { held.isEmpty && hasRoomForInput }

    private var hasRoomForInput: Bool {
        inbox.bytes <= Self.highWater && (carrier?.waitingBytes ?? 0) <= Self.highWater
    }

    package func receive(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let carrier else { return }
        var position = 0
        unsafe read(bytes.bindMemory(to: UInt8.self), &position, carrier)
        guard position < bytes.count else { return }
        unsafe held.bytes = Array(bytes[position...])
        held.position = 0
        scheduleHeld()
    }

    /// Reads to the end, or to the end of a message.
    private func read(
        _ bytes: UnsafeMutableBufferPointer<UInt8>, _ position: inout Int,
        _ carrier: any UpgradeCarrier
    ) {
        carrier.write { out in
            var span = unsafe MutableSpan(_unsafeElements: bytes)
            while let event = unsafe machine.next(&span, from: &position, at: now, into: &out) {
                take(event)
                if case .message = event { break }
            }
        }
        flush(carrier)
        endIfDone()
    }

    /// Reads on after the jobs that are about to run, one of which is the reader's.
    private func scheduleHeld() {
        guard !held.isEmpty, !held.isScheduled, hasRoomForInput else { return }
        held.isScheduled = true
        Task(executorPreference: loop) { self.onLoop { self.readHeld() } }
    }

    private func readHeld() {
        held.isScheduled = false
        guard let carrier else {
            held = HeldInput()
            return
        }
        guard hasRoomForInput else { return }
        // Taken out first, so that it is not copied.
        var bytes: [UInt8] = []
        swap(&bytes, &held.bytes)
        unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe read(bytes, &held.position, carrier)
        }
        guard held.position < bytes.count else {
            held = HeldInput()
            return carrier.readOn()
        }
        swap(&bytes, &held.bytes)
        scheduleHeld()
    }

    private func take(_ event: WebSocketEvent) {
        switch event {
        case .message(let message): deliver(message)
        case .closed(let end): ended(end)
        case .piece, .ping, .pong: break
        }
    }

    private func deliver(_ message: WebSocketMessage) {
        if let (reader, _) = inbox.reader.take() { return reader.resume(returning: message) }
        inbox.messages.append(message)
        // An empty message takes room, too.
        inbox.bytes += message.byteCount + 64
    }

    private func nextNumber() -> UInt64 {
        inbox.lastNumber &+= 1
        return inbox.lastNumber
    }

    private func takeMessage() -> WebSocketMessage? {
        guard let message = inbox.messages.popFirst() else { return nil }
        let hadRoom = hasRoomForInput
        inbox.bytes -= message.byteCount + 64
        guard !hadRoom, hasRoomForInput else { return message }
        scheduleHeld()
        if held.isEmpty { carrier?.readOn() }
        return message
    }

    private func read(_ reader: Reader, _ number: UInt64) {
        if let message = takeMessage() { return reader.resume(returning: message) }
        if let end { return Self.resume(reader, at: end) }
        guard inbox.reader == nil else {
            preconditionFailure("a WebSocket has one reader at a time")
        }
        if Task.isCancelled { return reader.resume(throwing: CancellationError()) }
        inbox.reader = (reader, number)
    }

    private func cancelReader(_ number: UInt64?) {
        guard let (reader, waiting) = inbox.reader, number == nil || waiting == number else {
            return
        }
        inbox.reader = nil
        reader.resume(throwing: CancellationError())
    }

    private static func resume(_ reader: Reader, at end: WebSocketEnd) {
        switch end.cause {
        case .peer, .local: reader.resume(returning: nil)
        case .failure, .transport: reader.resume(throwing: WebSocketClosedError(end: end))
        }
    }

    // MARK: The end

    package func deadlineReached() {
        guard let carrier else { return }
        var event: WebSocketEvent?
        carrier.write { event = unsafe machine.tick(at: now, into: &$0) }
        if let event { take(event) }
        flush(carrier)
        endIfDone()
    }

    package func serverStops() { close(.goingAway, "") }

    package func connectionClosed(_ reason: ConnectionCloseReason) {
        carrier = nil
        if let event = unsafe machine.transportEnded() { take(event) }
        releaseWriters()
    }

    private func ended(_ end: WebSocketEnd) {
        shared.withLock { $0.end = end }
        if let (reader, _) = inbox.reader.take() { Self.resume(reader, at: end) }
        // A closed conversation may be followed by work; one that was cut off is of no use.
        switch end.cause {
        case .peer, .local: break
        case .failure, .transport: task?.cancel()
        }
        task = nil
    }

    /// Closes the carrier once the machine wants that.
    private func endIfDone() {
        guard unsafe machine.closesTransport, let carrier else { return }
        self.carrier = nil
        // A client that has sent its close frame sends no more; one that has failed may.
        let isClosed = end.map { $0.cause == .peer || $0.cause == .local } ?? false
        carrier.finish(leavesInput: !isClosed)
        carrier.flush()
        releaseWriters()
    }

    private func releaseWriters() {
        let waiting = writers
        writers = []
        for writer in waiting { writer.resume(throwing: WebSocketClosedError(end: end)) }
    }
}

extension WebSocketMachine {
    fileprivate mutating func send(
        _ output: WebSocketConnection.Output, into out: inout ByteBuffer
    ) throws(WebSocketSendError) {
        switch output {
        case .message(let message): try send(message, into: &out)
        case .piece(let piece):
            try send(piece: piece.bytes.span, of: piece.kind, isLast: piece.isLast, into: &out)
        case .ping(let payload): try ping(payload, into: &out)
        }
    }
}

extension WebSocketMessage {
    /// The bytes of the content.
    fileprivate var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

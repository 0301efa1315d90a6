internal import HTTPCodecs
internal import HTTPParser
internal import Synchronization
package import ToolkitSystem
package import WebSocketFrames

/// A WebSocket between its carrier and its tasks, the same for servers and clients. It is confined
/// to the carrier's loop, except for the members under "Any thread".
package final class WebSocketConnection: @unchecked Sendable {
    /// A message, piece or ping to send.
    package enum Output: Sendable {
        case message(WebSocketMessage)
        case piece(WebSocketPiece)
        case ping([UInt8])
    }

    package typealias EndHandler = (WebSocketConnection, WebSocketEnd) -> Void
    typealias Writer = CheckedContinuation<Void, any Error>

    let loop: any WebSocketLoop
    /// `nil` once the connection is closed or about to close.
    var carrier: (any WebSocketCarrier)?
    @exclusivity(unchecked)
    var machine: WebSocketMachine
    var held = HeldInput()
    var writers: [Writer] = []
    /// The approximate bytes that were sent since the loop last ran other work.
    var turnBytes = 0
    /// Whether the carrier can no longer send.
    var isMute = false
    /// Whether the close frame was sent because the server stops.
    package private(set) var isStopping = false
    var pongs = PongWaits()
    package internal(set) var deadline = UInt64.max
    let inbox = MessageInbox(limit: WebSocketConnection.highWater)
    let waiting = Atomic<Int>(0)
    /// Called at the end of the connection, on the loop.
    private var endHandler: EndHandler?

    /// The limit of bytes that wait for a slow peer, above which `send` suspends, and of bytes of
    /// messages that wait for a reader, above which input stops.
    static let highWater = 64 << 10
    /// Streams of zlib. A connection without a context uses one only while a message is compressed
    /// or decompressed.
    private static let pool = ContentCodingPool()

    /// - Parameters:
    ///   - carrier: the connection below, after its handshake.
    ///   - loop: the loop that the carrier, and this call, are confined to.
    ///   - role: the side of the connection.
    ///   - deflate: the parameters of compression that the handshake agreed on.
    ///   - options: limits, times, and whether pieces are delivered.
    package init(
        _ carrier: any WebSocketCarrier, on loop: any WebSocketLoop, role: WebSocketRole,
        deflate: DeflateExtension?, options: WebSocketOptions
    ) {
        self.carrier = carrier
        self.loop = loop
        unsafe machine = WebSocketMachine(
            role: role, deflate: deflate, options: options, pool: Self.pool,
            at: .nanoseconds(Int64(truncatingIfNeeded: loop.monotonicTime)))
        unsafe machine.holdsFaults = true
        deadline = unsafe Self.nanoseconds(machine.deadline)
    }

    var now: Duration { .nanoseconds(Int64(truncatingIfNeeded: loop.monotonicTime)) }

    private static func nanoseconds(_ deadline: Duration?) -> UInt64 {
        guard let parts = deadline?.components else { return .max }
        // A deadline more than a century away counts as none.
        guard parts.seconds < 1 << 32 else { return .max }
        return UInt64(clamping: parts.seconds) &* 1_000_000_000
            &+ UInt64(clamping: parts.attoseconds / 1_000_000_000)
    }

    func moveDeadline() {
        let new = unsafe Self.nanoseconds(machine.deadline)
        guard new != deadline else { return }
        deadline = new
        carrier?.deadlineChanged()
    }

    // MARK: Any thread

    /// The end of the connection; `nil` while it is open.
    package var end: WebSocketEnd? { inbox.end }

    /// Whether a task has asked for a message.
    package var hasReader: Bool { inbox.hasReader }

    /// The bytes of output that the peer has not taken yet.
    package var waitingBytes: Int { waiting.load(ordering: .relaxed) }

    /// Sends a message, piece or ping, and suspends while too much output waits for the peer.
    /// - Throws: `WebSocketClosedError`, `WebSocketSendError`.
    package func send(_ output: Output) async throws {
        if loop.isEntered, try write(output) { return }
        try await withCheckedThrowingContinuation { continuation in
            onLoop {
                self.write(output, continuation)
            } orElse: {
                continuation.resume(throwing: WebSocketClosedError(end: self.end))
            }
        }
    }

    /// The next message; `nil` once the connection is closed. Pieces are joined.
    /// - Throws: `WebSocketClosedError`; `CancellationError` when the task is cancelled.
    package func next() async throws -> WebSocketMessage? {
        while let input = try await nextInput() {
            if let message = join(input) { return message }
        }
        return nil
    }

    /// The next piece of a message; `nil` once the connection is closed.
    /// - Throws: as ``next()``.
    package func nextPiece() async throws -> WebSocketPiece? {
        if let piece = inbox.takeBegun() { return piece }
        return try await nextInput()?.piece
    }

    private func nextInput() async throws -> WebSocketInput? {
        if let input = takeInput() { return input }
        return try await InputReader.value {
            read($0, $1)
        } onCancel: {
            cancelReading($0)
        }
    }

    package typealias InputReader = WaitingReader<WebSocketInput?>

    // The steps of `next`. Callers use them where another async function would cost memory.

    /// Takes a waiting message or piece, if there is one.
    package func takeInput() -> WebSocketInput? {
        guard let taken = inbox.take() else { return nil }
        if taken.madeRoom { onLoop { self.readerMovedOn() } }
        return taken.message
    }

    /// The whole message, once its last piece was taken; `nil` before.
    package func join(_ input: WebSocketInput) -> WebSocketMessage? { inbox.join(input) }

    /// Resumes the reader with the next message or piece, or lets it wait.
    package func read(_ reader: InputReader.Reader, _ wait: InputReader.Wait) {
        if inbox.read(reader, wait) { onLoop { self.readerMovedOn() } }
    }

    package func cancelReading(_ wait: InputReader.Wait) { inbox.cancel(wait) }

    /// Sends a close frame, if none was sent.
    package func close(_ code: CloseCode, reason: String) async {
        await withCheckedContinuation { continuation in
            onLoop {
                self.close(code, reason)
                continuation.resume()
            } orElse: {
                continuation.resume()
            }
        }
    }

    package func onLoop(
        _ body: @escaping @Sendable () -> Void, orElse isOver: @Sendable () -> Void = {}
    ) {
        if loop.isEntered { return body() }
        if !loop.hand(body) { isOver() }
    }

    // MARK: The end

    /// Calls a handler when the connection has ended, or immediately if it has ended already.
    package func whenEnded(_ handler: @escaping EndHandler) {
        if let end { return handler(self, end) }
        endHandler = handler
    }

    /// Begins the closing handshake.
    package func close(_ code: CloseCode, _ reason: String) {
        guard let carrier else { return }
        carrier.write { unsafe machine.close(code, reason: reason, at: now, into: &$0) }
        flush(carrier)
        endIfDone()
    }

    /// Closes the connection because the server stops, unless the closing handshake has begun.
    package func stop() {
        // A second stop finds the close frame of the first one.
        if unsafe machine.phase == .open { isStopping = true }
        close(.goingAway, "")
    }

    /// Called when `deadline` has passed.
    package func deadlineReached() {
        guard let carrier else { return }
        var event: WebSocketEvent?
        // A pong that this side has not read is not the peer's fault.
        if !wantsInput { unsafe machine.holdsInput(at: now) }
        carrier.write { event = unsafe machine.tick(at: now, into: &$0) }
        if let event { take(event) }
        flush(carrier)
        endIfDone()
    }

    /// Called when the carrier has ended.
    package func carrierEnded() {
        carrier = nil
        if let event = unsafe machine.transportEnded() { take(event) }
        releaseWriters()
    }

    func ended(_ end: WebSocketEnd) {
        inbox.finish(end)
        pongs.fail(WebSocketClosedError(end: end))
        endHandler.take()?(self, end)
    }

    /// Closes the carrier if the machine requests it.
    func endIfDone() {
        guard unsafe machine.closesTransport, let carrier else { return }
        self.carrier = nil
        // A peer that has sent its close frame sends no more; a peer that has violated the protocol
        // may.
        let isClosed = end.map { $0.cause == .peer || $0.cause == .local } ?? false
        carrier.finish(leavesInput: !isClosed)
        carrier.flush()
        releaseWriters()
    }
}

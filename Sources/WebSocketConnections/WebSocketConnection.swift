internal import HTTPCodecs
internal import HTTPParser
internal import Synchronization
package import ToolkitSystem
package import WebSocketFrames

/// A WebSocket between its carrier and its tasks: the same for servers and clients. Confined to the
/// carrier's loop but for what is marked otherwise.
package final class WebSocketConnection: @unchecked Sendable {
    /// Something to be sent.
    package enum Output: Sendable {
        case message(WebSocketMessage)
        case piece(WebSocketPiece)
        case ping([UInt8])
    }

    package typealias EndHandler = (WebSocketConnection, WebSocketEnd) -> Void
    typealias Writer = CheckedContinuation<Void, any Error>

    let loop: any WebSocketLoop
    /// `nil` once the connection is gone, or about to be.
    var carrier: (any WebSocketCarrier)?
    @exclusivity(unchecked)
    var machine: WebSocketMachine
    var held = HeldInput()
    var writers: [Writer] = []
    /// Bytes that were sent since the loop had a turn for others, roughly.
    var turnBytes = 0
    /// Whether the carrier can send nothing any more.
    var isMute = false
    /// Whether the close frame was sent because the server stops.
    package private(set) var isStopping = false
    var pongs = PongWaits()
    package internal(set) var deadline = UInt64.max
    let inbox = MessageInbox(limit: WebSocketConnection.highWater)
    let waiting = Atomic<Int>(0)
    /// Is told of the end, on the loop.
    private var endHandler: EndHandler?

    /// Bytes that wait for a slow peer before `send` suspends, and bytes of messages that wait for
    /// a reader before input stops.
    static let highWater = 64 << 10
    /// Streams of zlib, which belong to a connection only while a message is on its way.
    private static let pool = ContentCodingPool()

    /// - Parameters:
    ///   - carrier: the connection below, after its handshake.
    ///   - loop: where the carrier is confined to, and this call.
    ///   - role: the side that it is.
    ///   - deflate: the parameters of compression that the handshake agreed on.
    ///   - options: limits and times. Messages come whole, whatever they say.
    package init(
        _ carrier: any WebSocketCarrier, on loop: any WebSocketLoop, role: WebSocketRole,
        deflate: DeflateExtension?, options: WebSocketOptions
    ) {
        self.carrier = carrier
        self.loop = loop
        var options = options
        options.deliversPieces = false
        unsafe machine = WebSocketMachine(
            role: role, deflate: deflate, options: options, pool: Self.pool,
            at: .nanoseconds(Int64(truncatingIfNeeded: loop.monotonicTime)))
        unsafe machine.holdsFaults = true
        deadline = unsafe Self.nanoseconds(machine.deadline)
    }

    var now: Duration { .nanoseconds(Int64(truncatingIfNeeded: loop.monotonicTime)) }

    private static func nanoseconds(_ deadline: Duration?) -> UInt64 {
        guard let parts = deadline?.components else { return .max }
        // Longer than a century is never.
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

    /// How the connection has ended; `nil` while it is open.
    package var end: WebSocketEnd? { inbox.end }

    /// Whether a task has asked for a message.
    package var hasReader: Bool { inbox.hasReader }

    /// Bytes of output that the peer has not taken yet.
    package var waitingBytes: Int { waiting.load(ordering: .relaxed) }

    /// Sends something, and suspends while the peer is too far behind.
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

    /// The next message; `nil` once the connection is closed.
    /// - Throws: `WebSocketClosedError`; `CancellationError` when the task is cancelled.
    package func next() async throws -> WebSocketMessage? {
        if let message = takeMessage() { return message }
        return try await MessageReader.value {
            read($0, $1)
        } onCancel: {
            cancelReading($0)
        }
    }

    package typealias MessageReader = WaitingReader<WebSocketMessage?>

    // The steps of `next`, to be called where one more function that waits would cost memory.

    /// A message that waits.
    package func takeMessage() -> WebSocketMessage? {
        guard let taken = inbox.take() else { return nil }
        if taken.madeRoom { onLoop { self.readerMovedOn() } }
        return taken.message
    }

    /// Gives the next message to a reader, or has it wait.
    package func read(_ reader: MessageReader.Reader, _ wait: MessageReader.Wait) {
        if inbox.read(reader, wait) { onLoop { self.readerMovedOn() } }
    }

    package func cancelReading(_ wait: MessageReader.Wait) { inbox.cancel(wait) }

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

    /// Calls a handler when the connection has ended, or at once if it has.
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

    /// The server stops: closes, unless the closing handshake has begun.
    package func stop() {
        // A second stop finds the close frame of the first one.
        if unsafe machine.phase == .open { isStopping = true }
        close(.goingAway, "")
    }

    /// The time of `deadline` has come.
    package func deadlineReached() {
        guard let carrier else { return }
        var event: WebSocketEvent?
        // A pong that this side does not read is no fault of the peer.
        if !wantsInput { unsafe machine.holdsInput(at: now) }
        carrier.write { event = unsafe machine.tick(at: now, into: &$0) }
        if let event { take(event) }
        flush(carrier)
        endIfDone()
    }

    /// The carrier is gone.
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

    /// Closes the carrier once the machine wants that.
    func endIfDone() {
        guard unsafe machine.closesTransport, let carrier else { return }
        self.carrier = nil
        // A peer that has sent its close frame sends no more; one that has failed may.
        let isClosed = end.map { $0.cause == .peer || $0.cause == .local } ?? false
        carrier.finish(leavesInput: !isClosed)
        carrier.flush()
        releaseWriters()
    }
}

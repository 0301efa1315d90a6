internal import ToolkitSystem
internal import WebSocketFrames

/// Messages on their way from a loop to one reader on any thread: those that wait for the reader, or
/// the reader that waits for one.
struct MessageInbox: Sendable {
    typealias Waiting = WaitingReader<WebSocketMessage?>

    private struct State: @unchecked Sendable {
        var messages = FirstInFirstOut<WebSocketMessage>()
        var bytes = 0
        var waiting = Waiting()
        var ending = Ending.open
        /// Whether a message has come, which the reader may answer.
        var hasDelivered = false
        /// Whether a fault waits for the reader to ask again.
        var isFaultHeld = false
        /// Whether a reader has asked.
        var hasReader = false
        /// Whether messages are dropped, because the handler has returned.
        var isAbandoned = false

        var end: WebSocketEnd? { if case .ended(let end) = ending { end } else { nil } }
    }

    /// A word while the connection is open.
    private enum Ending {
        case open
        indirect case ended(WebSocketEnd)
    }

    private let state = Locked(State())
    /// How many bytes of messages wait before input stops.
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// How the connection has ended; `nil` while it is open.
    var end: WebSocketEnd? { state.withLock { $0.end } }

    /// Whether a reader has asked for a message.
    var hasReader: Bool { state.withLock { $0.hasReader } }

    /// Whether more messages are welcome.
    var hasRoom: Bool { state.withLock { $0.bytes <= limit } }

    // MARK: The loop's side

    /// Hands a message to the reader, or keeps it.
    func append(_ message: WebSocketMessage) {
        let reader = state.withLock { state -> Waiting.Reader? in
            guard !state.isAbandoned else { return nil }
            state.hasDelivered = true
            if let reader = state.waiting.take() { return reader }
            state.messages.append(message)
            state.bytes += message.cost
            return nil
        }
        reader?.resume(returning: message)
    }

    /// Drops messages from now on: the handler has returned, and the peer's close frame is behind
    /// them. Another task that still reads gets the end, and no message after a gap.
    func abandon() {
        state.withLock { state in
            (state.isAbandoned, state.bytes) = (true, 0)
            state.messages = FirstInFirstOut()
        }
    }

    /// Whether a fault has to wait until the reader asks for the message behind it, and so has
    /// answered all messages before it. From then on ``read(_:_:)`` reports that.
    func holdsFault() -> Bool {
        state.withLock { state in
            state.isFaultHeld = state.hasDelivered && !state.waiting.isTaken
            return state.isFaultHeld
        }
    }

    /// No more messages come. Messages that wait can still be read.
    func finish(_ end: WebSocketEnd) {
        let reader = state.withLock { state -> Waiting.Reader? in
            guard case .open = state.ending else { return nil }
            state.ending = .ended(end)
            return state.waiting.take()
        }
        if let reader { Self.resume(reader, at: end) }
    }

    // MARK: The reader's side

    /// A message that waits.
    struct Taken {
        let message: WebSocketMessage
        /// Whether there is room for more now, where there was none before.
        let madeRoom: Bool
    }

    /// The next message, if one waits.
    func take() -> Taken? { state.withLock { Self.take(from: &$0, limit) } }

    private static func take(from state: inout State, _ limit: Int) -> Taken? {
        state.hasReader = true
        guard !state.waiting.isTaken, let message = state.messages.popFirst() else { return nil }
        let hadRoom = state.bytes <= limit
        state.bytes -= message.cost
        return Taken(message: message, madeRoom: !hadRoom && state.bytes <= limit)
    }

    /// Gives the next message to a reader, or has it wait.
    /// - Returns: whether the loop has to look: there is room for more now, where there was none
    ///   before, or a fault has waited for the reader.
    func read(_ reader: Waiting.Reader, _ wait: Waiting.Wait) -> Bool {
        let answer = state.withLock { state -> Answer in
            // The end of a connection cancels its handler, which still reads to the end.
            if wait.isCancelled, state.end == nil { return .cancelled }
            precondition(!state.waiting.isTaken, "a WebSocket has one reader at a time")
            if let taken = Self.take(from: &state, limit) { return .taken(taken) }
            if let end = state.end { return .ended(end) }
            state.waiting.begin(reader, wait)
            defer { state.isFaultHeld = false }
            return .waits(releasesFault: state.isFaultHeld)
        }
        switch answer {
        case .waits(let releasesFault): return releasesFault
        case .cancelled: reader.resume(throwing: CancellationError())
        case .ended(let end): Self.resume(reader, at: end)
        case .taken(let taken):
            reader.resume(returning: taken.message)
            return taken.madeRoom
        }
        return false
    }

    private enum Answer {
        case waits(releasesFault: Bool)
        case cancelled
        case ended(WebSocketEnd)
        case taken(Taken)
    }

    func cancel(_ wait: Waiting.Wait) {
        state.withLock { $0.waiting.cancel(wait) }?.resume(throwing: CancellationError())
    }

    private static func resume(_ reader: Waiting.Reader, at end: WebSocketEnd) {
        switch end.cause {
        case .peer, .local: reader.resume(returning: nil)
        case .failure, .transport: reader.resume(throwing: WebSocketClosedError(end: end))
        }
    }
}

extension WebSocketMessage {
    /// The memory that it takes, roughly: an empty message takes some, too.
    fileprivate var cost: Int {
        switch self {
        case .text(let text): text.utf8.count + 64
        case .binary(let bytes): bytes.count + 64
        }
    }
}

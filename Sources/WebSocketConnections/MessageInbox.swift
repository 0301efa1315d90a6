internal import ToolkitSystem
internal import WebSocketFrames

/// A queue of messages, or their pieces, from a loop to one reader on any thread. It holds either
/// messages that wait for the reader, or the reader that waits for a message.
struct MessageInbox: Sendable {
    typealias Waiting = WaitingReader<WebSocketInput?>

    private struct State: @unchecked Sendable {
        var messages = FirstInFirstOut<WebSocketInput>()
        var bytes = 0
        /// The beginning of a message whose last piece has not been read, if the reader wants whole
        /// messages. It stays here if the reader is cancelled.
        var begun: WebSocketPiece?
        var waiting = Waiting()
        var ending = Ending.open
        /// Whether a message was delivered, which the reader may answer.
        var hasDelivered = false
        /// Whether a fault is held until the reader asks again.
        var isFaultHeld = false
        /// Whether a reader has asked for a message.
        var hasReader = false
        /// Whether messages are dropped, because the handler has returned.
        var isAbandoned = false

        var end: WebSocketEnd? { if case .ended(let end) = ending { end } else { nil } }
    }

    /// Indirect, so that it takes one word while the connection is open.
    private enum Ending {
        case open
        indirect case ended(WebSocketEnd)
    }

    private let state = Locked(State())
    /// The bytes of waiting messages above which input stops.
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// The end of the connection; `nil` while it is open.
    var end: WebSocketEnd? { state.withLock { $0.end } }

    /// Whether a reader has asked for a message.
    var hasReader: Bool { state.withLock { $0.hasReader } }

    /// Whether more messages may be read from the connection.
    var hasRoom: Bool { state.withLock { $0.bytes <= limit } }

    // MARK: The loop's side

    /// Passes a message or piece to the waiting reader, or queues it.
    func append(_ message: WebSocketInput) {
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

    /// Drops all messages, present and future, because the handler has returned and the peer's
    /// close frame comes after them. Another task that still reads gets the end, and never a
    /// message after a gap.
    func abandon() {
        state.withLock { state in
            (state.isAbandoned, state.bytes, state.begun) = (true, 0, nil)
            state.messages = FirstInFirstOut()
        }
    }

    /// Whether a fault must be held until the reader asks for the next message, and so has answered
    /// all messages before the fault. If so, ``read(_:_:)`` reports when the reader asks.
    func holdsFault() -> Bool {
        state.withLock { state in
            state.isFaultHeld = state.hasDelivered && !state.waiting.isTaken
            return state.isFaultHeld
        }
    }

    /// Ends the queue. Waiting messages can still be read.
    func finish(_ end: WebSocketEnd) {
        let reader = state.withLock { state -> Waiting.Reader? in
            guard case .open = state.ending else { return nil }
            state.ending = .ended(end)
            return state.waiting.take()
        }
        if let reader { Self.resume(reader, at: end) }
    }

    // MARK: The reader's side

    /// A message or piece taken from the queue.
    struct Taken {
        let message: WebSocketInput
        /// Whether taking it made the queue ready for more messages.
        let madeRoom: Bool
    }

    /// The whole message, once its last piece was read; `nil` before.
    func join(_ input: WebSocketInput) -> WebSocketMessage? {
        switch input {
        case .message(let message): return message
        case .piece(let piece):
            var (isAbandoned, begun) = state.withLock { ($0.isAbandoned, $0.begun.take()) }
            // The pieces before this one are dropped.
            guard !isAbandoned else { return nil }
            // Joined outside of the lock, which the loop needs: a message may be long.
            if begun == nil { begun = piece } else { begun?.bytes += piece.bytes }
            if piece.isLast { return begun?.message }
            state.withLock { [begun] state in
                if !state.isAbandoned { state.begun = begun }
            }
            return nil
        }
    }

    /// The pieces that ``join(_:)`` has kept, as one; `nil` if it has kept none.
    func takeBegun() -> WebSocketPiece? { state.withLock { $0.begun.take() } }

    /// The next message or piece, if one waits.
    func take() -> Taken? { state.withLock { Self.take(from: &$0, limit) } }

    private static func take(from state: inout State, _ limit: Int) -> Taken? {
        state.hasReader = true
        guard !state.waiting.isTaken, let message = state.messages.popFirst() else { return nil }
        let hadRoom = state.bytes <= limit
        state.bytes -= message.cost
        return Taken(message: message, madeRoom: !hadRoom && state.bytes <= limit)
    }

    /// Resumes the reader with the next message, or lets it wait.
    /// - Returns: whether the loop must be notified: the queue became ready for more messages, or a
    ///   held fault waits for this reader.
    func read(_ reader: Waiting.Reader, _ wait: Waiting.Wait) -> Bool {
        let answer = state.withLock { state -> Answer in
            // The end of a connection cancels its handler, which may still read the remaining
            // messages.
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

extension WebSocketInput {
    /// The approximate memory of the input; an empty message takes some, too.
    fileprivate var cost: Int {
        switch self {
        case .message(.text(let text)): text.utf8.count + 64
        case .message(.binary(let bytes)): bytes.count + 64
        case .piece(let piece): piece.bytes.count + 64
        }
    }
}

internal import HTTPCodecs
public import HTTPParser

/// The content of a response as it comes.
///
/// ```swift
/// let (content, response) = try await session.bytes(for: request)
/// for try await piece in content { size += piece.count }
/// ```
///
/// Little waits in memory: the connection is not read while the pieces are not taken. It can be read
/// once. The task is cancelled when nobody holds the content any more, or the task that reads it is
/// cancelled.
public struct ClientContent: AsyncSequence, Sendable {
    let reader: ContentReader

    /// Reads the pieces, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: ContentReader

        /// The next piece, never empty; nil after the last.
        /// - Throws: `ClientError` when the content does not come in whole.
        public mutating func next() async throws -> [UInt8]? {
            try await reader.next()
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

    /// All of the content in memory.
    /// - Parameter byteLimit: the most bytes to take; beyond it
    ///   ``ClientError/Kind/contentTooLong`` is thrown.
    public func collect(upTo byteLimit: Int) async throws -> [UInt8] {
        var all: [UInt8] = []
        for try await piece in self {
            guard piece.count <= byteLimit - all.count else {
                reader.task.cancel()
                throw ClientError(.contentTooLong, "more than \(byteLimit) bytes")
            }
            all += piece
        }
        return all
    }

    /// The fields behind the content, once it was read to its end (RFC 9110 section 6.5).
    public var trailers: HTTPFields { reader.task.response?.trailers ?? HTTPFields() }

    /// The task behind it: for its progress, its metrics, or to suspend it.
    public var task: TransferTask { reader.task }
}

/// Holds a task as long as somebody wants its content.
final class ContentReader: Sendable {
    let stream: ContentStream
    let task: TransferTask

    init(_ stream: ContentStream, _ task: TransferTask) {
        self.stream = stream
        self.task = task
    }

    deinit {
        task.cancel()
    }

    func next() async throws -> [UInt8]? {
        let piece = try await withTaskCancellationHandler {
            try await stream.next()
        } onCancel: {
            task.cancel()
        }
        // Behind the last piece, what is known at the end is known: trailers and metrics.
        if piece == nil { _ = try? await task.finished() }
        return piece
    }
}

/// Content between the session's loop and its reader.
final class ContentStream: Sendable {
    private struct State {
        var head: Result<ClientResponse, ClientError>?
        var headWaiter: CheckedContinuation<Result<ClientResponse, ClientError>, Never>?
        /// The pieces that nobody has read, and how many bytes they have.
        var content: [[UInt8]] = []
        var count = 0
        var end: Result<Void, ClientError>?
        var reader: CheckedContinuation<Result<[UInt8]?, ClientError>, Never>?
        var isFull = false
        var onRoom: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = Swift.max(limit, 1)
    }

    /// What to call when there is room again.
    func onRoom(_ call: @escaping @Sendable () -> Void) {
        state.withLock { $0.onRoom = call }
    }

    // MARK: the session's loop

    func begin(_ response: ClientResponse) {
        let waiter = state.withLock {
            state -> CheckedContinuation<Result<ClientResponse, ClientError>, Never>? in
            state.head = .success(response)
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: .success(response))
    }

    /// Whether there is room for more.
    func add(_ piece: [UInt8]) -> Bool {
        let (reader, hasRoom) = state.withLock {
            state -> (CheckedContinuation<Result<[UInt8]?, ClientError>, Never>?, Bool) in
            if let reader = state.reader {
                state.reader = nil
                return (reader, true)
            }
            state.content.append(piece)
            state.count += piece.count
            state.isFull = state.count >= limit
            return (nil, !state.isFull)
        }
        reader?.resume(returning: .success(piece))
        return hasRoom
    }

    func finish(_ result: Result<Void, ClientError>) {
        let (headWaiter, reader) = state.withLock { state in
            state.end = result
            if state.head == nil, case .failure(let error) = result { state.head = .failure(error) }
            state.onRoom = nil
            defer { (state.headWaiter, state.reader) = (nil, nil) }
            return (state.headWaiter, state.reader)
        }
        if case .failure(let error) = result {
            headWaiter?.resume(returning: .failure(error))
            reader?.resume(returning: .failure(error))
        } else {
            reader?.resume(returning: .success(nil))
        }
    }

    // MARK: the reader

    func response() async -> Result<ClientResponse, ClientError> {
        await withCheckedContinuation { continuation in
            let head = state.withLock { state -> Result<ClientResponse, ClientError>? in
                if state.head == nil { state.headWaiter = continuation }
                return state.head
            }
            if let head { continuation.resume(returning: head) }
        }
    }

    func next() async throws -> [UInt8]? {
        let result = await withCheckedContinuation { continuation in
            let (answer, onRoom) = state.withLock { state in take(from: &state, continuation) }
            onRoom?()
            if let answer { continuation.resume(returning: answer) }
        }
        return try result.get()
    }

    private func take(
        from state: inout State,
        _ continuation: CheckedContinuation<Result<[UInt8]?, ClientError>, Never>
    ) -> (Result<[UInt8]?, ClientError>?, (@Sendable () -> Void)?) {
        if !state.content.isEmpty {
            let piece = state.content.removeFirst()
            state.count -= piece.count
            let hadNoRoom = state.isFull
            state.isFull = state.isFull && state.count >= limit
            return (.success(piece), hadNoRoom && !state.isFull ? state.onRoom : nil)
        }
        switch state.end {
        case .success: return (.success(nil), nil)
        case .failure(let error): return (.failure(error), nil)
        case nil: break
        }
        guard state.reader == nil else {
            return (.failure(ClientError(.internalFailure, "two readers at once")), nil)
        }
        state.reader = continuation
        return (nil, nil)
    }
}

/// Hands content to a stream: what comes in one go in one piece.
final class StreamSink: ContentSink {
    private let stream: ContentStream
    private var piece: [UInt8] = []
    /// How long the last one became.
    private var usualCount = 0
    private static let longestPiece = 96 << 10

    init(_ stream: ContentStream) {
        self.stream = stream
    }

    override var receivesMuch: Bool { true }

    override func begin(_ response: ClientResponse) -> ClientError? {
        stream.begin(response)
        return nil
    }

    override func take(_ bytes: UnsafeRawBufferPointer) -> Answer {
        if piece.isEmpty { piece.reserveCapacity(max(bytes.count, usualCount)) }
        unsafe piece.append(contentsOf: bytes)
        return piece.count < Self.longestPiece ? .kept : flush()
    }

    override func flush() -> Answer {
        guard !piece.isEmpty else { return .taken }
        let whole = piece
        piece = []
        usualCount = whole.count
        return stream.add(whole) ? .taken : .full
    }

    /// Only when the task is completed, so that the reader finds the trailers there.
    override func finish(trailers: HTTPFields) -> ClientError? {
        _ = flush()
        stream.finish(.success(()))
        return nil
    }

    override func abandon(_ error: ClientError) {
        _ = flush()
        stream.finish(.failure(error))
    }
}

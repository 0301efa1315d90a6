internal import HTTPCodecs
public import HTTPParser
internal import ToolkitSystem

/// The content of a response as it arrives.
///
/// ```swift
/// let (content, response) = try await session.bytes(for: request)
/// for try await piece in content { size += piece.count }
/// ```
///
/// Little content is buffered: the connection is not read until the reader takes the pieces. The
/// content can be read once. The task is cancelled when the content is released, or when the Swift
/// task that reads it is cancelled.
public struct ClientContent: AsyncSequence, Sendable {
    let reader: ContentReader

    /// Reads the pieces, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: ContentReader

        /// The next piece, never empty; nil after the last.
        /// - Throws: the error that kept the content from being complete.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClientError) -> [UInt8]? {
            try await reader.next()
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

    /// Reads all of the content into memory.
    /// - Parameter byteLimit: the most bytes of content; longer content throws
    ///   ``ClientError/Kind/contentTooLong``.
    public func collect(upTo byteLimit: Int) async throws(ClientError) -> [UInt8] {
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

    /// The fields after the content (RFC 9110 section 6.5); empty until the content was read to its
    /// end.
    public var trailers: HTTPFields { reader.task.response?.trailers ?? HTTPFields() }

    /// The task that receives the content. Use it to read progress and metrics, or to suspend.
    public var task: TransferTask { reader.task }
}

/// Cancels a task when its content is released.
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

    func next() async throws(ClientError) -> [UInt8]? {
        let result = await withTaskCancellationHandler {
            await stream.next()
        } onCancel: {
            task.cancel()
        }
        let piece = try result.get()
        // After the last piece the task is over, and has its trailers and metrics.
        if piece == nil { _ = try? await task.finished() }
        return piece
    }
}

/// Content between the session's loop and its reader.
final class ContentStream: Sendable {
    private struct State {
        var head: Result<ClientResponse, ClientError>?
        var headWaiter: Waiter<Result<ClientResponse, ClientError>>?
        /// The pieces that were not read yet, and their total length in bytes.
        var content: [[UInt8]] = []
        var count = 0
        var end: Result<Void, ClientError>?
        var reader: Waiter<Result<[UInt8]?, ClientError>>?
        var isFull = false
        /// Whether more content is fetched only when the reader finds no piece.
        var isPulled = false
        var pull: Pull?
    }

    /// Fetches more content, which may arrive before the call returns. `isHeld` is true if content
    /// is held back until this call.
    typealias Pull = @Sendable (_ isHeld: Bool) -> Void

    private let state = Locked(State())
    private let limit: Int

    init(limit: Int) {
        self.limit = Swift.max(limit, 1)
    }

    /// Sets the closure to call when the buffer is no longer full, or has no piece for the reader.
    func onPull(_ call: @escaping Pull) {
        state.withLock { $0.pull = call }
    }

    // MARK: the session's loop

    func begin(_ response: ClientResponse) {
        let waiter = state.withLock {
            state -> Waiter<Result<ClientResponse, ClientError>>? in
            state.head = .success(response)
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: .success(response))
    }

    enum Place { case awaited, kept, full }

    /// Adds a piece. For `.awaited` the caller must call ``notifyReader()``.
    func add(_ piece: [UInt8]) -> Place {
        state.withLock { state in
            let isAwaited = state.reader != nil && state.content.isEmpty
            state.content.append(piece)
            state.count += piece.count
            state.isFull = !isAwaited && state.count >= limit
            return isAwaited ? .awaited : state.isFull ? .full : .kept
        }
    }

    /// Resumes the waiting reader with a piece.
    func notifyReader() {
        var piece: Result<[UInt8]?, ClientError>?
        let reader = state.withLock { state -> Waiter<Result<[UInt8]?, ClientError>>? in
            guard let reader = state.reader else { return nil }
            piece = take(from: &state)
            if piece != nil { state.reader = nil }
            return reader
        }
        if let piece { reader?.resume(returning: piece) }
    }

    func finish(_ result: Result<Void, ClientError>) {
        notifyReader()
        let (headWaiter, reader) = state.withLock { state in
            state.end = result
            if state.head == nil, case .failure(let error) = result { state.head = .failure(error) }
            state.pull = nil
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

    /// From now on content is fetched only when the reader finds no piece.
    /// - Returns: false if the reader is already waiting, so that content must be fetched without
    ///   its request.
    func startPull() -> Bool {
        state.withLock { state in
            state.isPulled = state.reader == nil || !state.content.isEmpty
            return state.isPulled
        }
    }

    /// From now on content is fetched until the buffer is full.
    /// - Returns: whether the buffer has space.
    func endPull() -> Bool {
        state.withLock { state in
            state.isPulled = false
            state.isFull = state.count >= limit
            return !state.isFull
        }
    }

    // MARK: the reader

    func response() async -> Result<ClientResponse, ClientError> {
        await Waiter.wait { waiter in
            let head = state.withLock { state -> Result<ClientResponse, ClientError>? in
                if state.head == nil { state.headWaiter = waiter }
                return state.head
            }
            if let head { waiter.resume(returning: head) }
        }
    }

    func next() async -> Result<[UInt8]?, ClientError> {
        let (piece, pull, isHeld) = state.withLock { state in
            let piece = take(from: &state)
            let isWanted = piece == nil || state.isFull && !state.isPulled && state.count < limit
            let isHeld = state.isFull || state.isPulled
            if isWanted { state.isFull = false }
            return (piece, isWanted ? state.pull : nil, isHeld)
        }
        pull?(isHeld)
        if let piece { return piece }
        // The call may have added a piece.
        return await Waiter.wait { waiter in
            let answer = state.withLock { state -> Result<[UInt8]?, ClientError>? in
                if let piece = take(from: &state) { return piece }
                guard state.reader == nil else {
                    return .failure(ClientError(.internalFailure, "content has two readers"))
                }
                state.reader = waiter
                return nil
            }
            if let answer { waiter.resume(returning: answer) }
        }
    }

    private func take(from state: inout State) -> Result<[UInt8]?, ClientError>? {
        guard state.content.isEmpty else {
            let piece = state.content.removeFirst()
            state.count -= piece.count
            return .success(piece)
        }
        return state.end.map { $0.map { nil } }
    }
}

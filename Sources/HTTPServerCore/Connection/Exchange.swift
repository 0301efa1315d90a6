public import HTTPParser
package import ToolkitSystem

/// One request that is not answered at once: its content on the way in, its task, and its stream
/// on the way out. Requests without content that are answered at once do without.
///
/// It is confined to its connection's loop but for what is marked otherwise.
package final class Exchange: @unchecked Sendable {
    /// Content that waits for the handler; reading stops above it.
    static let bufferedLimit = 256 << 10
    /// Pieces are joined up to this size: an array for each octet of content would take fifty times
    /// the memory that is counted.
    private static let joinedBytes = 16 << 10

    /// One reader's waiting for content; confined to the loop, too.
    private final class Wait: @unchecked Sendable {
        var isCancelled = false
    }

    package let loop: EventLoop
    /// `nil` once the exchange is over.
    private(set) var connection: Connection?
    let announcedLength: Int64?
    /// Removes the content coding; `nil` when there is none, or it stays.
    var decoding: (any ContentDecoding)?

    @exclusivity(unchecked)
    var body: BodyParser
    @exclusivity(unchecked)
    private var pieces = FirstInFirstOut<[UInt8]>()
    private var buffered = 0
    @exclusivity(unchecked)
    private var reader: CheckedContinuation<[UInt8]?, any Error>?
    private var readerWait: Wait?
    private var inputError: (any Error)?
    private var inputIsComplete: Bool
    private var trailers = HTTPFields()
    /// Takes the content in place of a reader.
    private var collector: ContentCollector?
    private var collected: [UInt8] = []
    /// Content received so far, and the mark of the last look at its rate.
    var received: Int64 = 0
    var rateMark: Int64 = 0
    /// How many pieces may be read before other connections get their turn.
    var readAheadLeft = 0

    var task: Task<Void, Never>?
    /// Tasks that write and have to wait, in the order in which they came.
    private var writers: [CheckedContinuation<Void, any Error>] = []

    init(connection: Connection, framing: BodyFraming, announced: Int64?, limits: ParserLimits) {
        self.connection = connection
        loop = connection.loop
        announcedLength = announced
        unsafe body = BodyParser(framing, limits: limits)
        inputIsComplete = framing == .none || framing == .tunnel
    }

    /// Content that is known to be missing; `nil` when its length is unknown.
    var contentLeft: Int64? {
        if inputIsComplete { return 0 }
        return announcedLength.map { $0 - received }
    }

    /// Whether content waits for the handler, and not the other way round.
    var hasUntakenContent: Bool { unsafe !pieces.isEmpty }
    var isFull: Bool { buffered >= Self.bufferedLimit }

    // MARK: Content

    /// The next piece of content, on any thread.
    func nextPiece() async throws -> [UInt8]? {
        if loop.isCurrent {
            if let piece = pieceAtHand() { return piece }
            if isAtEnd { return nil }
        }
        // A cancellation belongs to this wait: it may come before it has begun, or after its end.
        let wait = Wait()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if loop.isCurrent { return read(continuation, wait) }
                loop.execute { self.read(continuation, wait) }
            }
        } onCancel: {
            loop.execute { self.cancel(wait) }
        }
    }

    /// Sends bytes of a stream that nobody waits for; on the loop.
    package func send(_ bytes: [UInt8]) {
        connection?.write(bytes, nil)
    }

    func receivedTrailers() async -> HTTPFields {
        await withCheckedContinuation { continuation in
            if loop.isCurrent { return continuation.resume(returning: trailers) }
            loop.execute { continuation.resume(returning: self.trailers) }
        }
    }

    /// A piece that is available without waiting, though it may take a system call.
    private func pieceAtHand() -> [UInt8]? {
        guard unsafe reader == nil else { return nil }
        if unsafe pieces.isEmpty { connection?.readAhead() }
        return takePiece()
    }

    /// Whether all was read that there will ever be.
    private var isAtEnd: Bool {
        unsafe inputIsComplete && pieces.isEmpty && reader == nil && inputError == nil
    }

    /// The rest of the content, if it has arrived completely and is no longer than that. On any
    /// thread.
    func wholeContent(upTo byteLimit: Int) -> [UInt8]? {
        guard loop.isCurrent, inputIsComplete, unsafe reader == nil, inputError == nil,
            buffered <= byteLimit
        else { return nil }
        // Mostly it is one piece, which need not be copied.
        var all = unsafe pieces.popFirst() ?? []
        if all.count < buffered { all.reserveCapacity(buffered) }
        while let piece = unsafe pieces.popFirst() { all += piece }
        buffered = 0
        connection?.contentWasTaken()
        return all
    }

    // MARK: Collecting

    /// Whether the content is being collected for an answer.
    var isCollecting: Bool { collector != nil }

    /// Collects all content from now on, and what waits already.
    func collect(by collector: ContentCollector) {
        self.collector = collector
        while let piece = unsafe pieces.popFirst() { collected += piece }
        buffered = 0
        collected.reserveCapacity(Int(min(announcedLength ?? 0, Int64(Self.joinedBytes))))
    }

    /// The collected content or the error, once collecting has ended; `nil` before.
    func takeCollected() -> (ContentCollector, Result<[UInt8], any Error>)? {
        guard let collector else { return nil }
        let result: Result<[UInt8], any Error>
        if collected.count > collector.limit {
            result = .failure(collector.tooLong)
        } else if let inputError {
            result = .failure(inputError)
        } else if inputIsComplete {
            result = .success(collected)
        } else {
            return nil
        }
        self.collector = nil
        collected = []
        return (collector, result)
    }

    /// Takes collected content back, so that it can be read again.
    func giveBack(_ content: [UInt8]) {
        guard connection != nil, !content.isEmpty else { return }
        unsafe pieces.append(content)
        buffered += content.count
    }

    // MARK: Reading

    private func takePiece() -> [UInt8]? {
        guard let piece = unsafe pieces.popFirst() else { return nil }
        buffered -= piece.count
        connection?.contentWasTaken()
        return piece
    }

    private func read(_ continuation: CheckedContinuation<[UInt8]?, any Error>, _ wait: Wait) {
        guard !wait.isCancelled else { return continuation.resume(throwing: CancellationError()) }
        guard unsafe reader == nil else {
            return continuation.resume(throwing: RequestBodyError.alreadyRead)
        }
        if let piece = takePiece() { return continuation.resume(returning: piece) }
        if let inputError { return continuation.resume(throwing: inputError) }
        if inputIsComplete { return continuation.resume(returning: nil) }
        unsafe reader = continuation
        readerWait = wait
        connection?.contentIsWanted()
    }

    private func cancel(_ wait: Wait) {
        wait.isCancelled = true
        guard let reader = unsafe reader, readerWait === wait else { return }
        unsafe self.reader = nil
        reader.resume(throwing: CancellationError())
    }

    /// Takes in a piece of content from the connection.
    func deliver(_ piece: [UInt8]) {
        received += Int64(piece.count)
        if collector != nil {
            collected += piece
        } else if let reader = unsafe reader {
            unsafe self.reader = nil
            reader.resume(returning: piece)
        } else {
            let isJoined = unsafe piece.withUnsafeBytes { unsafe join($0) }
            if !isJoined { unsafe pieces.append(piece) }
            buffered += piece.count
        }
    }

    /// Takes in a piece that stands in a buffer of the connection.
    func deliver(_ bytes: UnsafeRawBufferPointer) {
        if collector != nil {
            received += Int64(bytes.count)
            unsafe collected.append(contentsOf: bytes)
            return
        }
        guard unsafe reader == nil, unsafe join(bytes) else { return unsafe deliver(Array(bytes)) }
        received += Int64(bytes.count)
        buffered += bytes.count
    }

    /// Appends bytes to the last waiting piece, if both are short.
    private func join(_ bytes: UnsafeRawBufferPointer) -> Bool {
        unsafe pieces.withLast { last in
            guard last.count + bytes.count <= Self.joinedBytes else { return false }
            unsafe last.append(contentsOf: bytes)
            return true
        } ?? false
    }

    func completeInput(trailers: HTTPFields) {
        inputIsComplete = true
        self.trailers = trailers
        if let reader = unsafe reader {
            unsafe self.reader = nil
            reader.resume(returning: nil)
        }
    }

    func failInput(_ error: any Error) {
        guard !inputIsComplete, inputError == nil else { return }
        inputError = error
        if let reader = unsafe reader {
            unsafe self.reader = nil
            reader.resume(throwing: error)
        }
    }

    /// Ends the content with an error. Pieces that have arrived can still be read: a resumable upload
    /// keeps them.
    private func loseInput(_ error: any Error) {
        inputIsComplete = false
        failInput(error)
    }

    private func dropPieces() {
        unsafe pieces = FirstInFirstOut()
        buffered = 0
    }

    // MARK: Stream

    /// Waits until the connection has taken enough; resumed by `resumeWriter`.
    func suspendWriter(_ continuation: CheckedContinuation<Void, any Error>) {
        writers.append(continuation)
    }

    func resumeWriter(_ error: (any Error)? = nil) {
        guard !writers.isEmpty else { return }
        let waiting = writers
        writers = []
        for writer in waiting {
            if let error { writer.resume(throwing: error) } else { writer.resume() }
        }
    }

    // MARK: End

    /// Cuts the ties: the connection goes on without, or is gone.
    func detach(_ error: (any Error)? = nil) {
        guard connection != nil else { return }
        connection = nil
        collector = nil
        collected = []
        // Errors are created only if a reader may miss content.
        if unsafe !inputIsComplete || !pieces.isEmpty {
            // The connection stays open and discards the rest of the content, so unread pieces must not
            // keep it from reading.
            if error == nil { dropPieces() }
            loseInput(error ?? RequestBodyError.connectionLost)
        }
        if !writers.isEmpty { resumeWriter(error ?? ResponseWriterError.connectionLost) }
        if error != nil { task?.cancel() }
        task = nil
    }
}

/// A stream that could not be sent.
public enum ResponseWriterError: Error, Hashable, Sendable {
    /// The client closed the connection, or it failed, or it was too slow.
    case connectionLost
    /// More or less was written than the response announced.
    case wrongLength
}

/// Where the producer of a streamed response writes.
///
/// It may be used from any thread. Several tasks may write at once: each piece goes out whole, in
/// the order of the calls, and each task waits while the client is behind. A stream that is
/// compressed is cut into pieces of 16 KiB, between which those of others may come.
public struct ResponseWriter: Sendable {
    let exchange: Exchange
    /// Encodes the stream; `nil` when it is not encoded.
    var coder: (any StreamEncoding)?
    /// Is given what is written before it goes out.
    private var observer: (@Sendable ([UInt8]) -> Void)?

    init(exchange: Exchange) {
        self.exchange = exchange
    }

    /// The same writer, with an observer of its pieces.
    /// - Parameter body: is given each piece before it is sent; it must not block.
    package func observed(_ body: @escaping @Sendable ([UInt8]) -> Void) -> ResponseWriter {
        var writer = self
        writer.observer = body
        return writer
    }

    /// Sends bytes; empty ones are nothing.
    ///
    /// It suspends while more than some 64 KiB wait for a slow client.
    /// - Throws: `ResponseWriterError`; it is of no use to write on after that.
    public func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        observer?(bytes)
        if let coder { return try await write(bytes, through: coder) }
        try await withCheckedThrowingContinuation { continuation in
            if exchange.loop.isCurrent { return send(bytes, continuation) }
            exchange.loop.execute { self.send(bytes, continuation) }
        }
    }

    /// Sends part of a file, without passing it through the process where the system can do that. The
    /// connection is cut when the file is shorter.
    ///
    /// It suspends while more than 2 MiB of files wait for a slow client.
    /// - Throws: `ResponseWriterError`; it is of no use to write on after that.
    package func write(_ file: OpenFile, offset: Int64, count: Int64) async throws {
        guard count > 0 else { return }
        guard coder == nil, observer == nil else {
            return try await writePieces(of: file, offset, count)
        }
        try await withCheckedThrowingContinuation { continuation in
            if exchange.loop.isCurrent { return send(file, offset, count, continuation) }
            exchange.loop.execute { self.send(file, offset, count, continuation) }
        }
    }

    /// The same for bytes that have to be seen.
    private func writePieces(of file: OpenFile, _ offset: Int64, _ count: Int64) async throws {
        var position = offset
        while position < offset + count {
            let (start, room) = (position, Int(min(offset + count - position, 256 << 10)))
            let bytes = try await BlockingPool.files.run {
                try file.content(at: start, count: room)
            }
            guard !bytes.isEmpty else { throw ResponseWriterError.wrongLength }
            try await write(bytes)
            position += Int64(bytes.count)
        }
    }

    private func send(
        _ file: OpenFile, _ offset: Int64, _ count: Int64,
        _ continuation: CheckedContinuation<Void, any Error>
    ) {
        guard let connection = exchange.connection else {
            return continuation.resume(throwing: ResponseWriterError.connectionLost)
        }
        connection.write(file, offset, count, continuation)
    }

    /// Sends a text as UTF-8.
    public func write(_ text: String) async throws {
        try await write(Array(text.utf8))
    }

    /// Says which fields follow the content; they are sent with chunked content only. With fields
    /// that must not go on the wire the stream fails at its end: the connection is cut, and the
    /// log says why.
    public func setTrailers(_ trailers: HTTPFields) async {
        await withCheckedContinuation { continuation in
            exchange.loop.execute {
                exchange.connection?.trailers = trailers
                continuation.resume()
            }
        }
    }

    private func send(_ bytes: [UInt8], _ continuation: CheckedContinuation<Void, any Error>) {
        guard let connection = exchange.connection else {
            return continuation.resume(throwing: ResponseWriterError.connectionLost)
        }
        connection.write(bytes, continuation)
    }
}

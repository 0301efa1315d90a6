internal import HTTPParser
internal import ToolkitSystem

/// The content of a request on its way from the connection to a reader, as a value. It never calls
/// the connection, but returns the reader's need. It is `~Copyable`, so that no access copies it.
struct ContentQueue: ~Copyable {
    /// The reader's need that the connection has to meet.
    enum Need { case nothing, input, room, readAhead }

    typealias Reader = WaitingReader<[UInt8]?>

    /// The connection stops reading once this many bytes wait for the handler.
    private static let bufferedLimit = 256 << 10
    /// Short pieces are joined up to this size: an array for each octet would take fifty times the
    /// memory that `buffered` counts.
    private static let joinedBytes = 16 << 10

    let announcedLength: Int64?
    private var pieces = FirstInFirstOut<[UInt8]>()
    private var buffered = 0
    private var reader = Reader()
    private var failure: (any Error)?
    private(set) var isComplete: Bool
    private(set) var trailers = HTTPFields()
    /// Gets all of the content at its end, in place of a reader.
    private var collector: ContentCollector?
    private var collected: [UInt8] = []
    /// How many bytes were received so far, and at the last `markRate`.
    private(set) var received: Int64 = 0
    private var rateMark: Int64 = 0
    private var wireMark: Int64 = 0
    /// How many pieces may be read ahead before other connections get their turn.
    var readAheadLeft = 0

    init(framing: BodyFraming, announced: Int64?) {
        announcedLength = announced
        isComplete = framing == .none || framing == .tunnel
    }

    /// How many bytes are still to come; `nil` when the length is unknown.
    var left: Int64? { isComplete ? 0 : announcedLength.map { $0 - received } }

    /// Whether content waits for the handler.
    var hasPieces: Bool { !pieces.isEmpty }
    var isFull: Bool { buffered >= Self.bufferedLimit }
    /// Whether all content was read, without an error.
    var isAtEnd: Bool { isComplete && pieces.isEmpty && !reader.isTaken && failure == nil }
    /// Whether reading ahead may spare the reader a wait.
    var mayReadAhead: Bool { !reader.isTaken && pieces.isEmpty && readAheadLeft > 0 }

    /// Content received since `markRate`.
    var receivedSinceMark: Int64 { received - rateMark }

    /// Starts to measure the rate. `wire` is `Transport.receivedBytes`.
    mutating func markRate(wire: Int64) { (rateMark, wireMark) = (received, wire) }

    /// Whether `count` bytes were received since `markRate`, as content or on the wire: encrypted
    /// content may be in an incomplete record.
    func hasReceived(_ count: Int64, wire: Int64) -> Bool {
        max(receivedSinceMark, wire - wireMark) >= count
    }

    // MARK: The connection's side

    /// Adds a received piece of content.
    mutating func append(_ piece: [UInt8]) {
        received += Int64(piece.count)
        if collector != nil {
            collected += piece
        } else if let reader = reader.take() {
            reader.resume(returning: piece)
        } else {
            let isJoined = unsafe piece.withUnsafeBytes { unsafe join($0) }
            if !isJoined { pieces.append(piece) }
            buffered += piece.count
        }
    }

    /// Adds a received piece that is in a buffer of the connection.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if collector != nil {
            received += Int64(bytes.count)
            unsafe collected.append(contentsOf: bytes)
            return
        }
        guard !reader.isTaken, unsafe join(bytes) else { return unsafe append(Array(bytes)) }
        received += Int64(bytes.count)
        buffered += bytes.count
    }

    /// Counts content that no handler reads any more.
    mutating func skip(_ count: Int) { received += Int64(count) }

    /// Appends bytes to the last waiting piece, if both are short.
    private mutating func join(_ bytes: UnsafeRawBufferPointer) -> Bool {
        pieces.withLast { last in
            guard last.count + bytes.count <= Self.joinedBytes else { return false }
            unsafe last.append(contentsOf: bytes)
            return true
        } ?? false
    }

    mutating func complete(trailers: HTTPFields) {
        isComplete = true
        self.trailers = trailers
        reader.take()?.resume(returning: nil)
    }

    mutating func fail(_ error: any Error) {
        guard !isComplete, failure == nil else { return }
        failure = error
        reader.take()?.resume(throwing: error)
    }

    /// Ends the content: the handler has ended or the connection is closed. After an error,
    /// received pieces can still be read, because a resumable upload keeps them.
    mutating func end(_ error: (any Error)?) {
        if collector != nil { (collector, collected) = (nil, []) }
        // Errors are created only if a reader may miss content.
        guard !isComplete || !pieces.isEmpty else { return }
        // The connection stays open and discards the rest of the content, so unread pieces must not
        // keep it from reading.
        if error == nil { (pieces, buffered) = (FirstInFirstOut(), 0) }
        isComplete = false
        fail(error ?? RequestBodyError.connectionLost)
    }

    // MARK: The reader's side

    /// The next piece, if one has arrived and no other reader waits.
    mutating func next() -> [UInt8]? {
        guard !reader.isTaken, let piece = pieces.popFirst() else { return nil }
        buffered -= piece.count
        return piece
    }

    /// The unread content, if its end has arrived and it has at most `byteLimit` bytes.
    mutating func takeAll(upTo byteLimit: Int) -> [UInt8]? {
        guard isComplete, !reader.isTaken, failure == nil, buffered <= byteLimit else { return nil }
        // Usually there is one piece, which need not be copied.
        var all = pieces.popFirst() ?? []
        if all.count < buffered { all.reserveCapacity(buffered) }
        while let piece = pieces.popFirst() { all += piece }
        buffered = 0
        return all
    }

    /// Gives the next piece to a reader, or makes the reader wait.
    mutating func read(_ reader: Reader.Reader, _ wait: Reader.Wait) -> Need {
        guard !wait.isCancelled else {
            reader.resume(throwing: CancellationError())
            return .nothing
        }
        guard !self.reader.isTaken else {
            reader.resume(throwing: RequestBodyError.alreadyRead)
            return .nothing
        }
        if let piece = next() {
            reader.resume(returning: piece)
            return .room
        }
        if let failure {
            reader.resume(throwing: failure)
        } else if isComplete {
            reader.resume(returning: nil)
        } else {
            self.reader.begin(reader, wait)
            return .input
        }
        return .nothing
    }

    mutating func cancel(_ wait: Reader.Wait) {
        reader.cancel(wait)?.resume(throwing: CancellationError())
    }

    // MARK: Collecting

    /// Moves the content from the front of `bytes` to `content`, if all of it has arrived and is
    /// within the limit.
    mutating func takeWhole(
        from bytes: inout UnsafeRawBufferPointer, upTo limit: Int, into content: inout [UInt8]
    ) -> Bool {
        guard received == 0, let left, left > 0, left <= Int64(min(limit, bytes.count)) else {
            return false
        }
        (received, isComplete) = (left, true)
        // A handler may keep `content`, which must not keep the memory of much longer content.
        content.removeAll(keepingCapacity: content.capacity / 2 <= Int(left))
        unsafe content.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<Int(left)]))
        unsafe bytes = UnsafeRawBufferPointer(rebasing: bytes[Int(left)...])
        return true
    }

    var isCollecting: Bool { collector != nil }

    /// Collects the pieces that are waiting, and all further content.
    mutating func collect(by collector: ContentCollector) {
        self.collector = collector
        while let piece = pieces.popFirst() { collected += piece }
        buffered = 0
        collected.reserveCapacity(Int(min(announcedLength ?? 0, Int64(Self.joinedBytes))))
    }

    /// Makes collected content readable again.
    mutating func giveBack(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        pieces.append(bytes)
        buffered += bytes.count
    }

    /// The collected content or the error, once collecting has ended; `nil` before.
    mutating func takeCollected() -> (ContentCollector, Result<[UInt8], any Error>)? {
        guard let collector else { return nil }
        let result: Result<[UInt8], any Error>
        if Int64(collected.count) + (left ?? 0) > Int64(collector.limit) {
            result = .failure(
                HTTPError(.contentTooLarge, "at most \(collector.limit) bytes are taken here"))
        } else if let failure {
            result = .failure(failure)
        } else if isComplete {
            result = .success(collected)
        } else {
            return nil
        }
        self.collector = nil
        collected = []
        return (collector, result)
    }
}

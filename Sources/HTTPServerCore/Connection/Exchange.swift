internal import HTTPParser
internal import ToolkitSystem

/// The exchange's view of its connection. All calls are made on the loop.
protocol ExchangeOwner: AnyObject {
    /// Meets a need of the content's reader.
    func provide(_ need: ContentQueue.Need)
    /// Sends a piece of a streamed response.
    /// - Parameter continuation: the writer to resume once more can be written, if any.
    func send(_ piece: ResponseBody.Piece, _ continuation: Exchange.Writer?)
    /// Sets the fields that follow a streamed response.
    func setTrailers(_ trailers: HTTPFields)
}

/// The incoming content, the task and the outgoing stream of one request. A request without content
/// that is answered immediately needs no exchange.
///
/// It is confined to its connection's loop, except for the section "on any thread". The connection
/// sets its properties and ends it; handlers read content and write streams through it.
package final class Exchange: @unchecked Sendable {
    typealias Writer = CheckedContinuation<Void, any Error>

    package let loop: EventLoop
    /// `nil` once the exchange has ended.
    private var owner: (any ExchangeOwner)?
    /// Removes the content coding; `nil` when there is none, or when it is left on.
    var decoding: (any ContentDecoding)?
    @exclusivity(unchecked)
    var body: BodyParser
    @exclusivity(unchecked)
    var content: ContentQueue
    var task: Task<Void, Never>?
    /// The writers that wait until more can be written, in order of arrival.
    @exclusivity(unchecked)
    private var writers: [Writer] = []
    let announcedLength: Int64?

    init(
        owner: any ExchangeOwner, loop: EventLoop, framing: BodyFraming, announced: Int64?,
        limits: ParserLimits
    ) {
        self.owner = owner
        self.loop = loop
        announcedLength = announced
        unsafe body = BodyParser(framing, limits: limits)
        unsafe content = ContentQueue(framing: framing, announced: announced)
    }

    /// Whether the connection still needs the handler's work.
    var isOpen: Bool { owner != nil }

    // MARK: Content, on any thread

    /// The next piece of content.
    func nextPiece() async throws -> [UInt8]? {
        if loop.isFree {
            if unsafe content.mayReadAhead { owner?.provide(.readAhead) }
            if let piece = unsafe content.next() {
                owner?.provide(.room)
                return piece
            }
            if unsafe content.isAtEnd { return nil }
        }
        return try await ContentQueue.Reader.value { reader, wait in
            if loop.isFree { return read(reader, wait) }
            loop.execute { self.read(reader, wait) }
        } onCancel: { wait in
            loop.execute { unsafe self.content.cancel(wait) }
        }
    }

    private func read(_ reader: ContentQueue.Reader.Reader, _ wait: ContentQueue.Reader.Wait) {
        let need = unsafe content.read(reader, wait)
        owner?.provide(need)
    }

    /// The unread content, if its end has arrived and it has at most `byteLimit` bytes.
    func wholeContent(upTo byteLimit: Int) -> [UInt8]? {
        guard loop.isFree, let all = unsafe content.takeAll(upTo: byteLimit) else { return nil }
        owner?.provide(.room)
        return all
    }

    /// Makes collected content readable again, also once the connection is lost; on the loop.
    func giveBack(_ bytes: [UInt8]) { unsafe content.giveBack(bytes) }

    func receivedTrailers() async -> HTTPFields {
        await withCheckedContinuation { continuation in
            if loop.isFree { return continuation.resume(returning: unsafe content.trailers) }
            loop.execute { continuation.resume(returning: unsafe self.content.trailers) }
        }
    }

    // MARK: Stream

    /// Sends bytes of a stream; no writer waits for them.
    package func send(_ bytes: [UInt8]) { owner?.send(.bytes(bytes), nil) }

    func send(_ piece: ResponseBody.Piece, _ continuation: Writer) {
        guard let owner else {
            return continuation.resume(throwing: ResponseWriterError.connectionLost)
        }
        owner.send(piece, continuation)
    }

    func setTrailers(_ trailers: HTTPFields) { owner?.setTrailers(trailers) }

    /// Makes a writer wait until the connection has sent enough and calls `resumeWriters`.
    func suspendWriter(_ writer: Writer) { unsafe writers.append(writer) }

    func resumeWriters(_ error: (any Error)? = nil) {
        guard unsafe !writers.isEmpty else { return }
        let waiting = unsafe writers
        unsafe writers = []
        for writer in waiting {
            if let error { writer.resume(throwing: error) } else { writer.resume() }
        }
    }

    // MARK: End

    /// Detaches the exchange: the connection continues without it, or is closed.
    func end(_ error: (any Error)? = nil) {
        guard isOpen else { return }
        owner = nil
        unsafe content.end(error)
        // Without writers no error is created.
        if unsafe !writers.isEmpty { resumeWriters(error ?? ResponseWriterError.connectionLost) }
        if error != nil { task?.cancel() }
        task = nil
    }
}

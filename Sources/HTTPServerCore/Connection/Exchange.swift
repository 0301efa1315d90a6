internal import HTTPParser
internal import ToolkitSystem

/// The connection as its exchange knows it. It is called on the loop.
protocol ExchangeOwner: AnyObject {
    /// Gets what a reader of the content needs.
    func provide(_ need: ContentQueue.Need)
    /// Sends a piece of a streamed response.
    /// - Parameter continuation: the writer that waits for room, if there is one.
    func send(_ piece: ResponseBody.Piece, _ continuation: Exchange.Writer?)
    /// Sets the fields that follow a streamed response.
    func setTrailers(_ trailers: HTTPFields)
}

/// One request that is not answered at once: its content on the way in, its task, and its stream
/// on the way out. Requests without content that are answered at once do without.
///
/// It is confined to its connection's loop but for what is marked otherwise. The connection changes
/// its values and ends it; handlers read and write by it.
package final class Exchange: @unchecked Sendable {
    typealias Writer = CheckedContinuation<Void, any Error>

    package let loop: EventLoop
    /// `nil` once the exchange is over.
    private var owner: (any ExchangeOwner)?
    /// Removes the content coding; `nil` when there is none, or it stays.
    var decoding: (any ContentDecoding)?
    @exclusivity(unchecked)
    var body: BodyParser
    @exclusivity(unchecked)
    var content: ContentQueue
    var task: Task<Void, Never>?
    /// Tasks that write and have to wait, in the order in which they came.
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

    /// Whether the handler's work is still of use.
    var isOpen: Bool { owner != nil }

    // MARK: Content, on any thread

    /// The next piece of content.
    func nextPiece() async throws -> [UInt8]? {
        if loop.isCurrent {
            if unsafe content.mayReadAhead { owner?.provide(.readAhead) }
            if let piece = unsafe content.next() {
                owner?.provide(.room)
                return piece
            }
            if unsafe content.isAtEnd { return nil }
        }
        return try await ContentQueue.Reader.value { reader, wait in
            if loop.isCurrent { return read(reader, wait) }
            loop.execute { self.read(reader, wait) }
        } onCancel: { wait in
            loop.execute { unsafe self.content.cancel(wait) }
        }
    }

    private func read(_ reader: ContentQueue.Reader.Reader, _ wait: ContentQueue.Reader.Wait) {
        let need = unsafe content.read(reader, wait)
        owner?.provide(need)
    }

    /// The rest of the content, if it has arrived completely and is no longer than that.
    func wholeContent(upTo byteLimit: Int) -> [UInt8]? {
        guard loop.isCurrent, let all = unsafe content.takeAll(upTo: byteLimit) else { return nil }
        owner?.provide(.room)
        return all
    }

    /// Takes collected content back, so that it can be read again; on the loop.
    func giveBack(_ bytes: [UInt8]) {
        if isOpen { unsafe content.giveBack(bytes) }
    }

    func receivedTrailers() async -> HTTPFields {
        await withCheckedContinuation { continuation in
            if loop.isCurrent { return continuation.resume(returning: unsafe content.trailers) }
            loop.execute { continuation.resume(returning: unsafe self.content.trailers) }
        }
    }

    // MARK: Stream

    /// Sends bytes of a stream that nobody waits for.
    package func send(_ bytes: [UInt8]) {
        owner?.send(.bytes(bytes), nil)
    }

    func send(_ piece: ResponseBody.Piece, _ continuation: Writer) {
        guard let owner else {
            return continuation.resume(throwing: ResponseWriterError.connectionLost)
        }
        owner.send(piece, continuation)
    }

    func setTrailers(_ trailers: HTTPFields) {
        owner?.setTrailers(trailers)
    }

    /// Has a writer wait until the connection has sent enough; resumed by `resumeWriters`.
    func suspendWriter(_ writer: Writer) {
        writers.append(writer)
    }

    func resumeWriters(_ error: (any Error)? = nil) {
        guard !writers.isEmpty else { return }
        let waiting = writers
        writers = []
        for writer in waiting {
            if let error { writer.resume(throwing: error) } else { writer.resume() }
        }
    }

    // MARK: End

    /// Cuts the ties: the connection goes on without it, or is gone.
    func end(_ error: (any Error)? = nil) {
        guard isOpen else { return }
        owner = nil
        unsafe content.end(error)
        // No error is created for no writer.
        if !writers.isEmpty { resumeWriters(error ?? ResponseWriterError.connectionLost) }
        if error != nil { task?.cancel() }
        task = nil
    }
}

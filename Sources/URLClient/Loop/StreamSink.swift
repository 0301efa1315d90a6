internal import HTTPCodecs
internal import HTTPParser

/// Passes content to a stream. Small parts that arrive together become one piece.
final class StreamSink: ContentSink {
    private let content: ContentStream
    private var piece: [UInt8] = []
    /// The length of the last piece, which is reserved for the next.
    private var usualCount = 0

    init(_ stream: ContentStream) {
        content = stream
    }

    override var receivesMuch: Bool { true }
    override var stream: ContentStream? { content }

    override func begin(_ response: ClientResponse) -> ClientError? {
        givenCount += 1
        content.begin(response)
        return nil
    }

    override func take(_ bytes: UnsafeRawBufferPointer) -> Answer {
        if piece.isEmpty { piece.reserveCapacity(max(bytes.count, usualCount)) }
        unsafe piece.append(contentsOf: bytes)
        return piece.count < ContentPiece.usualLength ? .kept : flush()
    }

    override func flush() -> Answer {
        guard !piece.isEmpty else { return .taken }
        let whole = piece
        piece = []
        usualCount = whole.count
        givenCount += 1
        switch content.add(whole) {
        case .awaited: isAwaited = true
        case .kept: break
        case .full: return .full
        }
        return .taken
    }

    /// Called when the response has its trailers, so that the reader finds them at the end.
    override func finish(trailers: HTTPFields) -> ClientError? {
        _ = flush()
        content.finish(.success(()))
        return nil
    }

    override func abandon(_ error: ClientError) {
        _ = flush()
        content.finish(.failure(error))
    }
}

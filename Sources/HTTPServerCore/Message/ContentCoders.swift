internal import HTTPParser

/// Decodes the content coding of requests (RFC 9110 section 8.4). The core has no decoder; a higher
/// layer sets `ServerConfiguration.contentDecoder`.
package protocol RequestDecoder: Sendable {
    /// Makes the decoder for the content of one request.
    /// - Parameters:
    ///   - codings: the lines of Content-Encoding, joined by commas.
    ///   - byteLimit: how many bytes the content may have, coded or not.
    /// - Returns: `nil` if the content is not to be decoded.
    func decoding(_ codings: String, byteLimit: Int64) -> (any ContentDecoding)?
}

/// Decodes the content of one request while it is read.
package protocol ContentDecoding: AnyObject, Sendable {
    /// The value of Content-Encoding.
    var codings: String { get }

    /// The next piece of content, never empty; `nil` after the last.
    /// - Parameter source: gives the next coded piece, `nil` after the last.
    func next(from source: () async throws -> [UInt8]?) async throws -> [UInt8]?
}

/// Encodes a stream on its way from its producer to the connection. It is confined to the
/// connection's loop.
package protocol StreamEncoding: AnyObject, Sendable {
    /// Bytes that are encoded in one turn of the loop.
    static var turnBytes: Int { get }

    /// Encodes bytes.
    /// - Returns: the bytes that are ready to be sent, usually none.
    func encode(_ bytes: Span<UInt8>) throws(ResponseWriterError) -> [UInt8]
    /// Ends the stream.
    /// - Returns: the rest of the encoded bytes.
    func finish() throws(ResponseWriterError) -> [UInt8]
    /// Sends the bytes that are held back once the loop is idle, unless more are encoded before.
    func flushSoon(_ exchange: Exchange)
}

extension ResponseWriter {
    /// Has a producer write through an encoder.
    package func encode(
        by coder: any StreamEncoding, _ producer: ResponseBody.Producer
    ) async throws {
        var coded = self
        coded.coder = coder
        try await producer(coded)
        try await onLoop { continuation in
            let last = try coder.finish()
            exchange.send(.bytes(last), continuation)
        }
    }

    /// Encodes bytes, some in each turn of the loop.
    func write(_ bytes: [UInt8], through coder: any StreamEncoding) async throws {
        var start = 0
        while start < bytes.count {
            let part = start..<min(start + type(of: coder).turnBytes, bytes.count)
            try await onLoop { continuation in
                let ready = try coder.encode(bytes.span.extracting(part))
                coder.flushSoon(exchange)
                // Flushes do not wait for a slow client, so wait here, even with an empty piece.
                exchange.send(.bytes(ready), continuation)
            }
            start = part.upperBound
        }
    }

    private func onLoop(
        _ body: @escaping @Sendable (Exchange.Writer) throws -> Void
    ) async throws {
        let exchange = exchange
        try await withCheckedThrowingContinuation { (continuation: Exchange.Writer) in
            let work: @Sendable () -> Void = {
                guard exchange.isOpen else {
                    return continuation.resume(throwing: ResponseWriterError.connectionLost)
                }
                do {
                    try body(continuation)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            exchange.loop.isFree ? work() : exchange.loop.execute(work)
        }
    }
}

package import HTTPCodecs
internal import HTTPParser
package import HTTPServerCore

/// Compresses a stream on its way from its producer to the connection.
///
/// The coder holds back output while the producer keeps writing, and flushes it when the producer
/// waits for something else. It is confined to the connection's loop.
package final class StreamCoder: StreamEncoding, @unchecked Sendable {
    /// Bytes that are compressed in one turn of the loop.
    package static let turnBytes = 16 << 10
    /// Compressed bytes that are collected before they are sent.
    private static let pieceBytes = 16 << 10

    private var encoder: ContentEncoder
    /// Announced uncompressed bytes that were not written yet; `nil` for an unknown length.
    private var left: Int64?
    private var pending: [UInt8] = []
    private var writes = 0
    private var holdsBack = false
    private var isFinished = false
    private var awaitsFlush = false
    private var keeping: VariantKeeping?
    private var collected: [UInt8] = []

    /// - Parameters:
    ///   - length: how many bytes will be written; `nil` if that is not known.
    ///   - keeping: where the complete compressed stream is kept; `nil` keeps nothing.
    init(
        level: Int, pool: ContentCodingPool, length: Int64?, keeping: VariantKeeping?
    ) throws(CodecError) {
        encoder = try ContentEncoder(.gzip, level: level, pool: pool)
        left = length
        self.keeping = keeping
    }

    /// Creates a coder that does not keep the compressed stream.
    package convenience init(
        level: Int, pool: ContentCodingPool, length: Int64?
    ) throws(CodecError) {
        try self.init(level: level, pool: pool, length: length, keeping: nil)
    }

    /// Compresses bytes.
    /// - Returns: output that is ready to be sent, usually none.
    /// - Throws: `.connectionLost` after `finish()`, because a task may outlive the producer and
    ///   write again; `.wrongLength` for more bytes than announced.
    package func encode(_ bytes: Span<UInt8>) throws(ResponseWriterError) -> [UInt8] {
        guard !isFinished else { throw .connectionLost }
        if let left {
            guard Int64(bytes.count) <= left else { throw .wrongLength }
            self.left = left - Int64(bytes.count)
        }
        encoder.encode(bytes, into: &pending)
        writes &+= 1
        holdsBack = true
        return pending.count < Self.pieceBytes ? [] : take()
    }

    /// Ends the stream.
    /// - Returns: the rest of the output.
    /// - Throws: `.wrongLength` when fewer bytes were written than announced; `.connectionLost`
    ///   when the stream has ended already.
    package func finish() throws(ResponseWriterError) -> [UInt8] {
        guard !isFinished else { throw .connectionLost }
        guard left ?? 0 == 0 else { throw .wrongLength }
        isFinished = true
        encoder.finish(into: &pending)
        holdsBack = false
        let last = take()
        keeping?.keep(collected)
        return last
    }

    private func take() -> [UInt8] {
        let piece = pending
        pending = []
        if let keeping {
            collected += piece
            if !keeping.mayKeep(collected.count) { (self.keeping, collected) = (nil, []) }
        }
        return piece
    }

    /// Flushes the held-back output at the loop's next turn, or later while the producer keeps
    /// writing.
    package func flushSoon(_ exchange: Exchange) {
        guard !awaitsFlush else { return }
        awaitsFlush = true
        let known = writes
        exchange.loop.execute { [self] in
            awaitsFlush = false
            guard holdsBack else { return }
            guard writes == known else { return flushSoon(exchange) }
            holdsBack = false
            encoder.flush(into: &pending)
            exchange.send(take())
        }
    }
}

/// Encodes the gzip format: a ``ContentEncoder`` for this coding.
///
/// RFC 1952.
public struct GzipEncoder: ~Copyable, Sendable {
    private var encoder: ContentEncoder

    /// Creates an encoder.
    /// - Parameters:
    ///   - level: 1 (fast) to 9 (small).
    ///   - pool: the pool that the compressor is taken from and returned to.
    /// - Throws: `.outOfMemory`.
    public init(level: Int = 6, pool: ContentCodingPool? = nil) throws(CodecError) {
        encoder = try ContentEncoder(.gzip, level: level, pool: pool)
    }

    /// Compresses bytes and appends the output that is ready, which is often nothing.
    public mutating func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        encoder.encode(bytes, into: &output)
    }

    /// Appends all pending output, so that the recipient can read all content so far.
    public mutating func flush(into output: inout [UInt8]) {
        encoder.flush(into: &output)
    }

    /// Appends the rest of the output. The encoder cannot be used again.
    public mutating func finish(into output: inout [UInt8]) {
        encoder.finish(into: &output)
    }
}

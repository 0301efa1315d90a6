/// Writes the gzip format; ``ContentEncoder`` for one coding.
///
/// RFC 1952.
public struct GzipEncoder: ~Copyable, Sendable {
    private var encoder: ContentEncoder

    /// Creates an encoder.
    /// - Parameters:
    ///   - level: 1 (fast) to 9 (small).
    ///   - pool: where to take the compressor from, and where it goes in the end.
    /// - Throws: `.outOfMemory`.
    public init(level: Int = 6, pool: ContentCodingPool? = nil) throws(CodecError) {
        encoder = try ContentEncoder(.gzip, level: level, pool: pool)
    }

    /// Compresses bytes and appends what is ready, which is often nothing.
    public mutating func encode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
        encoder.encode(bytes, into: &output)
    }

    /// Appends all that is held back, so that the recipient can read what was given so far.
    public mutating func flush(into output: inout [UInt8]) {
        encoder.flush(into: &output)
    }

    /// Appends the rest; the encoder is used up then.
    public mutating func finish(into output: inout [UInt8]) {
        encoder.finish(into: &output)
    }
}

/// Decodes the gzip format: a ``ContentDecoder`` for this coding.
///
/// ```swift
/// var decoder = try GzipDecoder(outputLimit: 10 << 20)
/// try decoder.decode(compressed.span, into: &plain)
/// try decoder.finish(into: &plain)
/// ```
///
/// RFC 1952.
public struct GzipDecoder: ~Copyable, Sendable {
    private var decoder: ContentDecoder

    /// Creates a decoder.
    /// - Parameter outputLimit: the most bytes of content. The other limits are the defaults of
    ///   ``ContentDecodingLimits``.
    /// - Throws: `.outOfMemory`.
    public init(outputLimit: Int64) throws(CodecError) {
        try self.init(limits: ContentDecodingLimits(outputBytes: outputLimit))
    }

    /// Creates a decoder.
    /// - Parameters:
    ///   - limits: the limits of the decoded content.
    ///   - pool: the pool that the decompressor is taken from and returned to.
    /// - Throws: `.outOfMemory`.
    public init(
        limits: ContentDecodingLimits, pool: ContentCodingPool? = nil
    ) throws(CodecError) {
        decoder = try ContentDecoder(.gzip, limits: limits, pool: pool)
    }

    /// Whether the input may end here.
    public var isComplete: Bool { decoder.isComplete }

    /// Decodes bytes and appends all of their content.
    public mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [UInt8]
    ) throws(CodecError) {
        try decoder.decode(bytes, into: &output)
    }

    /// Decodes bytes from `position` and appends at most `count` bytes of content.
    ///
    /// The same as ``ContentDecoder/decode(_:from:into:upTo:)``.
    public mutating func decode(
        _ bytes: Span<UInt8>, from position: inout Int, into output: inout [UInt8],
        upTo count: Int
    ) throws(CodecError) -> Bool {
        try decoder.decode(bytes, from: &position, into: &output, upTo: count)
    }

    /// Appends the rest of the content after the end of the input.
    /// - Throws: `.truncated` if the input must not end here; an error that was thrown before.
    public mutating func finish(into output: inout [UInt8]) throws(CodecError) {
        try decoder.finish(into: &output)
    }
}

public import HTTPCodecs
internal import HTTPParser

/// Compresses messages for permessage-deflate.
///
/// Without a context one deflater can serve many connections, one message after another; with a
/// context each connection needs a separate one. A compressor with a window of 32 KiB holds 260
/// KiB; it returns to its pool when the deflater is destroyed.
///
/// ```swift
/// var deflater = try MessageDeflater(pool: pool)
/// var payload: [UInt8] = []
/// deflater.deflate(Array(text.utf8).span, isLast: true, into: &payload)
/// ```
///
/// RFC 7692, section 7.2.1.
public struct MessageDeflater: ~Copyable, Sendable {
    /// Whether a message may refer to the content of earlier ones.
    public let keepsContext: Bool
    private var stream: ZStream

    /// Creates a deflater.
    /// - Parameters:
    ///   - windowBits: the size of the window as a power of 2, 8...15. With 8 only repetitions of a
    ///     single byte are found, because zlib has no window of this size.
    ///   - keepsContext: whether a message may refer to the content of earlier ones.
    ///   - level: 1 (fast) to 9 (small).
    ///   - pool: the pool of the compressor; it is used only for a window of 15 bits.
    /// - Throws: `.outOfMemory`.
    public init(
        windowBits: Int = 15, keepsContext: Bool = false, level: Int = 6,
        pool: ContentCodingPool? = nil
    ) throws(CodecError) {
        precondition(1...9 ~= level, "a level of compression is 1 to 9")
        self.keepsContext = keepsContext
        stream =
            windowBits == 15
            ? try ZStream(deflatingAt: level, with: pool)
            : try ZStream(deflatingAt: level, windowBits: windowBits)
    }

    /// Compresses bytes of a message and appends them.
    ///
    /// The appended bytes can be decompressed to all input so far, so the peer can read a fragment
    /// immediately.
    /// - Parameters:
    ///   - bytes: the next bytes of the message.
    ///   - isLast: whether the message ends with them.
    ///   - output: the bytes to which the compressed bytes are appended.
    public mutating func deflate(
        _ bytes: Span<UInt8>, isLast: Bool, into output: inout [UInt8]
    ) {
        let start = output.count
        stream.deflateAll(bytes, .sync, into: &output)
        guard isLast else { return }
        if output.count - start >= 4 {
            // Removes the bytes 00 00 FF FF, with which each sync flush ends (section 7.2.1).
            output.removeLast(4)
        } else {
            // Nothing new to compress: the first byte of an empty block (section 7.2.3.6).
            output.append(0)
        }
        if !keepsContext { stream.reset() }
    }
}

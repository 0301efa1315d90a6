public import HTTPCodecs
internal import HTTPParser

/// Decompresses messages of permessage-deflate, within limits.
///
/// Without a context one inflater can serve many connections, one message after another; with a
/// context each connection needs a separate one. A decompressor holds 40 KiB; it returns to its
/// pool when the inflater is destroyed. Windows of all sizes are supported.
///
/// RFC 7692, section 7.2.2.
public struct MessageInflater: ~Copyable, Sendable {
    private var decoder: MessageDecoder

    /// Creates an inflater.
    /// - Parameters:
    ///   - limits: the limits of the decompressed content of each message.
    ///   - keepsContext: whether a message may refer to the content of earlier ones.
    ///   - pool: the pool that lends the decompressor and gets it back.
    /// - Throws: `.outOfMemory`.
    public init(
        limits: ContentDecodingLimits, keepsContext: Bool = false, pool: ContentCodingPool? = nil
    ) throws(CodecError) {
        decoder = try MessageDecoder(limits: limits, keepsContext: keepsContext, pool: pool)
    }

    /// Decompresses bytes of a message, and appends the content.
    /// - Throws: `.invalidCompressedData`, `.outputTooLong`, `.ratioTooHigh`, `.outOfMemory`; the
    ///   error is final.
    public mutating func inflate(
        _ bytes: Span<UInt8>, into output: inout [UInt8]
    ) throws(CodecError) {
        try decoder.decode(bytes, into: &output)
    }

    /// Ends a message, and appends the rest of its content.
    /// - Throws: `.truncated` if the message ends inside a block, and the errors of
    ///   ``inflate(_:into:)``.
    public mutating func finish(into output: inout [UInt8]) throws(CodecError) {
        try decoder.finish(into: &output)
    }
}

extension WebSocketError {
    /// The error of the connection for a decompressor's error.
    init(_ error: CodecError) {
        switch error.kind {
        case .outputTooLong: self.init(.messageTooLong)
        case .ratioTooHigh: self.init(.ratioTooHigh)
        case .outOfMemory: self.init(.outOfMemory)
        default: self.init(.invalidCompressedData)
        }
    }
}

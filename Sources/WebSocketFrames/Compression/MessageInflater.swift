public import HTTPCodecs
internal import HTTPParser

/// Decompresses messages of permessage-deflate, within limits.
///
/// Without a context one inflater can serve many connections, one message after another; with it
/// each connection needs its own. A decompressor holds 40 KiB; it goes back to its pool when the
/// inflater goes away. Windows of all sizes are read.
///
/// RFC 7692, section 7.2.2.
public struct MessageInflater: ~Copyable, Sendable {
    private var decoder: MessageDecoder

    /// Creates an inflater.
    /// - Parameters:
    ///   - limits: how much each message may stand for.
    ///   - keepsContext: whether a message may refer to the content of earlier ones.
    ///   - pool: where to take the decompressor from, and where it goes in the end.
    /// - Throws: `.outOfMemory`.
    public init(
        limits: ContentDecodingLimits, keepsContext: Bool = false, pool: ContentCodingPool? = nil
    ) throws(CodecError) {
        decoder = try MessageDecoder(limits: limits, keepsContext: keepsContext, pool: pool)
    }

    /// Decompresses bytes of a message and appends all the content that they hold.
    /// - Throws: `.invalidCompressedData`, `.outputTooLong`, `.ratioTooHigh`, `.outOfMemory`; the
    ///   error is final.
    public mutating func inflate(
        _ bytes: Span<UInt8>, into output: inout [UInt8]
    ) throws(CodecError) {
        try decoder.decode(bytes, into: &output)
    }

    /// Ends a message: appends what is left of its content.
    /// - Throws: `.truncated` when it ends inside of a block, and as ``inflate(_:into:)``.
    public mutating func finish(into output: inout [UInt8]) throws(CodecError) {
        try decoder.finish(into: &output)
    }
}

extension WebSocketError {
    /// The meaning of a decompressor's error for the connection.
    init(_ error: CodecError) {
        switch error.kind {
        case .outputTooLong: self.init(.messageTooLong)
        case .ratioTooHigh: self.init(.ratioTooHigh)
        case .outOfMemory: self.init(.outOfMemory)
        default: self.init(.invalidCompressedData)
        }
    }
}

internal import HTTPParser

/// Decompresses the messages of a stream of permessage-deflate: raw DEFLATE data whose last four
/// bytes, those of an empty block, are not sent.
///
/// A ``ContentDecoder`` that continues after a final block, because a message may contain several.
/// RFC 7692, section 7.2.2.
package struct MessageDecoder: ~Copyable, Sendable {
    private var decoder: ContentDecoder
    private let keepsContext: Bool
    /// The bytes that end each message and are not sent.
    private static let emptyBlock: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Creates a decoder.
    /// - Parameters:
    ///   - limits: the limits of each message's content.
    ///   - keepsContext: whether a message may refer to the content of earlier ones.
    ///   - pool: the pool that the decompressor is taken from and returned to.
    /// - Throws: `.outOfMemory`.
    package init(
        limits: ContentDecodingLimits, keepsContext: Bool, pool: ContentCodingPool?
    ) throws(CodecError) {
        decoder = try ContentDecoder(messagesIn: limits, pool: pool)
        self.keepsContext = keepsContext
    }

    /// Decodes bytes of a message and appends all of their content.
    /// - Throws: the errors of ``ContentDecoder``; an error is final.
    package mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [UInt8]
    ) throws(CodecError) {
        try decoder.decode(bytes, into: &output)
    }

    /// Ends a message, and appends the rest of its content.
    /// - Throws: `.truncated` if the message ends inside of a block, and the errors of
    ///   `decode(_:into:)`.
    package mutating func finish(into output: inout [UInt8]) throws(CodecError) {
        try decoder.decode(Self.emptyBlock.span, into: &output)
        try decoder.beginMessage(keepsContext: keepsContext)
    }
}

extension ContentDecoder {
    /// Begins the next message: resets the counts, and without `keepsContext` the window.
    fileprivate mutating func beginMessage(keepsContext: Bool) throws(CodecError) {
        guard let isWhole = stream?.isBetweenBlocks, isWhole else {
            let error = CodecError(.truncated, at: readCount)
            failure = error
            throw error
        }
        (readCount, writtenCount, nextCheck) = (0, 0, limits.ratioFloor)
        if !keepsContext { stream?.reset() }
    }
}

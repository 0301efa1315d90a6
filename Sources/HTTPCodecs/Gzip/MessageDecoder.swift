internal import HTTPParser

/// Decompresses the messages of a stream of permessage-deflate: raw DEFLATE data whose last four
/// bytes, those of an empty block, are not sent.
///
/// It is a ``ContentDecoder`` with other ends: one block may be the last of its stream, and the
/// message goes on all the same. RFC 7692, section 7.2.2.
package struct MessageDecoder: ~Copyable, Sendable {
    private var decoder: ContentDecoder
    private let keepsContext: Bool
    /// The bytes that end each message and are not sent.
    private static let emptyBlock: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    /// Creates a decoder.
    /// - Parameters:
    ///   - limits: how much each message may stand for.
    ///   - keepsContext: whether a message may refer to the content of earlier ones.
    ///   - pool: where to take the decompressor from, and where it goes in the end.
    /// - Throws: `.outOfMemory`.
    package init(
        limits: ContentDecodingLimits, keepsContext: Bool, pool: ContentCodingPool?
    ) throws(CodecError) {
        decoder = try ContentDecoder(messagesIn: limits, pool: pool)
        self.keepsContext = keepsContext
    }

    /// Decodes bytes of a message and appends all the content that they hold.
    /// - Throws: what ``ContentDecoder`` throws; the error is final.
    package mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [UInt8]
    ) throws(CodecError) {
        try decoder.decode(bytes, into: &output)
    }

    /// Ends a message: appends what is left of its content.
    /// - Throws: `.truncated` when the message ends inside of a block, and as `decode(_:into:)`.
    package mutating func finish(into output: inout [UInt8]) throws(CodecError) {
        try decoder.decode(Self.emptyBlock.span, into: &output)
        try decoder.beginMessage(keepsContext: keepsContext)
    }
}

extension ContentDecoder {
    /// Counts again from 0.
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

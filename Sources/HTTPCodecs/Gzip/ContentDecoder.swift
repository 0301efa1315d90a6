/// Removes a content coding piece by piece, within limits.
///
/// ```swift
/// let limits = ContentDecodingLimits(outputBytes: 10 << 20)
/// var decoder = try ContentDecoder(.gzip, limits: limits, pool: pool)
/// var content: [UInt8] = []
/// try decoder.decode(compressed.span, into: &content)
/// try decoder.finish(into: &content)
/// ```
///
/// gzip data may have several members, whose contents are joined. `.deflate` is the zlib format or
/// raw DEFLATE: the first two bytes decide. Check values and lengths are verified. Bytes after the
/// end are refused, even zeros.
///
/// Throws `.truncated`, `.trailingGarbage`, `.invalidCompressedData`, `.checksumMismatch`,
/// `.dictionaryNeeded`, `.outputTooLong`, `.ratioTooHigh` and `.outOfMemory`. The error, its offset
/// and the content before it do not depend on how the input was split. An error is final. Content
/// is returned before its check value is verified: it is complete and correct only after
/// `finish(into:)`.
///
/// RFC 1950, RFC 1951, RFC 1952.
public struct ContentDecoder: ~Copyable, Sendable {
    /// The coding that is removed.
    public let coding: ContentCoding
    /// The limits of the decoded content.
    public let limits: ContentDecodingLimits
    /// How many bytes were read so far.
    public internal(set) var readCount: Int64 = 0
    /// How many bytes of content were written so far.
    public internal(set) var writtenCount: Int64 = 0

    var stage: Stage
    var format: Format
    var stream: ZStream?
    var head = GzipHead()
    /// The offset at which the gzip member begins.
    var memberStart: Int64 = 0
    /// The length of the member's content so far, modulo 2^32 as in its trailer.
    var memberLength: UInt32 = 0
    var checksum: ZChecksum
    /// The bytes of the trailer, the first in the lowest bits.
    var trailer: UInt64 = 0
    var trailerCount = 0
    /// The first byte of `.deflate` until the second is read.
    var firstByte: UInt8?
    /// The count of content bytes at which the ratio is checked next.
    var nextCheck: Int64
    var failure: CodecError?

    enum Stage { case head, choice, body, trailer, end }
    enum Format { case gzip, zlib, raw, identity, messages }

    /// Creates a decoder.
    /// - Parameters:
    ///   - coding: the coding to remove.
    ///   - limits: the limits of the decoded content.
    ///   - pool: the pool that the decompressor is taken from and returned to.
    /// - Throws: `.outOfMemory`.
    public init(
        _ coding: ContentCoding, limits: ContentDecodingLimits, pool: ContentCodingPool? = nil
    ) throws(CodecError) {
        self.coding = coding
        self.limits = limits
        nextCheck = limits.ratioFloor
        checksum = coding == .gzip ? .crc : .adler
        switch coding {
        case .gzip: (stage, format) = (.head, .gzip)
        case .deflate: (stage, format) = (.choice, .zlib)
        case .identity: (stage, format) = (.end, .identity)
        }
        stream = coding == .identity ? nil : try ZStream(inflatingWith: pool)
    }

    /// Creates a decoder of the messages of permessage-deflate (RFC 7692 section 7.2.2).
    init(messagesIn limits: ContentDecodingLimits, pool: ContentCodingPool?) throws(CodecError) {
        coding = .deflate
        self.limits = limits
        nextCheck = limits.ratioFloor
        checksum = .adler
        (stage, format) = (.body, .messages)
        stream = try ZStream(inflatingWith: pool)
    }

    /// Whether the input may end here.
    public var isComplete: Bool { stage == .end && failure == nil }

    /// Decodes bytes and appends all of their content.
    public mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [UInt8]
    ) throws(CodecError) {
        var position = 0
        _ = try decode(bytes, from: &position, into: &output, upTo: .max)
    }

    /// Decodes bytes from `position`, appends at most `count` bytes of content and moves `position`
    /// past the bytes that it has read.
    ///
    /// A reader that is slower than its sender thus needs bounded memory, however far the bytes
    /// expand. Content may be left when all bytes were read: while the result is false, call again
    /// with the same bytes, or with none.
    /// - Parameters:
    ///   - bytes: coded content.
    ///   - position: the index of the first unread byte, 0...`bytes.count`.
    ///   - output: the content is appended to it.
    ///   - count: the most bytes to append, above 0.
    /// - Returns: whether more input is needed; false if there may be more content.
    public mutating func decode(
        _ bytes: Span<UInt8>, from position: inout Int, into output: inout [UInt8],
        upTo count: Int
    ) throws(CodecError) -> Bool {
        precondition(position >= 0 && position <= bytes.count, "position out of range")
        precondition(count > 0, "no room for content")
        let (end, overflow) = output.count.addingReportingOverflow(count)
        if let failure { throw failure }
        do throws(CodecError) {
            return try step(
                bytes, &position, into: &output, end: overflow ? .max : end, isLast: false)
        } catch {
            failure = error
            throw error
        }
    }

    /// Appends the rest of the content after the end of the input.
    ///
    /// Content is left only if it was requested in pieces and not all of it was taken.
    /// - Throws: `.truncated` if the input must not end here; an error that was thrown before.
    public mutating func finish(into output: inout [UInt8]) throws(CodecError) {
        if let failure { throw failure }
        do throws(CodecError) {
            var position = 0
            _ = try step(Span(), &position, into: &output, end: .max, isLast: true)
            guard stage == .end else { throw CodecError(.truncated, at: readCount) }
        } catch {
            failure = error
            throw error
        }
    }
}

// The input of the stages.
extension ContentDecoder {
    /// Reads until the input is used up or `output` has `end` bytes.
    /// - Returns: whether more input is needed.
    private mutating func step(
        _ bytes: Span<UInt8>, _ position: inout Int, into output: inout [UInt8], end: Int,
        isLast: Bool
    ) throws(CodecError) -> Bool {
        while true {
            switch stage {
            case .head: guard try takeHead(bytes, &position) else { return true }
            case .choice: guard try takeChoice(bytes, &position) else { return true }
            case .body:
                switch try takeBody(bytes, &position, into: &output, end: end, isLast: isLast) {
                case .wantsInput: return true
                case .wantsRoom: return false
                case .ended where format == .messages:
                    stream?.continueAfterEnd()
                    // Without input, zlib would assume to be inside a block.
                    if position == bytes.count { return true }
                case .ended: stage = format == .raw ? .end : .trailer
                }
            case .trailer: guard try takeTrailer(bytes, &position) else { return true }
            case .end:
                guard position < bytes.count else { return true }
                if format == .identity {
                    return try copy(bytes, &position, into: &output, end: end)
                }
                try beginMember()
            }
        }
    }

    /// Takes the next byte, if there is one.
    mutating func takeByte(_ bytes: Span<UInt8>, _ position: inout Int) -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        readCount += 1
        return bytes[position]
    }

    /// Copies content that has no coding.
    private mutating func copy(
        _ bytes: Span<UInt8>, _ position: inout Int, into output: inout [UInt8], end: Int
    ) throws(CodecError) -> Bool {
        let left = limits.outputBytes - writtenCount
        guard left > 0 else { throw CodecError(.outputTooLong, at: readCount) }
        let count = min(bytes.count - position, end - output.count, Int(clamping: left))
        let piece = bytes.extracting(position..<(position + count))
        unsafe piece.withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
        position += count
        readCount += Int64(count)
        writtenCount += Int64(count)
        if position == bytes.count { return true }
        guard output.count < end else { return false }
        throw CodecError(.outputTooLong, at: readCount)
    }
}

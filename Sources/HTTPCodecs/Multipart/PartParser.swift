internal import HTTPParser

/// Reads the parts of multipart content: bytes in, heads and ranges of the bytes out.
///
/// Content is never copied. Bytes that may belong to a delimiter (at most 76), and bytes of an
/// unfinished part head, are left unread: the caller passes them again, followed by more.
/// ``MultipartParser`` does that for an array of bytes, ``MultipartParts`` for a stream.
///
/// ```swift
/// var parser = try PartParser(of: mediaType)
/// var position = 0
/// while true {
///     switch try parser.next(bytes.span, from: &position) {
///     case .part(let head): print(head.name ?? "-")
///     case .content(let range): size += range.count
///     case .partEnd, .end: break
///     case .more: return    // come back with bytes[position...] and what follows
///     }
/// }
/// ```
///
/// A line that begins like a delimiter and continues with another boundary character is content. A
/// line that continues with anything else but spaces, tabs and CRLF is `.invalidDelimiter`.
///
/// In a form, a part of the type `multipart/mixed` without a file name is not reported: its nested
/// parts are, with its name (RFC 7578 section 4.3). In other content, nested multipart content is
/// not parsed. In a form, `Content-Transfer-Encoding` may be `7bit`, `8bit` or `binary`, which
/// change nothing; any other value is `.unsupportedContentCoding` (RFC 7578 section 4.7). In other
/// content the caller has to evaluate that field.
///
/// RFC 2046, section 5.1; RFC 7578.
@safe
public struct PartParser: ~Copyable, Sendable {
    /// The kind of the next bytes.
    public enum Step: Hashable, Sendable {
        /// More bytes are needed.
        case more
        /// A part begins.
        case part(PartHead)
        /// Content of the part: a range of the bytes passed, never empty.
        case content(Range<Int>)
        /// The part is complete.
        case partEnd
        /// No part follows. Skip any further bytes until the input ends.
        case end
    }

    enum State {
        /// Before the first delimiter of a level, or after the last one.
        case filler
        /// After a delimiter: spaces, tabs and a line end.
        case delimiterEnd
        case head
        case content
        /// The last part has ended.
        case end
        /// After a closing delimiter: spaces and tabs, and a line end or the end of the input.
        case closeEnd
    }

    /// The kind of multipart content to read.
    public let kind: MultipartKind
    let limits: MultipartLimits
    let isLenient: Bool
    var state = State.filler
    var delimiters: Delimiters
    /// For each open level except the first, the name of the part that contains it.
    var outerNames: [String] = []
    var headParser: HeadParser
    /// Whether a delimiter may begin here without a line end before it.
    var isAtLineStart = true
    var fillerBytes: Int64 = 0
    var partCount = 0
    var contentLimit = Int64.max
    var contentBytes: Int64 = 0
    /// How many bytes of the input were read, and how many were passed.
    private var consumed: Int64 = 0
    private var seen: Int64 = 0
    /// The offset in the input of the first byte passed.
    var origin: Int64 = 0
    private var failure: CodecError?
    /// The offset in the input at which the content of the part begins.
    package internal(set) var contentOffset: Int64 = 0

    /// Creates a parser for content of a media type.
    /// - Throws: `.unsupportedMediaType` or `.invalidBoundary`.
    public init(
        of mediaType: MediaType, limits: MultipartLimits = .standard,
        leniency: MultipartLeniency = []
    ) throws(CodecError) {
        let boundary = try MultipartBoundary(of: mediaType)
        let kind = MultipartKind(subtype: mediaType.subtype)
        self.init(kind, boundary: boundary, limits: limits, leniency: leniency)
    }

    /// Creates a parser.
    public init(
        _ kind: MultipartKind, boundary: MultipartBoundary, limits: MultipartLimits = .standard,
        leniency: MultipartLeniency = []
    ) {
        self.kind = kind
        self.limits = limits
        delimiters = Delimiters(leniency: leniency)
        delimiters.open(boundary)
        var headLimits = ParserLimits()
        headLimits.trailerBytes = limits.partHeadBytes
        headLimits.fieldLineBytes = limits.partHeadBytes
        headLimits.fieldCount = limits.fieldCount
        isLenient = leniency.contains(.bareLineFeed)
        headParser = HeadParser(
            .trailers, limits: headLimits, leniency: isLenient ? .bareLineFeed : [])
    }

    /// Continues at `position` and moves it past the bytes that it has read.
    /// - Parameters:
    ///   - bytes: the unread bytes, followed by new ones.
    ///   - position: the index of the first unread byte, 0...`bytes.count`.
    /// - Throws: the error that makes the content invalid. It is final: later calls throw it again.
    public mutating func next(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(CodecError) -> Step {
        precondition(position >= 0 && position <= bytes.count, "position out of range")
        let region = unsafe bytes.withUnsafeBytes { unsafe $0 }
        return try unsafe next(region, from: &position)
    }

    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Step {
        if let failure { throw failure }
        do throws(CodecError) {
            return try unsafe nextWithinLimit(bytes, from: &position)
        } catch {
            failure = error
            throw error
        }
    }

    /// Ends the input.
    /// - Throws: `.truncated` if the closing delimiter is missing.
    public mutating func finish() throws(CodecError) {
        if let failure { throw failure }
        let isAtEnd = consumed == seen && (state == .closeEnd || state == .end)
        guard delimiters.count == 0, isAtEnd || state == .filler else {
            let failure = CodecError(.truncated, at: seen)
            self.failure = failure
            throw failure
        }
    }

    /// Parses no byte beyond the limit, so that the error does not depend on how the input was
    /// split.
    private mutating func nextWithinLimit(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Step {
        let room = max(limits.totalBytes - consumed, 0)
        let isClipped = Int64(bytes.count - position) > room
        let end = isClipped ? position + Int(room) : bytes.count
        let step = try unsafe advance(
            UnsafeRawBufferPointer(rebasing: bytes[..<end]), from: &position)
        if isClipped, step == .more {
            throw CodecError(.inputTooLong, at: max(limits.totalBytes, 0))
        }
        return step
    }

    private mutating func advance(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(CodecError) -> Step {
        origin = consumed - Int64(position)
        seen = origin + Int64(bytes.count)
        while true {
            let step: Step?
            switch state {
            case .filler: step = try unsafe skipFiller(bytes, from: &position)
            case .delimiterEnd: step = try unsafe skipLineEnd(bytes, from: &position)
            case .closeEnd: step = try unsafe skipCloseEnd(bytes, from: &position)
            case .head: step = try unsafe takeHead(bytes, from: &position)
            case .content: step = try unsafe takeContent(bytes, from: &position)
            case .end:
                state = .closeEnd
                step = .end
            }
            consumed = origin + Int64(position)
            if let step { return step }
        }
    }
}

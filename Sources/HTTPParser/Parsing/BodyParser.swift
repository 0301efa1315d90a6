/// Reads the content of one message, without its transfer coding, and its trailers: bytes in,
/// ranges out.
///
/// Content is never copied. The caller keeps the bytes of incomplete trailers and passes them
/// again, followed by more.
@safe
public struct BodyParser: ~Copyable, Sendable {
    /// The kind of the next bytes.
    public enum Step: Equatable, Sendable {
        /// More bytes are needed.
        case more
        /// Content: a range of the bytes passed in.
        case content(Range<Int>)
        /// The message is complete; `trailers` is filled.
        case end
    }

    private enum State { case length, chunked, trailers, untilClose, complete }

    private var state: State
    private var remaining: Int64 = 0
    private var total: Int64 = 0
    private let limits: ParserLimits
    private var chunks: ChunkedFraming
    private var trailerParser: HeadParser?

    /// The fields after the last chunk, once the message is complete. They do not affect framing,
    /// and are never merged into the fields of the head (RFC 9110 section 6.5.1).
    public private(set) var trailers = HTTPFields()

    /// Creates a parser for content with this framing.
    public init(_ framing: BodyFraming, limits: ParserLimits = .standard) {
        self.limits = limits
        chunks = ChunkedFraming(limits: limits)
        switch framing {
        case .none, .tunnel: state = .complete
        case .length(let length):
            state = length > 0 ? .length : .complete
            remaining = length
        case .chunked: state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    /// Whether the message is complete.
    public var isComplete: Bool { state == .complete }

    /// Reads from `position` on, and moves `position` past the bytes that were read.
    /// - Parameters:
    ///   - bytes: the input; from `position` on it contains all bytes that are not read yet.
    ///   - position: the offset of the first byte to read, 0...`bytes.count`.
    /// - Throws: the violation, with an offset into `bytes`.
    public mutating func next(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(HTTPParseError) -> Step {
        precondition(position >= 0 && position <= bytes.count, "position out of range")
        let region = unsafe bytes.withUnsafeBytes { unsafe $0 }
        return try unsafe next(region, from: &position)
    }

    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(HTTPParseError) -> Step {
        switch state {
        case .complete: return .end
        case .length: return try takeLength(bytes.count, from: &position)
        case .untilClose: return try takeUntilClose(bytes.count, from: &position)
        case .trailers: return try unsafe takeTrailers(bytes, from: &position)
        case .chunked:
            switch try unsafe chunks.next(bytes, from: &position) {
            case .more: return .more
            case .content(let range): return .content(range)
            case .trailers:
                state = .trailers
                return try unsafe takeTrailers(bytes, from: &position)
            }
        }
    }

    /// Whether the content continues until the connection ends.
    var endsWithInput: Bool { state == .untilClose }

    /// Ends the input: content that ends with the connection is complete now, other content is
    /// truncated.
    /// - Parameter offset: the end of the input, which the error reports.
    public mutating func finish(at offset: Int) throws(HTTPParseError) {
        guard state != .complete else { return }
        guard state == .untilClose else { throw HTTPParseError(.truncated, at: offset) }
        state = .complete
    }

    private mutating func takeLength(
        _ end: Int, from position: inout Int
    ) throws(HTTPParseError) -> Step {
        guard remaining <= limits.contentBytes else {
            throw HTTPParseError(.contentTooLong, at: position)
        }
        // The check above covers the whole content, because `remaining` only shrinks.
        let start = position
        let taken = min(Int64(end - start), remaining)
        guard taken > 0 else { return .more }
        position += Int(taken)
        remaining -= taken
        if remaining == 0 { state = .complete }
        return .content(start..<position)
    }

    private mutating func takeUntilClose(
        _ end: Int, from position: inout Int
    ) throws(HTTPParseError) -> Step {
        let start = position
        guard start < end else { return .more }
        // The bytes that fit are delivered first, so that a limit does not depend on the split.
        let taken = min(Int64(end - start), limits.contentBytes - total)
        guard taken > 0 else { throw HTTPParseError(.contentTooLong, at: start) }
        total += taken
        position += Int(taken)
        return .content(start..<position)
    }

    private mutating func takeTrailers(
        _ bytes: UnsafeRawBufferPointer, from position: inout Int
    ) throws(HTTPParseError) -> Step {
        // Usually there are no trailers: only an empty line, which needs no parser.
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[position...])
        if trailerParser == nil, rest.count >= 2, unsafe rest[0] == 13, unsafe rest[1] == 10 {
            position += 2
            state = .complete
            return .end
        }
        guard rest.count > 0 else { return .more }
        if trailerParser == nil { trailerParser = HeadParser(.trailers, limits: limits) }
        let length: Int?
        do {
            length = try unsafe trailerParser?.parse(rest)
        } catch {
            throw error.moved(by: position)
        }
        guard let length else { return .more }
        trailers = unsafe trailerParser?.copyFields(from: rest) ?? HTTPFields()
        position += length
        state = .complete
        return .end
    }
}

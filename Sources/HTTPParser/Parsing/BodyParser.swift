/// Reads the content of one message, transfer coding taken off, and its trailers: bytes in, ranges
/// of them out.
///
/// Content is never copied. The bytes of trailers that are not complete stay with the caller,
/// who passes them again, followed by more.
@safe
public struct BodyParser: ~Copyable, Sendable {
    /// The kind of the next bytes.
    public enum Step: Equatable, Sendable {
        /// More bytes, please.
        case more
        /// Content: a range of the bytes given.
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

    /// The fields after the last chunk, once the message is complete. They say nothing about
    /// framing and are never merged into the fields of the head (RFC 9110 section 6.5.1).
    public private(set) var trailers = HTTPFields()

    /// Creates a parser for content framed this way.
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

    /// Continues at `position` and moves it past the bytes that it has read.
    /// - Parameters:
    ///   - bytes: what the peer sent and was not read yet, or more.
    ///   - position: where to read on, 0...`bytes.count`.
    /// - Throws: what makes the content unacceptable; offsets count from the first of `bytes`.
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

    /// Whether the content goes on until the connection ends.
    var endsWithInput: Bool { state == .untilClose }

    /// The peer closed: content that ends so is complete now, any other is cut off.
    /// - Parameter offset: where the input ended; the error names it.
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
        // The limit was compared with all of it: the announced length only shrinks from here.
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
        // Nearly always there are none: an empty line, and no parser is needed.
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

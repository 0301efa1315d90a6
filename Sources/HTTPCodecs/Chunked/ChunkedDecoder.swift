public import HTTPParser

/// Removes the chunked transfer coding from content that does not come from a connection, such as a
/// recorded body or test data.
///
/// The decoder uses the state machine of HTTPParser, so both accept the same bytes.
/// `decode(_:into:)` appends content to an array; `next(_:from:)` copies nothing and returns the
/// range of the content. Use only one of the two with a decoder.
///
/// ```swift
/// var decoder = ChunkedDecoder()
/// var content: [UInt8] = []
/// try decoder.decode(Array("3\r\nabc\r\n0\r\nA: b\r\n\r\n".utf8).span, into: &content)
/// try decoder.finish()
/// decoder.trailers["A"]    // "b"
/// ```
///
/// The decoder throws `.invalidChunkedCoding`, `.chunkMetadataTooLong`, `.outputTooLong`,
/// `.truncated` and `.trailingGarbage`. An error is final.
///
/// RFC 9112, section 7.1.
public struct ChunkedDecoder: ~Copyable, Sendable {
    /// The kind of the next bytes.
    public enum Step: Equatable, Sendable {
        /// More bytes are needed.
        case more
        /// Content: a range of the bytes passed.
        case content(Range<Int>)
        /// The content is complete; `trailers` is filled.
        case end
    }

    private var parser: BodyParser
    /// How many bytes were read and will not be passed again.
    private var consumed: Int64 = 0
    /// How many of the following bytes were seen already and will be passed again.
    private var unread = 0
    /// The first bytes of a trailer section, kept until `decode(_:into:)` gets the rest.
    private var pending: [UInt8] = []
    private var failure: CodecError?

    /// Creates a decoder.
    /// - Parameter limits: the limits of chunk extensions, trailers and content. The limits of
    ///   heads have no effect.
    public init(limits: ParserLimits = .standard) {
        parser = BodyParser(.chunked, limits: limits)
    }

    /// Whether the last chunk and the trailers were read.
    public var isComplete: Bool { parser.isComplete }

    /// The fields after the last chunk, once the content is complete. They are never merged into
    /// the fields of a head (RFC 9110 section 6.5.1).
    public var trailers: HTTPFields { parser.trailers }

    /// Continues at `position` and moves it past the bytes that it has read.
    ///
    /// Bytes after the end are left unread: they belong to the next message. After `.more` the
    /// caller passes the bytes from `position` again, followed by more.
    /// - Parameters:
    ///   - bytes: the unread bytes, followed by new ones.
    ///   - position: the index of the first unread byte, 0...`bytes.count`.
    public mutating func next(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(CodecError) -> Step {
        if let failure { throw failure }
        let start = position
        do throws(HTTPParseError) {
            let step = try parser.next(bytes, from: &position)
            consumed += Int64(position - start)
            switch step {
            case .more:
                unread = bytes.count - position
                return .more
            case .content(let range): return .content(range)
            case .end: return .end
            }
        } catch {
            throw fail(CodecError(error, at: consumed + Int64(error.offset - start)))
        }
    }

    /// Appends the content in `bytes` to `output`.
    ///
    /// Bytes after the end are `.trailingGarbage`. After an error `output` contains the content
    /// before it.
    public mutating func decode(
        _ bytes: Span<UInt8>, into output: inout [UInt8]
    ) throws(CodecError) {
        guard !pending.isEmpty else {
            let position = try append(bytes, to: &output)
            return pending.append(copying: bytes.extracting(position...))
        }
        pending.append(copying: bytes)
        let all = pending
        let position = try append(all.span, to: &output)
        pending.removeFirst(position)
    }

    /// Ends the input; throws `.truncated` unless the content is complete.
    public mutating func finish() throws(CodecError) {
        if let failure { throw failure }
        guard !isComplete else { return }
        throw fail(CodecError(.truncated, at: consumed + Int64(unread), "chunked coding"))
    }

    /// - Returns: how many of the bytes were read.
    private mutating func append(
        _ bytes: Span<UInt8>, to output: inout [UInt8]
    ) throws(CodecError) -> Int {
        var position = 0
        while true {
            switch try next(bytes, from: &position) {
            case .more: return position
            case .content(let range): output.append(copying: bytes.extracting(range))
            case .end:
                guard position == bytes.count else {
                    throw fail(CodecError(.trailingGarbage, at: consumed))
                }
                return position
            }
        }
    }

    private mutating func fail(_ error: CodecError) -> CodecError {
        failure = error
        return error
    }
}

extension CodecError {
    /// The error of the chunk parser as an error of the codecs.
    init(_ error: HTTPParseError, at offset: Int64) {
        let kind: Kind
        switch error.kind {
        case .contentTooLong: kind = .outputTooLong
        case .chunkExtensionsTooLong, .trailersTooLong, .fieldTooLong, .fieldsTooLong,
            .tooManyFields:
            kind = .chunkMetadataTooLong
        case .truncated: kind = .truncated
        default: kind = .invalidChunkedCoding
        }
        self.init(kind, at: offset, error.reason)
    }
}

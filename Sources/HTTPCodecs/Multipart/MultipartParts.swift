/// The parts of multipart content that comes as a stream, one after the other.
///
/// ```swift
/// for try await part in try MultipartParts(of: mediaType, in: request.body) {
///     if part.isFile {
///         for try await piece in part.content { size += piece.count }
///     } else {
///         values[part.name ?? ""] = try await part.text()
///     }
/// }
/// ```
///
/// Nothing is read from the stream before it is asked for, so a slow reader slows the sender down.
/// Asking for the next part skips the rest of the one before and ends its `content`. After the last
/// part the stream is read to its end, so that all of the input is known to be acceptable. It can
/// be read once: several iterators share one position, and must not run at the same time.
///
/// A stream's own errors come through as they are; what is wrong with the content is a
/// `CodecError`, misuse a ``MultipartUseError``. An error is final: it is thrown again.
///
/// RFC 2046, section 5.1; RFC 7578.
public struct MultipartParts: AsyncSequence, Sendable {
    private let stream: PartStream

    /// Creates the parts of content of a media type.
    /// - Parameters:
    ///   - mediaType: the value of Content-Type, which names the boundary.
    ///   - pieces: the content, in pieces of any size.
    ///   - limits: what is accepted at the most.
    ///   - leniency: what is forgiven.
    /// - Throws: `.unsupportedMediaType` or `.invalidBoundary`; nothing is read then.
    public init<Pieces: AsyncSequence & Sendable>(
        of mediaType: MediaType, in pieces: Pieces, limits: MultipartLimits = .standard,
        leniency: MultipartLeniency = []
    ) throws(CodecError) where Pieces.Element == [UInt8] {
        let parser = try PartParser(of: mediaType, limits: limits, leniency: leniency)
        stream = PartStream(parser, PieceIterator(pieces))
    }

    /// Creates the parts of content with a known boundary.
    public init<Pieces: AsyncSequence & Sendable>(
        _ kind: MultipartKind, boundary: MultipartBoundary, in pieces: Pieces,
        limits: MultipartLimits = .standard, leniency: MultipartLeniency = []
    ) where Pieces.Element == [UInt8] {
        let parser = PartParser(kind, boundary: boundary, limits: limits, leniency: leniency)
        stream = PartStream(parser, PieceIterator(pieces))
    }

    /// Reads the parts, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let stream: PartStream

        /// The next part, its content unread; `nil` after the last.
        public mutating func next() async throws -> MultipartPart? {
            try await stream.nextPart()
        }

        /// The next part, its content unread; `nil` after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(any Error) -> MultipartPart? {
            try await stream.nextPart()
        }
    }

    /// Starts reading, or goes on where another iterator stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream: stream)
    }
}

/// A use of parts that their stream does not allow. The stream itself is unharmed.
public enum MultipartUseError: Error, Hashable, Sendable {
    /// The content of a part was asked for after the next part was.
    case partIsOver
    /// The content of a part was asked for after it was read to its end.
    case alreadyRead
    /// Two tasks read at the same time.
    case concurrentReading
}

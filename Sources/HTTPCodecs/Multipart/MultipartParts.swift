/// The parts of multipart content in a stream, as a sequence.
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
/// The stream is read on demand, so a slow reader slows the sender down. Requesting the next part
/// skips the rest of the previous one and ends its `content`. After the last part the stream is
/// read to its end, so that all of the input is checked. The sequence can be read once: all
/// iterators share one position, and must not be used at the same time.
///
/// Errors of the stream are passed on unchanged. Invalid content throws a `CodecError`, misuse a
/// ``MultipartUseError``. Errors of the stream and of the content are final: later calls throw them
/// again.
///
/// RFC 2046, section 5.1; RFC 7578.
public struct MultipartParts: AsyncSequence, Sendable {
    private let stream: PartStream

    /// Creates the sequence for content of a media type.
    /// - Parameters:
    ///   - mediaType: the value of Content-Type, which names the boundary.
    ///   - pieces: the content, in pieces of any size.
    ///   - limits: the limits of the content.
    ///   - leniency: the violations that are tolerated.
    /// - Throws: `.unsupportedMediaType` or `.invalidBoundary`; nothing is read then.
    public init<Pieces: AsyncSequence & Sendable>(
        of mediaType: MediaType, in pieces: Pieces, limits: MultipartLimits = .standard,
        leniency: MultipartLeniency = []
    ) throws(CodecError) where Pieces.Element == [UInt8] {
        let parser = try PartParser(of: mediaType, limits: limits, leniency: leniency)
        stream = PartStream(parser, PieceIterator(pieces))
    }

    /// Creates the sequence for content with a known boundary.
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

        /// The next part, with unread content; `nil` after the last.
        public mutating func next() async throws -> MultipartPart? {
            try await stream.nextPart()
        }

        /// The next part, with unread content; `nil` after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(any Error) -> MultipartPart? {
            try await stream.nextPart()
        }
    }

    /// Starts reading, or continues where another iterator stopped.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(stream: stream)
    }
}

/// A misuse of parts. Their stream can still be read.
public enum MultipartUseError: Error, Hashable, Sendable {
    /// The content of a part was requested after the next part.
    case partIsOver
    /// The content of a part was requested after it was read to its end.
    case alreadyRead
    /// Two tasks read at the same time.
    case concurrentReading
}

public import HTTPParser

/// A part of multipart content in a stream.
///
/// The content can be read once, and only until the next part is requested.
public struct MultipartPart: Sendable {
    /// The head of the part.
    public let head: PartHead
    /// The content, which is read from the stream on demand.
    public let content: Content

    init(head: PartHead, number: Int, stream: PartStream) {
        self.head = head
        content = Content(stream: stream, number: number)
    }

    /// The name of the form's field; see ``PartHead/name``. A form's part always has one.
    public var name: String? { head.name }
    /// The client's name for the file; do not use it as a path. See ``PartHead/fileName``.
    public var fileName: String? { head.fileName }
    /// The media type; nil if it is missing or malformed.
    public var mediaType: MediaType? { head.mediaType }
    /// All fields of the head.
    public var fields: HTTPFields { head.fields }
    /// Whether the part is a file, that is, has a file name.
    public var isFile: Bool { head.isFile }

    /// Reads all of the content into memory.
    /// - Parameter byteLimit: the most bytes; longer content throws `.partTooLong`, and the next
    ///   part can still be requested.
    public func collect(upTo byteLimit: Int = 1 << 20) async throws -> [UInt8] {
        var all: [UInt8] = []
        var isFirst = true
        for try await piece in content {
            guard piece.count <= byteLimit - all.count else {
                throw content.tooLong(byteLimit)
            }
            // Usually there is one piece, which is returned without a copy.
            if isFirst { all = piece } else { all += piece }
            isFirst = false
        }
        return all
    }

    /// Reads all of the content as text.
    ///
    /// The text must be UTF-8: browsers send forms in the charset of the page without naming it.
    /// - Parameter byteLimit: the most bytes; longer content throws `.partTooLong`.
    /// - Throws: `.unsupportedCharset` if the part names a charset other than UTF-8 or ASCII;
    ///   `.invalidText` if the text is not UTF-8.
    public func text(upTo byteLimit: Int = 1 << 20) async throws -> String {
        if let charset = mediaType?["charset"] {
            guard charset.isASCII("utf-8") || charset.isASCII("us-ascii") else {
                throw CodecError(.unsupportedCharset, at: content.offset, charset)
            }
        }
        let bytes = try await collect(upTo: byteLimit)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CodecError.invalidUTF8(in: bytes, from: content.offset)
        }
        return text
    }
}

extension MultipartPart {
    /// The content of a part as a stream of pieces.
    public struct Content: AsyncSequence, Sendable {
        fileprivate let stream: PartStream
        fileprivate let number: Int
        /// The offset in the input at which the content begins.
        fileprivate let offset: Int64

        init(stream: PartStream, number: Int) {
            self.stream = stream
            self.number = number
            offset = stream.contentOffset
        }

        fileprivate func tooLong(_ byteLimit: Int) -> CodecError {
            CodecError(.partTooLong, at: offset + Int64(byteLimit))
        }

        /// Reads the pieces, one after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let stream: PartStream
            fileprivate let number: Int
            private var isAtEnd = false

            fileprivate init(stream: PartStream, number: Int) {
                self.stream = stream
                self.number = number
            }

            /// The next piece, never empty; `nil` after the last.
            public mutating func next() async throws -> [UInt8]? {
                guard !isAtEnd else { return nil }
                let piece = try await stream.nextPiece(ofPart: number)
                isAtEnd = piece == nil
                return piece
            }

            /// The next piece, never empty; `nil` after the last.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(any Error) -> [UInt8]? {
                guard !isAtEnd else { return nil }
                let piece = try await stream.nextPiece(ofPart: number)
                isAtEnd = piece == nil
                return piece
            }
        }

        /// Starts reading, or continues where another iterator stopped.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(stream: stream, number: number)
        }
    }
}

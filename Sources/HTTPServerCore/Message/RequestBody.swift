public import HTTPParser
package import ToolkitSystem

/// The content of a request as a stream, without transfer coding and content coding: gzip and
/// deflate are decoded, but not by a bare server.
///
/// A client that waits for `100 Continue` gets it when the first piece is requested. The server
/// reads no more while about 256 KiB wait to be taken, which slows the client down. The content can
/// be read once.
///
/// ```swift
/// for try await piece in request.body { size += piece.count }
/// ```
public struct RequestBody: AsyncSequence, Sendable {
    let exchange: Exchange?
    /// Whether the content is read without decoding.
    private var isRaw = false
    private var observer: (@Sendable ([UInt8]) throws -> Void)?
    /// The source of the pieces, if they do not come from an exchange.
    private var source: (@Sendable () async throws -> [UInt8]?)?
    /// The file that has all of the content, which may be renamed instead of being read; `nil` when
    /// there is none, or when an observer needs the pieces.
    package private(set) var file: ContentFile?

    init(exchange: Exchange?) {
        self.exchange = exchange
    }

    /// No content.
    package static var empty: RequestBody { RequestBody(exchange: nil) }

    /// Content that is a part of other content, such as a file of a form.
    /// - Parameter source: gives the next piece, never an empty one; `nil` after the last, once.
    package static func pieces(
        _ source: @escaping @Sendable () async throws -> [UInt8]?
    ) -> RequestBody {
        var body = RequestBody(exchange: nil)
        body.source = source
        return body
    }

    /// Content in memory.
    package static func bytes(_ bytes: [UInt8]) -> RequestBody {
        let rest = Locked(bytes)
        return RequestBody.pieces {
            let piece = rest.withLock { rest in
                defer { rest = [] }
                return rest
            }
            return piece.isEmpty ? nil : piece
        }
    }

    /// The content of a file.
    package static func file(_ file: ContentFile) -> RequestBody {
        let place = Locked<Int64>(0)
        var body = RequestBody.pieces {
            let offset = place.withLock { $0 }
            guard offset < file.length else { return nil }
            let piece = try await BlockingPool.files.run {
                try Syscalls.readPiece(of: file.file.descriptor, at: offset)
            }
            guard !piece.isEmpty else { throw RequestBodyError.connectionLost }
            place.withLock { $0 = offset + Int64(piece.count) }
            return piece
        }
        body.file = file
        return body
    }

    /// The same content as the client sent it, with its content coding. Content can be read in one
    /// of the two forms only.
    public var raw: RequestBody {
        var body = self
        body.isRaw = true
        return body
    }

    /// The content codings of `raw`, which are decoded otherwise, as in Content-Encoding; `nil` if
    /// none is decoded.
    public var codings: String? { exchange?.decoding?.codings }

    /// The same content; `observer` gets each piece when it is read. An error that it throws ends
    /// the reading.
    package func observed(_ observer: @escaping @Sendable ([UInt8]) throws -> Void) -> RequestBody {
        var body = self
        body.observer = observer
        body.file = nil
        return body
    }

    /// The decoder that removes the content coding, if there is one to remove.
    private var decoding: (any ContentDecoding)? { isRaw ? nil : exchange?.decoding }

    /// How many bytes will be read; `nil` if unknown.
    package var announcedLength: Int64? { decoding == nil ? exchange?.announcedLength : nil }

    /// Reads the pieces in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let exchange: Exchange?
        let decoding: (any ContentDecoding)?
        let observer: (@Sendable ([UInt8]) throws -> Void)?
        let source: (@Sendable () async throws -> [UInt8]?)?

        /// The next piece, never empty; `nil` after the last.
        /// - Throws: `RequestBodyError` when the content is incomplete, malformed, or longer than
        ///   the server allows, `HTTPError` with 408 when it is too slow, and the decoder's error
        ///   for a content coding that is unknown (415), malformed (400), or expands to more than
        ///   the server allows (413).
        public mutating func next() async throws -> [UInt8]? {
            guard let observer else { return try await nextPiece() }
            let piece = try await nextPiece()
            if let piece { try observer(piece) }
            return piece
        }

        private func nextPiece() async throws -> [UInt8]? {
            guard let exchange else { return try await source?() }
            if let decoding { return try await decoding.next(from: exchange.nextPiece) }
            return try await exchange.nextPiece()
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(exchange: exchange, decoding: decoding, observer: observer, source: source)
    }

    /// All of the content in memory.
    /// - Parameter byteLimit: the most bytes to take. For longer content `HTTPError` with 413 is
    ///   thrown, before any of it is read if its length was announced.
    public func collect(upTo byteLimit: Int = 2 << 20) async throws -> [UInt8] {
        guard exchange != nil || source != nil else { return [] }
        if let announced = announcedLength, announced > Int64(byteLimit) {
            throw HTTPError(.contentTooLarge, "at most \(byteLimit) bytes are taken here")
        }
        if observer == nil, decoding == nil, let whole = exchange?.wholeContent(upTo: byteLimit) {
            return whole
        }
        var all: [UInt8] = []
        for try await piece in self {
            guard piece.count <= byteLimit - all.count else {
                throw HTTPError(.contentTooLarge, "at most \(byteLimit) bytes are taken here")
            }
            all += piece
        }
        return all
    }

    /// The fields after chunked content, once it was read to its end (RFC 9110 section 6.5).
    public var trailers: HTTPFields {
        get async { await exchange?.receivedTrailers() ?? HTTPFields() }
    }
}

/// A file that has all of a request's content.
package final class ContentFile: Sendable {
    package let file: OpenFile
    package let place: FilePlace
    package let length: Int64

    package init(_ file: OpenFile, at place: FilePlace, length: Int64) {
        (self.file, self.place, self.length) = (file, place, length)
    }
}

/// Content that replaces the content of an exchange.
package final class StandInContent: Sendable {
    package let body: RequestBody

    package init(_ body: RequestBody) { self.body = body }
}

/// Why content could not be read.
public enum RequestBodyError: Error, Hashable, Sendable {
    /// The client closed the connection or was too slow, or the connection failed.
    case connectionLost
    /// The content's framing is ill-formed.
    case malformed(HTTPParseError)
    /// Another reader is waiting for content at the same time.
    case alreadyRead
}

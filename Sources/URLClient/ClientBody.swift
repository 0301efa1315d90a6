/// The content of a request.
///
/// Bytes, files and content from a closure can be sent more than once: after a redirect that keeps
/// the method, an authentication challenge, or a broken connection. A stream can be sent only once.
public struct ClientBody: Sendable {
    /// Returns the next piece; nil after the last.
    typealias Pull = @Sendable () async throws -> [UInt8]?

    enum Content: Sendable {
        case none
        case bytes([UInt8])
        case file(path: String, offset: Int64, count: Int64?)
        /// `make` returns a new sequence of pieces for each call, or nil if the content cannot be
        /// sent again.
        case stream(length: Int64?, isReplayable: Bool, make: @Sendable () async throws -> Pull?)
    }

    let content: Content
    /// The value of Content-Type, unless the request has one.
    public let mediaType: String?

    init(_ content: Content, mediaType: String?) {
        self.content = content
        self.mediaType = mediaType
    }

    /// No content.
    public static var none: ClientBody { ClientBody(.none, mediaType: nil) }

    /// Bytes. No bytes are sent with `Content-Length: 0`, except with GET, HEAD and TRACE.
    public static func bytes(_ bytes: [UInt8], mediaType: String? = nil) -> ClientBody {
        ClientBody(.bytes(bytes), mediaType: mediaType)
    }

    /// A text, sent as UTF-8.
    public static func text(
        _ text: String, mediaType: String = "text/plain; charset=utf-8"
    ) -> ClientBody {
        ClientBody(.bytes(Array(text.utf8)), mediaType: mediaType)
    }

    /// A file, or a part of it, read while it is sent.
    ///
    /// The task fails if the file becomes shorter before it was sent, or is replaced.
    /// - Parameters:
    ///   - path: the path of a regular file.
    ///   - offset: the first byte to send, counted from 0.
    ///   - count: how many bytes to send; nil for the rest of the file.
    ///   - mediaType: the value of Content-Type, unless the request has one.
    public static func file(
        _ path: String, offset: Int64 = 0, count: Int64? = nil, mediaType: String? = nil
    ) -> ClientBody {
        precondition(offset >= 0 && count ?? 0 >= 0, "a negative length")
        return ClientBody(.file(path: path, offset: offset, count: count), mediaType: mediaType)
    }

    /// The elements of a sequence, each requested when it can be sent. The content can be sent
    /// once.
    /// - Parameters:
    ///   - pieces: the content. The task fails with an error that the sequence throws.
    ///   - length: the total length in bytes. The task fails if the pieces have more or fewer. Nil
    ///     if unknown; the content is then sent chunked.
    ///   - mediaType: the value of Content-Type, unless the request has one.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces, length: Int64? = nil, mediaType: String? = nil
    ) -> ClientBody where Pieces.Element == [UInt8] {
        precondition(length ?? 0 >= 0, "a negative length")
        let once = OnceFlag()
        let make: @Sendable () async throws -> Pull? = {
            once.take() ? PullBox(pieces).pull : nil
        }
        return ClientBody(
            .stream(length: length, isReplayable: false, make: make), mediaType: mediaType)
    }

    /// The elements of a sequence that a closure makes each time the content is sent.
    /// - Parameters:
    ///   - length: the total length in bytes. The task fails if the pieces have more or fewer. Nil
    ///     if unknown; the content is then sent chunked.
    ///   - mediaType: the value of Content-Type, unless the request has one.
    ///   - make: returns a sequence that begins at the content's first byte.
    public static func replayable<Pieces: AsyncSequence & Sendable>(
        length: Int64? = nil, mediaType: String? = nil,
        _ make: @escaping @Sendable () async throws -> Pieces
    ) -> ClientBody where Pieces.Element == [UInt8] {
        precondition(length ?? 0 >= 0, "a negative length")
        return ClientBody(
            .stream(length: length, isReplayable: true, make: { PullBox(try await make()).pull }),
            mediaType: mediaType)
    }

    /// The content if all of it is in memory; nil otherwise.
    package var bytesInMemory: [UInt8]? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// Whether there is no content.
    public var isNone: Bool {
        if case .none = content { true } else { false }
    }

    /// Whether the content can be sent more than once.
    public var isReplayable: Bool {
        if case .stream(_, let isReplayable, _) = content { isReplayable } else { true }
    }

    /// The length in bytes if it is known without opening a file; nil otherwise.
    public var length: Int64? {
        switch content {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let count): count
        case .stream(let length, _, _): length
        }
    }
}

/// Holds the iterator of a sequence. Calls must not overlap.
private final class PullBox<Pieces: AsyncSequence & Sendable>: @unchecked Sendable
where Pieces.Element == [UInt8] {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) {
        iterator = pieces.makeAsyncIterator()
    }

    var pull: ClientBody.Pull {
        { try await self.next() }
    }

    private func next() async throws -> [UInt8]? { try await iterator.next() }
}

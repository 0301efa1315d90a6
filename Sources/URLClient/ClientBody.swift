/// The content of a request.
///
/// Bytes, files and content from a closure can be sent more than once: after a redirect that
/// keeps the method, an authentication challenge, or a connection that broke. A stream cannot.
public struct ClientBody: Sendable {
    /// Pieces that are asked for one by one; nil after the last.
    typealias Pull = @Sendable () async throws -> [UInt8]?

    enum Content: Sendable {
        case none
        case bytes([UInt8])
        case file(path: String, offset: Int64, count: Int64?)
        /// Gives a fresh sequence of pieces each time it is called, or nil when it cannot again.
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

    /// Bytes, also none: a `Content-Length` of 0 is sent then, but with GET, HEAD and TRACE.
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
    /// A file that becomes shorter meanwhile fails the task.
    /// - Parameters:
    ///   - path: the path of a regular file.
    ///   - offset: where to begin.
    ///   - count: how many bytes to send; nil for all that follow.
    ///   - mediaType: what Content-Type says unless the request has one.
    public static func file(
        _ path: String, offset: Int64 = 0, count: Int64? = nil, mediaType: String? = nil
    ) -> ClientBody {
        precondition(offset >= 0 && count ?? 0 >= 0, "a negative length")
        return ClientBody(.file(path: path, offset: offset, count: count), mediaType: mediaType)
    }

    /// The elements of a sequence, each sent when there is room for it. It can be sent once.
    /// - Parameters:
    ///   - pieces: the content. An error that it throws is the task's error.
    ///   - length: how many bytes all pieces have together, where that is known; other content is
    ///     sent chunked. The task fails when they have more or fewer.
    ///   - mediaType: what Content-Type says unless the request has one.
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

    /// The elements of sequences that a closure makes, one for each time that the content is sent.
    /// - Parameters:
    ///   - length: how many bytes all pieces have together, where that is known; other content is
    ///     sent chunked. The task fails when they have more or fewer.
    ///   - mediaType: what Content-Type says unless the request has one.
    ///   - make: makes a sequence that begins at the content's first byte.
    public static func replayable<Pieces: AsyncSequence & Sendable>(
        length: Int64? = nil, mediaType: String? = nil,
        _ make: @escaping @Sendable () async throws -> Pieces
    ) -> ClientBody where Pieces.Element == [UInt8] {
        precondition(length ?? 0 >= 0, "a negative length")
        return ClientBody(
            .stream(length: length, isReplayable: true, make: { PullBox(try await make()).pull }),
            mediaType: mediaType)
    }

    /// The content where it is in memory as a whole.
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

    /// How many bytes it has, where that is known without looking at a file; nil otherwise.
    public var length: Int64? {
        switch content {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let count): count
        case .stream(let length, _, _): length
        }
    }
}

/// Holds the iterator of a sequence. One call ends before the next begins.
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

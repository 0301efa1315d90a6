public import HTTPServerCore
internal import ToolkitSystem

/// Streams whose pieces are pulled from a closure or taken from a sequence.
extension ResponseBody {
    /// Content that is pulled: `next` is called whenever the connection can take more.
    ///
    /// ```swift
    /// let body = ResponseBody.pulled(from: ["1\n", "2\n"][...]) { lines in
    ///     lines.popFirst().map { Array($0.utf8) }
    /// }
    /// ```
    /// - Parameters:
    ///   - state: the state that `next` changes; each response has a separate copy.
    ///   - mediaType: the value of Content-Type; empty for none.
    ///   - length: the length of the content in bytes; `nil` if it is unknown, which sends the
    ///     content chunked.
    ///   - next: returns the next piece, `nil` after the last. An empty piece is skipped. If it
    ///     throws, the connection is closed early, which shows the client that the content is
    ///     incomplete.
    public static func pulled<State: Sendable>(
        from state: State, mediaType: String = "text/plain; charset=utf-8", length: Int64? = nil,
        next: @escaping @Sendable (inout State) async throws -> [UInt8]?
    ) -> ResponseBody {
        stream(mediaType: mediaType, length: length) { writer in
            var state = state
            while let piece = try await next(&state) {
                if !piece.isEmpty { try await writer.write(piece) }
            }
        }
    }

    /// Content that is pulled from a closure that may block; it runs outside of the event loop.
    /// - Parameters:
    ///   - state: the state that `next` changes; each response has a separate copy.
    ///   - mediaType: the value of Content-Type; empty for none.
    ///   - length: the length of the content in bytes; `nil` if it is unknown.
    ///   - next: returns the next piece, `nil` after the last; it may block.
    public static func pulledBlocking<State: Sendable>(
        from state: State, mediaType: String = "text/plain; charset=utf-8", length: Int64? = nil,
        next: @escaping @Sendable (inout State) throws -> [UInt8]?
    ) -> ResponseBody {
        stream(mediaType: mediaType, length: length) { writer in
            let source = BlockingSource(state: state, next: next)
            while let piece = try await BlockingPool.streams.runUnlessCancelled({
                try source.pull()
            }) {
                if !piece.isEmpty { try await writer.write(piece) }
            }
        }
    }

    /// Content whose pieces are the elements of a sequence, each sent as soon as it arrives.
    /// - Parameters:
    ///   - pieces: the pieces. When the sequence throws, the connection is closed early.
    ///   - mediaType: the value of Content-Type; empty for none.
    ///   - length: the length of all pieces in bytes; `nil` if it is unknown.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        of pieces: Pieces, mediaType: String = "application/octet-stream", length: Int64? = nil
    ) -> ResponseBody where Pieces.Element == [UInt8] {
        stream(mediaType: mediaType, length: length) { writer in
            for try await piece in pieces where !piece.isEmpty { try await writer.write(piece) }
        }
    }

    /// Content whose pieces are the texts of a sequence, each sent as UTF-8 as soon as it arrives.
    /// - Parameters:
    ///   - texts: the pieces. When the sequence throws, the connection is closed early.
    ///   - mediaType: the value of Content-Type; empty for none.
    public static func stream<Texts: AsyncSequence & Sendable>(
        of texts: Texts, mediaType: String = "text/plain; charset=utf-8"
    ) -> ResponseBody where Texts.Element == String {
        stream(mediaType: mediaType) { writer in
            for try await text in texts where !text.isEmpty { try await writer.write(text) }
        }
    }
}

/// A closure and its state. Calls run on different threads, but never at the same time.
private final class BlockingSource<State: Sendable>: @unchecked Sendable {
    private var state: State
    private let next: @Sendable (inout State) throws -> [UInt8]?

    init(state: State, next: @escaping @Sendable (inout State) throws -> [UInt8]?) {
        self.state = state
        self.next = next
    }

    func pull() throws -> [UInt8]? { try next(&state) }
}

extension BlockingPool {
    /// Runs closures that produce content and may block.
    static let streams = BlockingPool(threads: 16)
}

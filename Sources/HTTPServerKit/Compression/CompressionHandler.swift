public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

/// Compresses the answers of another handler by gzip for clients that accept it.
///
/// ```swift
/// let handler = CompressionHandler(router)
/// ```
///
/// Content is compressed when its media type is one that gets shorter, its length is worth it or
/// unknown, and nothing in the response speaks against it: a content coding, a range, a digest, or
/// `Cache-Control: no-transform`. A request with Range is answered uncompressed, and with the whole
/// where If-Range is a date and the content may be compressed: both forms have that date. Such
/// answers vary by Accept-Encoding, compressed or not; a strong entity tag `"a"` becomes `"a-gzip"`,
/// and conditions of clients that know that one are understood. Answers that come again are
/// compressed once and then taken from memory. Streams are compressed as they are written; what was
/// written goes out as soon as the producer waits for something.
///
/// A client that refuses uncoded content (`identity;q=0`) and takes no gzip gets uncoded content
/// all the same: it can do more with that than with 406.
///
/// With compression, an attacker who sees lengths and makes a page repeat chosen input can guess
/// the page's secrets. Pages that contain secrets beside echoed input should say `no-transform`.
///
/// RFC 9110, sections 8.4, 8.8.3.3 and 12.5.3.
public struct CompressionHandler: Handler {
    /// The settings of compression.
    public struct Options: Sendable {
        /// How hard to try, from 1 (fast) to 9 (small).
        public var level = 6
        /// The fewest bytes of content that are compressed: shorter ones fit into a packet anyway.
        public var minimumBytes = 1_024
        /// The most bytes of a file that are compressed; longer ones are sent as they are, by the
        /// system. 0 leaves files alone, but for short ones that `FileHandler` keeps in memory:
        /// they are compressed like any content in memory.
        public var fileByteLimit: Int64 = 1 << 20
        /// The most bytes of repeated answers and their compressed forms that are kept; 0 keeps
        /// none.
        public var cacheByteLimit = 4 << 20
        /// The most bytes that one such answer and its compressed form may have.
        public var cacheEntryByteLimit = 1 << 20
        /// How many streams, long answers among them, are compressed at once, at up to 400 KiB of
        /// memory each; further ones are sent as they are.
        public var streamLimit = 128
        /// Whether content of a media type is compressed.
        public var isCompressible: @Sendable (MediaType) -> Bool = { $0.isCompressible }

        /// The defaults.
        public init() {}
    }

    private let handler: any Handler
    let coder: ResponseCoder

    /// The bytes of repeated answers and their compressed forms that are kept.
    package var keptBytes: Int { coder.variants.bytes }

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - options: what is compressed how.
    public init(_ handler: some Handler, options: Options = Options()) {
        self.handler = handler
        coder = ResponseCoder(options)
    }

    /// Answers by the handler.
    public func answer(_ request: Request) throws -> Answer {
        let accepted = AcceptedCoding(request)
        let translated = VariantConditions.translated(request, takesVariant: accepted.isGzip)
        if let translated { return try encode(handler.answer(translated), for: request, accepted) }
        return try encode(handler.answer(request), for: request, accepted)
    }

    private func encode(
        _ answer: consuming Answer, for request: Request, _ accepted: AcceptedCoding
    ) throws -> Answer {
        // Most responses are there, and need no closure.
        switch consume answer {
        case .now(var response):
            coder.encode(&response, for: request, accepted)
            return .now(response)
        case let answer:
            return try answer.changing { [coder] in coder.encode(&$0, for: request, accepted) }
        }
    }
}

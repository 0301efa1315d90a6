public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

/// Compresses the answers of another handler with gzip if the client accepts gzip.
///
/// ```swift
/// let handler = CompressionHandler(router)
/// ```
///
/// Content may be compressed when its media type is compressible, its length is in the limits of
/// ``Options`` or unknown, and the response has no content coding, range, digest or
/// `Cache-Control: no-transform`. For such content:
///
/// - All answers vary by Accept-Encoding, compressed or not.
/// - A compressed answer with the strong entity tag `"a"` gets the tag `"a-gzip"`. The handler
///   understands that tag in a client's conditions.
/// - An answer to a request with Range is not compressed. If If-Range is a date, the client gets
///   the whole content, because both forms have the same date.
/// - The compressed form of a file is cached at its first use, the compressed form of other content
///   at its second use.
/// - Streams are compressed as they are written. When the producer waits, all content that it has
///   written is sent.
///
/// A client that accepts neither gzip nor uncoded content (`identity;q=0`) gets uncoded content,
/// because content is more useful than 406.
///
/// With compression, an attacker who sees lengths and makes a page repeat chosen input can guess
/// the page's secrets. Pages that contain secrets beside echoed input should set `no-transform`.
///
/// RFC 9110, sections 8.4, 8.8.3.3 and 12.5.3.
public struct CompressionHandler: Handler {
    /// The settings of compression.
    public struct Options: Sendable {
        /// The compression level, from 1 (fast) to 9 (small).
        public var level = 6
        /// The shortest content that is compressed, in bytes; shorter content fits into one packet
        /// anyway. Ignored for a client that accepts only gzip (`identity;q=0`).
        public var minimumBytes = 1_024
        /// The longest file that is compressed, in bytes. Longer files are sent uncompressed, by
        /// the system's `sendfile`. With 0, only the short files that `FileHandler` keeps in memory
        /// are compressed, like any content in memory.
        public var fileByteLimit: Int64 = 1 << 20
        /// The size of the cache of answers and their compressed forms, in bytes; 0 for no cache.
        public var cacheByteLimit = 4 << 20
        /// The size of the largest entry of the cache, in bytes: content in memory and its
        /// compressed form, or the compressed form of a file. The file must be shorter, too.
        public var cacheEntryByteLimit = 1 << 20
        /// The most streams and long answers that are compressed at once, with up to 400 KiB of
        /// memory each. Further ones are sent uncompressed.
        public var streamLimit = 128
        /// Whether content of a media type is compressed.
        public var isCompressible: @Sendable (MediaType) -> Bool = { $0.isCompressible }

        /// The defaults.
        public init() {}
    }

    private let handler: any Handler
    let coder: ResponseCoder

    /// The size of all cached answers and their compressed forms, in bytes.
    package var keptBytes: Int { coder.variants.bytes }

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - options: the settings of compression.
    public init(_ handler: some Handler, options: Options = Options()) {
        self.handler = handler
        coder = ResponseCoder(options)
    }

    /// Answers with the inner handler's response, compressed if possible.
    public func answer(_ request: Request) throws -> Answer {
        let accepted = AcceptedCoding(request)
        let translated = VariantConditions.translated(request, takesVariant: accepted.isGzip)
        if let translated { return try encode(handler.answer(translated), for: request, accepted) }
        return try encode(handler.answer(request), for: request, accepted)
    }

    private func encode(
        _ answer: consuming Answer, for request: Request, _ accepted: AcceptedCoding
    ) throws -> Answer {
        // Most responses are complete already, and need no closure.
        switch consume answer {
        case .now(var response):
            coder.encode(&response, for: request, accepted)
            return .now(response)
        case let answer:
            return try answer.changing { [coder] in coder.encode(&$0, for: request, accepted) }
        }
    }
}

public import HTTPCodecs
public import HTTPParser
public import HTTPServerCore

/// Answers with the same content each time. Supports validators, conditions and ranges; the gzip
/// form is made once.
///
/// ```swift
/// router.route(.get, "/robots.txt", to: ContentHandler("User-agent: *\nDisallow:\n"))
/// ```
public struct ContentHandler: Handler {
    /// The description of the content.
    public struct Options: Sendable {
        /// How many seconds caches may use the content. Above 0 the answer has `public, max-age`;
        /// at 0 it has `no-cache`, so that caches revalidate each time; with `nil` it has no
        /// Cache-Control.
        public var cacheAge: Int? = 0
        /// The entity tag of the content; `nil` computes it from the content.
        public var entityTag: EntityTag?
        /// The time of the last change; `nil` sends no Last-Modified.
        public var lastModified: HTTPDate?
        /// Whether clients that accept gzip get the content compressed, if its media type is
        /// compressible and the compressed form is shorter. That form has a different tag, and
        /// no ranges.
        public var compresses = true

        /// The defaults.
        public init() {}
    }

    private let plain: Response
    private let compressed: Response?

    /// Creates a handler.
    /// - Parameters:
    ///   - content: the content.
    ///   - mediaType: its media type.
    ///   - options: the description of the content.
    public init(
        _ content: [UInt8], mediaType: MediaType = .octetStream, options: Options = Options()
    ) {
        let tag = options.entityTag ?? EntityTag(of: content)
        var variant: [UInt8]?
        if options.compresses, mediaType.isCompressible {
            variant = try? content.gzipped(level: 9)
            if let count = variant?.count, count >= content.count { variant = nil }
        }
        var response = Response(
            .ok, body: .bytes(content, mediaType: mediaType.description))
        response.entityTag = tag
        response.lastModified = options.lastModified
        if let age = options.cacheAge {
            response.fields.append(.cacheControl, age > 0 ? "public, max-age=\(age)" : "no-cache")
        }
        response.fields.append(.xContentTypeOptions, "nosniff")
        if variant != nil { response.fields.addVaryByEncoding() }
        response.fields.keepLinesAndFacts()
        plain = response
        compressed = variant.map { variant in
            response.body.content = .bytes(variant)
            response.fields.describeGzip()
            response.fields.keepLinesAndFacts()
            return response
        }
    }

    /// Creates a handler with a text, sent as UTF-8.
    public init(
        _ text: String, mediaType: MediaType = .plainText, options: Options = Options()
    ) {
        self.init(Array(text.utf8), mediaType: mediaType, options: options)
    }

    /// Answers immediately.
    public func answer(_ request: Request) throws -> Answer { .now(try response(to: request)) }

    /// The response to a request.
    public func response(to request: Request) throws -> Response {
        try request.answerIfNotRead() ?? selected(request).conditional(for: request)
    }

    /// The response in the form that the client accepts. With Range it is the plain form, because a
    /// part of the compressed form is useless to a client that wants a part of the content.
    private func selected(_ request: Request) -> Response {
        guard let compressed, !request.fields.contains(.range), AcceptedCoding(request).isGzip
        else {
            return plain
        }
        return compressed
    }
}

extension Request {
    /// The answer to OPTIONS for content that can only be read; `nil` for GET and HEAD.
    /// - Throws: `HTTPError` with 405, or 501, on all other methods.
    func answerIfNotRead() throws(HTTPError) -> Response? {
        switch knownMethod {
        case .get, .head: return nil
        case .options: return Response(.noContent, fields: [.allow: "GET, HEAD, OPTIONS"])
        default:
            throw HTTPError(
                method.isKnown ? .methodNotAllowed : .notImplemented,
                fields: [.allow: "GET, HEAD, OPTIONS"])
        }
    }
}

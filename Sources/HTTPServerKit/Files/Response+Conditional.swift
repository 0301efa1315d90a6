internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

extension Response {
    /// The response after the conditions and ranges of its request: 304 if the client's copy is
    /// current, 206 for the requested parts, 416 if no part fits, else the response itself.
    ///
    /// Only a 200 to GET or HEAD is changed. Conditions are compared with its ETag and
    /// Last-Modified. Text, bytes and files have ranges and get Accept-Ranges; streams and coded
    /// content have none. A 304 keeps all fields except those that describe content. RFC 9110,
    /// sections 13.2.2, 14.2 and 15.4.5.
    /// - Throws: `HTTPError` with 412 if If-Match or If-Unmodified-Since is not met.
    public func conditional(for request: Request) throws(HTTPError) -> Response {
        try conditional(for: request, nil)
    }

    /// Does the same as ``conditional(for:)`` with content that is generated while it is sent. Such
    /// content has single ranges only.
    package func conditional(
        for request: Request, generating generator: ContentGenerator
    ) throws(HTTPError) -> Response {
        var response = self
        response.body = generator.whole(mediaType: body.mediaType)
        return try response.conditional(for: request, generator)
    }

    private func conditional(
        for request: Request, _ generator: ContentGenerator?
    ) throws(HTTPError) -> Response {
        let isGet = request.knownMethod == .get
        guard status == .ok, isGet || request.knownMethod == .head else { return self }
        var response = self
        let hasRanges =
            (generator != nil || body.content.hasRanges) && !fields.contains(.contentEncoding)
        if hasRanges, !fields.contains(.acceptRanges) {
            response.fields.append(.acceptRanges, "bytes")
        }
        guard let conditions = Preconditions(request) else { return response }
        let state = CurrentState(entityTag: entityTag, lastModified: lastModified)
        let now = HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
        switch conditions.evaluate(method: isGet ? .get : .head, current: state, now: now) {
        case .notModified: return notModified
        case .preconditionFailed:
            var fields = notModified.fields
            fields.removeFreshness()
            fields.removeDigests(ofRepresentation: true)
            throw HTTPError(.preconditionFailed, fields: fields)
        case .proceed(let rangeAllowed):
            // A form in another coding may have the same date (RFC 9110 section 8.8.1).
            guard rangeAllowed, hasRanges, let range = request.fields[.range],
                !(VariantConditions.hasDatedRange(request) && fields.varyByEncoding),
                let source = generator.map(RangeSource.generated) ?? RangeSource(body.content)
            else { return response }
            return response.part(range, of: source) ?? response
        }
    }

    /// Replaces the response by the requested part, if If-Range is a date and matches.
    ///
    /// The handler got the request without its range. A 200 has parts only if the handler offers
    /// ranges for it, and if no other form of the content has the same date (RFC 9110 section
    /// 8.8.1).
    mutating func takeDatedRange(of request: Request) {
        guard status == .ok, fields[.acceptRanges] == "bytes", !fields.contains(.contentEncoding),
            !fields.varyByEncoding, let range = request.fields[.range],
            let source = RangeSource(body.content)
        else { return }
        let conditions = Preconditions(ifRange: request.fields[.ifRange], hasRange: true)
        let state = CurrentState(entityTag: nil, lastModified: lastModified)
        let now = HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
        let result = conditions.evaluate(method: .get, current: state, now: now)
        guard result == .proceed(rangeAllowed: true), let part = part(range, of: source) else {
            return
        }
        self = part
    }

    /// The 206 or 416 for a range; `nil` to send the whole content.
    private func part(_ range: String, of source: RangeSource) -> Response? {
        let decision = RangeDecision(field: range, length: source.length)
        guard let contentType = fields[.contentType] else {
            return ContentRanges.response(decision, source, fields, body.mediaType)
        }
        // Each part gets the content's type; a multipart response has a different type.
        var fields = fields
        fields.remove(.contentType)
        return ContentRanges.response(decision, source, fields, contentType)
    }

    /// 304 with the fields of this response that do not describe content.
    private var notModified: Response {
        var kept = HTTPFields()
        kept.reserveCapacity(fields.count)
        for field in fields where !Self.contentFields.contains(field.name) { kept.append(field) }
        kept.removeDigests(ofRepresentation: false)
        return Response(.notModified, fields: kept)
    }

    private static let contentFields: Set<HTTPFieldName> = [
        .acceptRanges, .contentEncoding, .contentType, "Content-Language", "Content-Disposition",
        "Content-Range", "Content-Length",
    ]
}

extension ResponseBody.Content {
    /// Whether the content has ranges: streams and parts have none.
    fileprivate var hasRanges: Bool {
        switch self {
        case .empty, .text, .bytes, .file: true
        case .pieces, .stream, .upgrade: false
        }
    }
}

/// Content that has ranges.
enum RangeSource {
    case bytes([UInt8])
    case file(OpenFile, offset: Int64, length: Int64)
    case generated(ContentGenerator)

    /// `nil` for streams, parts and upgrades.
    init?(_ content: ResponseBody.Content) {
        switch content {
        case .empty: self = .bytes([])
        case .text(let text): self = .bytes(Array(text.utf8))
        case .bytes(let bytes): self = .bytes(bytes)
        case .file(let file, let offset, let count):
            self = .file(file, offset: offset, length: count)
        case .pieces, .stream, .upgrade: return nil
        }
    }

    var length: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let length): length
        case .generated(let generator): generator.length
        }
    }

    /// All of the content.
    func body(mediaType: String) -> ResponseBody {
        switch self {
        case .bytes(let bytes): .bytes(bytes, mediaType: mediaType)
        case .file(let file, let offset, let length):
            .file(file, offset: offset, count: length, mediaType: mediaType)
        case .generated(let generator): generator.whole(mediaType: mediaType)
        }
    }

    /// The piece for a range, which must be inside of the content; `nil` for generated content.
    func piece(_ range: ByteRange) -> ResponseBody.Piece? {
        switch self {
        case .bytes(let bytes): .bytes(Array(bytes[Int(range.first)...Int(range.last)]))
        case .file(let file, let offset, _):
            .file(file, offset: offset + range.first, count: range.count)
        case .generated: nil
        }
    }

    func body(_ range: ByteRange, mediaType: String) -> ResponseBody {
        switch self {
        case .bytes(let bytes):
            .bytes(Array(bytes[Int(range.first)...Int(range.last)]), mediaType: mediaType)
        case .file(let file, let offset, _):
            .file(file, offset: offset + range.first, count: range.count, mediaType: mediaType)
        case .generated(let generator): generator.body(range, mediaType: mediaType)
        }
    }
}

/// Content of a known length that is generated while it is sent, from any offset.
package struct ContentGenerator: Sendable {
    /// The length in bytes.
    package let length: Int64
    private let write: @Sendable (ByteRange, ResponseWriter) async throws -> Void

    /// - Parameters:
    ///   - length: the length in bytes, at least 1.
    ///   - write: writes the bytes of a range.
    package init(
        length: Int64,
        write:
            @escaping @Sendable (_ range: ByteRange, _ writer: ResponseWriter) async throws -> Void
    ) {
        self.length = length
        self.write = write
    }

    func whole(mediaType: String) -> ResponseBody {
        guard let all = ByteRange(first: 0, last: length - 1) else {
            return .bytes([], mediaType: mediaType)
        }
        return body(all, mediaType: mediaType)
    }

    func body(_ range: ByteRange, mediaType: String) -> ResponseBody {
        .stream(mediaType: mediaType, length: range.count) { [write] writer in
            try await write(range, writer)
        }
    }
}

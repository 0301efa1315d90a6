internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

/// Parts of content as responses (RFC 9110 sections 14 and 15.3.7).
enum ContentRanges {
    /// The 206 or 416 for a decision; `nil` to send the whole content.
    static func response(
        _ decision: RangeDecision, _ source: RangeSource, _ fields: HTTPFields, _ mediaType: String
    ) -> Response? {
        var fields = fields
        let length = source.length
        switch decision {
        case .whole: return nil
        case .unsatisfiable:
            fields.removeFreshness()
            fields.removeDigests(ofRepresentation: true)
            fields.append(.contentRange, ByteRange.unsatisfiedContentRange(ofLength: length))
            return Response(.rangeNotSatisfiable, fields: fields)
        case .single(let range):
            fields.removeDigests(ofRepresentation: false)
            fields.append(.contentRange, range.contentRange(ofLength: length))
            let body = source.body(range, mediaType: mediaType)
            return Response(.partialContent, fields: fields, body: body)
        case .several(let ranges):
            fields.removeDigests(ofRepresentation: false)
            return multipart(ranges, source, fields, mediaType)
        }
    }

    /// A 206 with several parts; `nil` to send the whole content, because the media type is not a
    /// valid field value, or the content has no pieces that can be sent separately.
    private static func multipart(
        _ ranges: [ByteRange], _ source: RangeSource, _ fields: HTTPFields, _ mediaType: String
    ) -> Response? {
        var parts = MultipartSerializer<ByteRange>(.byteRanges)
        for range in ranges {
            var head = HTTPFields()
            if !mediaType.isEmpty { head.append(.contentType, mediaType) }
            head.append(.contentRange, range.contentRange(ofLength: source.length))
            let isWritten: Void? = try? parts.append(head, source: range, length: range.count)
            guard isWritten != nil else { return nil }
        }
        var pieces: [ResponseBody.Piece] = []
        for segment in parts.segments {
            switch segment {
            case .bytes(let bytes): pieces.append(.bytes(bytes))
            case .source(let range, _):
                guard let piece = source.piece(range) else { return nil }
                pieces.append(piece)
            }
        }
        let body = ResponseBody(.pieces(pieces), mediaType: parts.mediaType.description)
        return Response(.partialContent, fields: fields, body: body)
    }
}

extension HTTPFields {
    /// Removes the fields that allow caches to store an error. The cache key contains neither Range
    /// nor If-Match, so a stored error would also answer other requests (RFC 9111 section 3).
    mutating func removeFreshness() {
        remove(.cacheControl)
        remove(.expires)
    }

    /// Removes the digests of content that is not sent.
    /// - Parameter ofRepresentation: whether digests of the whole representation are removed, too.
    ///   A part and a 304 keep them; an error is another representation (RFC 9530 section 3).
    mutating func removeDigests(ofRepresentation: Bool) {
        var names = DigestFields.ofContent
        if ofRepresentation { names += [DigestFields.representation, DigestFields.ownCloud] }
        for name in names where contains(name) { remove(name) }
    }
}

/// The names of fields with digests.
enum DigestFields {
    /// The digests of the content of one message (RFC 9530 section 2, RFC 1864). `Digest` was used
    /// for content and for representations.
    static let ofContent: [HTTPFieldName] = ["Content-Digest", "Content-MD5", "Digest"]
    /// The digest of the representation (RFC 9530 section 3).
    static let representation: HTTPFieldName = "Repr-Digest"
    /// ownCloud's checksum of a file, before any content coding.
    static let ownCloud: HTTPFieldName = "OC-Checksum"
}

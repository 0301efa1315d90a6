internal import HTTPCodecs
internal import HTTPParser

/// Parts of a file as responses (RFC 9110 sections 14 and 15.3.7).
enum FileRanges {
    /// The 206 or 416 that a range asks for, or `nil` for the whole file.
    static func response(
        _ decision: RangeDecision, _ file: OpenFile, length: Int64, _ fields: HTTPFields,
        _ mediaType: String
    ) -> Response? {
        var fields = fields
        switch decision {
        case .whole: return nil
        case .unsatisfiable:
            fields.append(.contentRange, ByteRange.unsatisfiedContentRange(ofLength: length))
            return Response(.rangeNotSatisfiable, fields: fields)
        case .single(let range):
            fields.append(.contentRange, range.contentRange(ofLength: length))
            let body = ResponseBody.file(
                file, offset: range.first, count: range.count, mediaType: mediaType)
            return Response(.partialContent, fields: fields, body: body)
        case .several(let ranges):
            return multipart(ranges, file, length: length, fields, mediaType)
        }
    }

    /// `nil`, for the whole file, when the media type cannot stand in a field.
    private static func multipart(
        _ ranges: [ByteRange], _ file: OpenFile, length: Int64, _ fields: HTTPFields,
        _ mediaType: String
    ) -> Response? {
        var parts = MultipartSerializer<ByteRange>(.byteRanges)
        for range in ranges {
            let head: HTTPFields = [
                .contentType: mediaType, .contentRange: range.contentRange(ofLength: length),
            ]
            let isWritten: Void? = try? parts.append(head, source: range, length: range.count)
            guard isWritten != nil else { return nil }
        }
        let pieces = parts.segments.map { segment -> ResponseBody.Piece in
            switch segment {
            case .bytes(let bytes): .bytes(bytes)
            case .source(let range, _): .file(file, offset: range.first, count: range.count)
            }
        }
        let body = ResponseBody(.pieces(pieces), mediaType: parts.mediaType.description)
        return Response(.partialContent, fields: fields, body: body)
    }
}

public import HTTPParser

/// A piece of multipart content, in the order of the wire.
public enum MultipartSegment<Source> {
    /// Bytes to send: delimiters, heads, and content that is in memory.
    case bytes([UInt8])
    /// Content that the caller reads and sends; `length` in bytes, nil if unknown.
    case source(Source, length: Int64?)
}

extension MultipartSegment: Sendable where Source: Sendable {}
extension MultipartSegment: Equatable where Source: Equatable {}

/// Makes multipart content without reading any file: segments of bytes, and placeholders for
/// content that the caller streams.
///
/// <!-- snippet: given send: ([UInt8]) async throws -> Void, sendFile: (String) async throws -> Void -->
/// ```swift
/// var form = MultipartSerializer<String>(.formData)
/// try form.append(name: "title", text: "Holidays")
/// try form.append(name: "image", fileName: "beach.jpg", source: "/tmp/1.jpg", length: 48_213)
/// let (type, length) = (form.mediaType, form.length)
/// for segment in form.segments {
///     switch segment {
///     case .bytes(let bytes): try await send(bytes)
///     case .source(let path, _): try await sendFile(path)
///     }
/// }
/// ```
///
/// `Source` is the caller's type of a content source, such as a path, an open file or a stream;
/// `Never` if all content is in memory. The boundary has 128 random bits, so that no peer can make
/// content that contains it.
///
/// RFC 2046, section 5.1; RFC 7578.
public struct MultipartSerializer<Source> {
    /// The kind of the content.
    public let kind: MultipartKind
    /// The delimiter between the parts.
    public let boundary: MultipartBoundary
    /// The segments up to the last source.
    private var written: [MultipartSegment<Source>] = []
    /// The bytes after those segments.
    private var pending: [UInt8] = []
    private var isEmpty = true
    /// The length of `written` and `pending` in bytes; `nil` once the length of a part is unknown.
    private var writtenLength: Int64? = 0

    /// Creates content without parts.
    /// - Parameters:
    ///   - kind: the kind of the content.
    ///   - boundary: random by default. A caller that passes another boundary must ensure that no
    ///     content contains it.
    public init(_ kind: MultipartKind = .formData, boundary: MultipartBoundary = .random()) {
        self.kind = kind
        self.boundary = boundary
    }

    /// The media type, which names the boundary: the value of Content-Type.
    public var mediaType: MediaType {
        let parameter = FieldParameter(name: "boundary", value: boundary.text)
        return MediaType("multipart", kind.subtype, parameters: [parameter]) ?? .octetStream
    }

    /// The length of all segments in bytes; `nil` if the length of a part is unknown.
    public var length: Int64? {
        writtenLength.map { $0 + Int64(closingDelimiter.count) }
    }

    /// The content, complete with its closing delimiter.
    public var segments: [MultipartSegment<Source>] {
        written + [.bytes(pending + closingDelimiter)]
    }

    /// The line after the last part. RFC 2046 requires a part; like browsers, an empty form
    /// consists of this line only.
    private var closingDelimiter: [UInt8] {
        Array("\(isEmpty ? "" : "\r\n")--\(boundary.text)--\r\n".utf8)
    }

    // MARK: Parts of any kind

    /// Adds a part with these fields and bytes.
    /// - Throws: `HTTPMessageError` for a field that must not be sent; nothing is added then.
    public mutating func append(
        _ fields: HTTPFields, bytes: [UInt8]
    ) throws(HTTPMessageError) {
        try appendHead(fields)
        pending += bytes
        count(Int64(bytes.count))
    }

    /// Adds a part with these fields, whose content the caller streams.
    /// - Parameters:
    ///   - fields: the head of the part.
    ///   - source: the placeholder for the content among the segments.
    ///   - length: the length of the content in bytes; nil if unknown. A negative length traps.
    /// - Throws: `HTTPMessageError` for a field that must not be sent; nothing is added then.
    public mutating func append(
        _ fields: HTTPFields, source: Source, length: Int64?
    ) throws(HTTPMessageError) {
        precondition(length ?? 0 >= 0, "a length is not negative")
        try appendHead(fields)
        written.append(.bytes(pending))
        written.append(.source(source, length: length))
        pending = []
        count(length)
    }

    private mutating func appendHead(_ fields: HTTPFields) throws(HTTPMessageError) {
        var head = ByteBuffer(capacity: 256)
        head.append(isEmpty ? "--" : "\r\n--")
        head.append(boundary.text)
        head.append(literal: "\r\n")
        for field in fields { try head.append(field: field.name.text, field.value) }
        head.append(literal: "\r\n")
        let before = pending.count
        unsafe head.bytes.withUnsafeBufferPointer { unsafe pending.append(contentsOf: $0) }
        count(Int64(pending.count - before))
        isEmpty = false
    }

    private mutating func count(_ length: Int64?) {
        guard let writtenLength, let length else {
            writtenLength = nil
            return
        }
        let (sum, overflow) = writtenLength.addingReportingOverflow(length)
        precondition(!overflow, "content of more than Int64.max bytes")
        self.writtenLength = sum
    }
}

extension MultipartSerializer: Sendable where Source: Sendable {}

// MARK: Parts of forms

extension MultipartSerializer {
    /// Adds a field of a form.
    ///
    /// As in browsers, `"`, CR and LF in names become `%22`, `%0D` and `%0A`, so that no name can
    /// end its field. Other control characters except TAB are percent-encoded, too.
    /// - Throws: the errors of ``append(_:bytes:)``, but never because of a name or a media type.
    public mutating func append(name: String, text: String) throws(HTTPMessageError) {
        try append(formFields(name, nil, nil), bytes: Array(text.utf8))
    }

    /// Adds a field or a file of a form, from bytes.
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - fileName: the name of the file, without a path; `nil` for a field that is not a file.
    ///   - mediaType: the media type. By default a field has none, which means plain text, and a
    ///     file has `application/octet-stream`.
    ///   - bytes: the content.
    /// - Throws: the errors of ``append(_:bytes:)``, but never because of a name or a media type.
    public mutating func append(
        name: String, fileName: String? = nil, mediaType: MediaType? = nil, bytes: [UInt8]
    ) throws(HTTPMessageError) {
        try append(formFields(name, fileName, mediaType), bytes: bytes)
    }

    /// Adds a file of a form, which the caller streams.
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - fileName: the name of the file, without a path.
    ///   - mediaType: the media type of the file; `application/octet-stream` by default.
    ///   - source: the placeholder for the content among the segments.
    ///   - length: the length of the content in bytes; nil if unknown. A negative length traps.
    /// - Throws: the errors of ``append(_:bytes:)``, but never because of a name or a media type.
    public mutating func append(
        name: String, fileName: String, mediaType: MediaType? = nil, source: Source,
        length: Int64?
    ) throws(HTTPMessageError) {
        try append(formFields(name, fileName, mediaType), source: source, length: length)
    }

    private func formFields(
        _ name: String, _ fileName: String?, _ mediaType: MediaType?
    ) -> HTTPFields {
        let disposition = ContentDisposition.formData(name: name, fileName: fileName)
        var fields: HTTPFields = [.contentDisposition: disposition.description]
        let type = mediaType ?? (fileName == nil ? nil : MediaType.octetStream)
        if let type { fields[.contentType] = type.description }
        return fields
    }
}

extension MultipartSerializer where Source == Never {
    /// The whole content in memory.
    public var bytes: [UInt8] { pending + closingDelimiter }
}

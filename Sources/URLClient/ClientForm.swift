public import HTTPCodecs
internal import HTTPParser

/// A form that is sent as `multipart/form-data`: texts in memory, and files that are read while
/// they are sent.
///
/// ```swift
/// var form = ClientForm()
/// try form.append("title", "Holidays")
/// try form.append("image", file: "beach.jpg")
/// request.body = .multipart(form)
/// ```
///
/// The length is known in advance, so the form is not sent chunked. It can be sent again after a
/// redirect or a challenge. RFC 7578.
public struct ClientForm: Sendable {
    var parts = MultipartSerializer<String>(.formData)

    /// Creates a form without fields.
    public init() {}

    /// Adds a field.
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - text: the value of the field.
    /// - Throws: `ClientError` with `badRequest` for a name that a form cannot contain.
    public mutating func append(_ name: String, _ text: String) throws(ClientError) {
        try add { parts throws(HTTPMessageError) in try parts.append(name: name, text: text) }
    }

    /// Adds a file whose content is in memory.
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - fileName: the name of the file, without a path.
    ///   - mediaType: the media type; nil to choose it by the file name's extension.
    ///   - bytes: the content of the file.
    /// - Throws: `ClientError` with `badRequest` for a name that a form cannot contain.
    public mutating func append(
        _ name: String, fileName: String, mediaType: MediaType? = nil, bytes: [UInt8]
    ) throws(ClientError) {
        let mediaType = mediaType ?? Self.mediaType(of: fileName)
        try add { parts throws(HTTPMessageError) in
            try parts.append(name: name, fileName: fileName, mediaType: mediaType, bytes: bytes)
        }
    }

    /// Adds a file, which is read while the form is sent. The task fails if the file's length has
    /// changed by then.
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - path: the path of the file.
    ///   - fileName: the name that is sent; nil for the last part of the path.
    ///   - mediaType: the media type; nil to choose it by the file name's extension.
    /// - Throws: `ClientError` with `cannotOpenFile`, or `badRequest` for a name that a form cannot
    ///   contain.
    public mutating func append(
        _ name: String, file path: String, fileName: String? = nil, mediaType: MediaType? = nil
    ) throws(ClientError) {
        let length = try UploadSource.length(ofFile: path)
        let fileName = fileName ?? path.split(separator: "/").last.map(String.init) ?? path
        let mediaType = mediaType ?? Self.mediaType(of: fileName)
        try add { parts throws(HTTPMessageError) in
            try parts.append(
                name: name, fileName: fileName, mediaType: mediaType, source: path, length: length)
        }
    }

    private mutating func add(
        _ body: (inout MultipartSerializer<String>) throws(HTTPMessageError) -> Void
    ) throws(ClientError) {
        do throws(HTTPMessageError) {
            try body(&parts)
        } catch {
            throw ClientError(.badRequest, "a part of a form: \(error)")
        }
    }

    private static func mediaType(of fileName: String) -> MediaType? {
        MediaType(MediaTypeTable.standard.contentType(ofFile: fileName))
    }
}

extension ClientBody {
    /// The pairs of a form as `application/x-www-form-urlencoded`.
    public static func urlEncoded(_ form: FormURLEncoded) -> ClientBody {
        .bytes(form.encoded, mediaType: MediaType.urlEncodedForm.essence)
    }

    /// A form as `multipart/form-data`.
    public static func multipart(_ form: ClientForm) -> ClientBody {
        let segments = form.parts.segments
        return ClientBody(
            .stream(length: form.parts.length, isReplayable: true) {
                FormReader(segments).next
            }, mediaType: form.parts.mediaType.description)
    }

    /// A value as JSON.
    /// - Parameters:
    ///   - value: the value to send.
    ///   - mediaType: `application/json` or a type with `+json`.
    ///   - json: the settings of the JSON encoder.
    /// - Throws: `EncodingError` for a value that JSON cannot represent.
    public static func json(
        _ value: some Encodable, mediaType: MediaType = .json, using json: JSONBody = JSONBody()
    ) throws -> ClientBody {
        .bytes(try json.encode(value), mediaType: mediaType.description)
    }
}

/// Returns the content of a form piece by piece. Calls must not overlap.
private final class FormReader: @unchecked Sendable {
    private var segments: ArraySlice<MultipartSegment<String>>
    private var file: ClientBody.Pull?

    init(_ segments: [MultipartSegment<String>]) {
        self.segments = segments[...]
    }

    func next() async throws -> [UInt8]? {
        while true {
            if let file {
                if let piece = try await file() { return piece }
                self.file = nil
            }
            switch segments.popFirst() {
            case nil: return nil
            case .bytes(let bytes): if !bytes.isEmpty { return bytes }
            case .source(let path, let length):
                // A longer file would be cut off at the announced length.
                guard try UploadSource.length(ofFile: path) == length else {
                    throw ClientError(.bodyFailed, "\(path) has changed its length")
                }
                file = try await ClientBody.file(path, count: length).pull()
            }
        }
    }
}

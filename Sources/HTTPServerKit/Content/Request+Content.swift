public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

extension Request {
    /// The media type of the content; `nil` if Content-Type is missing, repeated or malformed.
    public var mediaType: MediaType? {
        let values = fields.values(of: .contentType)
        return values.count == 1 ? MediaType(values[0]) : nil
    }

    /// Checks that the content is JSON, as `JSONBody.check` does.
    func requireJSON(_ json: JSONBody) throws(CodecError) {
        guard !hasUsualJSONType else { return }
        try json.check(mediaType: mediaType)
    }

    /// Whether the only Content-Type is one of those that nearly all clients send with JSON.
    /// Compares bytes: parsing a media type takes longer than answering a short request.
    private var hasUsualJSONType: Bool {
        let table = unsafe storage.head.table
        guard let index = unsafe table.index(of: .contentType),
            unsafe table.index(of: .contentType, from: index + 1) == nil
        else { return false }
        let value = unsafe table.value(index)
        return unsafe Self.equals(value, "application/json")
            || Self.equals(value, "application/json; charset=utf-8")
            || Self.equals(value, "application/json;charset=utf-8")
    }

    private static func equals(_ value: UnsafeRawBufferPointer, _ type: StaticString) -> Bool {
        type.withUTF8Buffer { unsafe equalsIgnoringCase(value, $0) }
    }

    /// The content as text.
    ///
    /// The `charset` may be UTF-8, US-ASCII or ISO-8859-1; without one it is UTF-8. A byte order
    /// mark of UTF-8 is left out.
    /// - Parameter byteLimit: the most bytes to take, as in `RequestBody.collect`.
    /// - Throws: `CodecError` with `.unsupportedCharset` (415) before anything is read, or with
    ///   `.invalidText` (400), and the errors of `RequestBody`.
    public func text(upTo byteLimit: Int = 2 << 20) async throws -> String {
        let charset = try TextCharset(named: mediaType?["charset"])
        return try charset.decode(try await body.collect(upTo: byteLimit))
    }

    /// The content, decoded from JSON.
    ///
    /// Content of more than 8 KiB is decoded outside of the event loop: the initializers of `Value`
    /// run on another thread then, while the caller waits.
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - json: the limits and options of decoding.
    /// - Throws: `CodecError` with `.unsupportedMediaType` or `.unsupportedCharset` (415) before
    ///   anything is read; with `.invalidJSON` (400), `.unexpectedJSON` (422) and other errors of
    ///   `JSONBody`; and the errors of `RequestBody`.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, using json: JSONBody = JSONBody()
    ) async throws -> Value {
        try requireJSON(json)
        let content = try await body.collect(upTo: json.byteLimit)
        return try await json.decode(type, from: content, by: BlockingPool.lend)
    }

    /// The content, decoded from JSON with the defaults of `JSONBody` apart from the limit.
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - byteLimit: the most bytes to take.
    /// - Throws: the errors of `json(_:using:)`.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, upTo byteLimit: Int
    ) async throws -> Value {
        try await json(type, using: JSONBody(byteLimit: byteLimit))
    }

    /// The values of content that is newline-delimited JSON, as they arrive. Lines of more than 8
    /// KiB are decoded outside of the event loop, as in `json(_:using:)`.
    /// - Throws: `CodecError` with `.unsupportedMediaType` or `.unsupportedCharset` (415).
    public func jsonLines<Value: Decodable>(
        _ type: Value.Type = Value.self, using lines: JSONLines = JSONLines()
    ) throws(CodecError) -> JSONLineSequence<RequestBody, Value> {
        try lines.check(mediaType: mediaType)
        var values = lines.decode(type, from: body)
        values.lender = BlockingPool.lend
        return values
    }

    /// The fields and files of a form, `application/x-www-form-urlencoded` or
    /// `multipart/form-data`.
    ///
    /// Files are written to a new temporary folder, outside of the event loop. They are removed
    /// when the form and its files are released.
    /// - Parameters:
    ///   - limits: the limits of the form.
    ///   - parent: the path of the folder in which the temporary folder is created, preferably on
    ///     the file system to which the files will be moved; `nil` for the system's temporary
    ///     folder.
    /// - Throws: `CodecError` with `.unsupportedMediaType`, `.unsupportedCharset` (415) or
    ///   `.invalidBoundary` (400) before anything is read, with the errors of the form parsers, and
    ///   with `.fileNotWritable` (507) when the disk is full; and the errors of `RequestBody`.
    public func form(
        limits: UploadedForm.Limits = .standard, filesBelow parent: String? = nil
    ) async throws -> UploadedForm {
        switch mediaType?.essence {
        case "application/x-www-form-urlencoded":
            let options = limits.urlEncoded
            return UploadedForm(fields: try await urlEncodedForm(options: options))
        case "multipart/form-data":
            guard let mediaType else { fallthrough }
            try body.refuseAnnounced(above: limits.multipart.totalBytes)
            return try await FormReader.read(
                body, mediaType, limits: limits, below: parent)
        default:
            throw CodecError(.unsupportedMediaType, "a form is wanted")
        }
    }

    /// The parts of multipart content as they arrive, each with its content as a stream.
    ///
    /// `form()` is simpler if files may be written to the disk.
    /// - Throws: `CodecError` with `.unsupportedMediaType` (415) or `.invalidBoundary` (400), and
    ///   `HTTPError` with 413 when more than `limits.totalBytes` is announced.
    public func multipart(
        limits: MultipartLimits = .standard, leniency: MultipartLeniency = []
    ) throws -> MultipartParts {
        guard let mediaType else {
            throw CodecError(.unsupportedMediaType, "multipart content is wanted")
        }
        let parts = try MultipartParts(
            of: mediaType, in: body, limits: limits, leniency: leniency)
        try body.refuseAnnounced(above: limits.totalBytes)
        return parts
    }

    /// The pairs of a form of type `application/x-www-form-urlencoded`.
    /// - Throws: `CodecError` with `.unsupportedMediaType` or `.unsupportedCharset` (415) before
    ///   anything is read, and the errors of `FormURLEncodedParser` and `RequestBody`.
    public func urlEncodedForm(
        options: FormURLEncoded.Options = .standard
    ) async throws -> FormURLEncoded {
        guard let mediaType, mediaType.essence == MediaType.urlEncodedForm.essence else {
            throw CodecError(.unsupportedMediaType, "a form is wanted")
        }
        // The URL standard allows only UTF-8 in forms.
        guard mediaType["charset"].map({ $0.isASCII("utf-8") }) ?? true else {
            throw CodecError(.unsupportedCharset, "a form in UTF-8 is wanted")
        }
        let body = body
        try body.refuseAnnounced(above: Int64(options.byteLimit))
        var parser = FormURLEncodedParser(options: options)
        for try await piece in body { try parser.append(piece.span) }
        return try parser.finish()
    }
}

extension BlockingPool {
    /// Runs work on a thread of the pool `computing`, unless the task is cancelled before it
    /// starts.
    static let lend: HandedWork.Lender = { work in
        try await computing.runUnlessCancelled { work.run() }
    }
}

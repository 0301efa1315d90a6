public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

extension Request {
    /// The media type of the content; `nil` without Content-Type, with several, or with one that is
    /// malformed.
    public var mediaType: MediaType? {
        let values = fields.values(of: .contentType)
        return values.count == 1 ? MediaType(values[0]) : nil
    }

    /// Checks that the media type is one of JSON, as `JSONBody.check` does.
    func requireJSON(_ json: JSONBody) throws(CodecError) {
        guard !hasUsualJSONType else { return }
        try json.check(mediaType: mediaType)
    }

    /// Whether the only Content-Type is one that nearly all clients send with JSON, which is compared
    /// as it stands: parsing it takes longer than answering a short request.
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
    /// mark is left out.
    /// - Parameter byteLimit: the most bytes to take, as in `RequestBody.collect`.
    /// - Throws: `CodecError` with `.unsupportedCharset` (415) before anything is read, or with
    ///   `.invalidText` (400), and what `RequestBody` throws.
    public func text(upTo byteLimit: Int = 2 << 20) async throws -> String {
        let charset = try TextCharset(named: mediaType?["charset"])
        return try charset.decode(try await body.collect(upTo: byteLimit))
    }

    /// The content as a value out of JSON.
    ///
    /// A value of more than 8 KiB is decoded outside of the event loop: the initializers of `Value`
    /// run on another thread then, while the caller waits.
    /// - Parameters:
    ///   - type: what is read.
    ///   - json: its limits, and how it is read.
    /// - Throws: `CodecError` with `.unsupportedMediaType` or `.unsupportedCharset` (415) before
    ///   anything is read, with `.invalidJSON` (400) or `.unexpectedJSON` (422) and others as
    ///   `JSONBody` throws them, and what `RequestBody` throws.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, using json: JSONBody = JSONBody()
    ) async throws -> Value {
        try requireJSON(json)
        let content = try await body.collect(upTo: json.byteLimit)
        return try await json.decode(type, from: content, by: BlockingPool.lend)
    }

    /// The content as a value out of JSON, with the defaults of `JSONBody` beside the limit.
    /// - Parameters:
    ///   - type: what is read.
    ///   - byteLimit: the most bytes to take.
    /// - Throws: what `json(_:using:)` throws.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, upTo byteLimit: Int
    ) async throws -> Value {
        try await json(type, using: JSONBody(byteLimit: byteLimit))
    }

    /// The values of content that is newline-delimited JSON, as they come in. Lines of more than
    /// 8 KiB are decoded outside of the event loop, as `json` does it.
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
    /// Files are written to a folder of their own, outside of the event loop. They are removed
    /// when the form and its files go.
    /// - Parameters:
    ///   - limits: how much is taken.
    ///   - parent: the path of the folder in which that folder is made, preferably on the
    ///     file system to which the files will be moved; `nil` for the system's temporary folder.
    /// - Throws: `CodecError` with `.unsupportedMediaType`, `.unsupportedCharset` (415) or
    ///   `.invalidBoundary` (400) before anything is read, and with what the parsers of forms
    ///   throw; `.fileNotWritable` (507) when there is no room left; and what `RequestBody` throws.
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

    /// The parts of multipart content as they come in, each with its content as a stream.
    ///
    /// `form()` is the simpler way where files may go to the disk.
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

    /// The pairs of a form that is `application/x-www-form-urlencoded`, and no other.
    /// - Throws: `CodecError` with `.unsupportedMediaType` or `.unsupportedCharset` (415) before
    ///   anything is read, and as `FormURLEncodedParser` throws it, and what `RequestBody` throws.
    public func urlEncodedForm(
        options: FormURLEncoded.Options = .standard
    ) async throws -> FormURLEncoded {
        guard let mediaType, mediaType.essence == MediaType.urlEncodedForm.essence else {
            throw CodecError(.unsupportedMediaType, "a form is wanted")
        }
        // The URL standard writes forms in UTF-8 alone.
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
    /// Runs work on a thread of the pool `computing`, unless the task is cancelled before.
    static let lend: HandedWork.Lender = { work in
        try await computing.runUnlessCancelled { work.run() }
    }
}

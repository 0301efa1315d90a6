public import HTTPCodecs
public import HTTPParser
public import HTTPServerCore

extension Response {
    /// A response with text, sent as UTF-8.
    public static func text(_ text: String, status: HTTPStatus = .ok) -> Response {
        Response(status, body: .text(text))
    }

    /// A response with a page, sent as UTF-8.
    /// - Parameters:
    ///   - markup: the page. Escape untrusted text in it; a `Template` does that.
    ///   - status: the status.
    public static func html(_ markup: String, status: HTTPStatus = .ok) -> Response {
        Response(status, body: .text(markup, mediaType: MediaType.html.description))
    }

    /// A response with a page from a template whose placeholders are filled in.
    public static func template(
        _ template: Template, _ values: [String: Template.Value], status: HTTPStatus = .ok
    ) -> Response {
        html(template.filled(values), status: status)
    }

    /// A response with a value as JSON.
    /// - Parameters:
    ///   - value: the value to send.
    ///   - status: the status.
    ///   - mediaType: `application/json` or a type with `+json`.
    ///   - json: the options of encoding.
    /// - Throws: `EncodingError` for a value that JSON cannot represent.
    public static func json(
        _ value: some Encodable, status: HTTPStatus = .ok, mediaType: MediaType = .json,
        using json: JSONBody = JSONBody()
    ) throws -> Response {
        Response(status, body: .bytes(try json.encode(value), mediaType: mediaType.description))
    }

    /// A response with a value as JSON. A `JSONWritable` value writes itself, which is faster than
    /// `Encodable`.
    /// - Throws: `EncodingError` for a value that JSON cannot represent.
    public static func json(
        _ value: some JSONWritable, status: HTTPStatus = .ok, mediaType: MediaType = .json,
        using json: JSONBody = JSONBody()
    ) throws -> Response {
        Response(status, body: .bytes(try json.encode(value), mediaType: mediaType.description))
    }

    /// A response whose content is generated while it is sent; see
    /// `ResponseBody.stream(mediaType:length:_:)`.
    public static func stream(
        status: HTTPStatus = .ok, mediaType: MediaType = .plainText, length: Int64? = nil,
        _ producer: @escaping ResponseBody.Producer
    ) -> Response {
        Response(
            status,
            body: .stream(mediaType: mediaType.description, length: length, producer))
    }

    /// A response with values as newline-delimited JSON, each sent as soon as `values` returns it.
    ///
    /// When `values` throws, the connection is closed early, which shows the client that the
    /// content is incomplete.
    public static func jsonLines<Values: AsyncSequence & Sendable>(
        _ values: Values, status: HTTPStatus = .ok, using lines: JSONLines = JSONLines()
    ) -> Response where Values.Element: Encodable {
        let body = ResponseBody.stream(mediaType: JSONLines.mediaType) { writer in
            for try await value in values {
                var line: [UInt8] = []
                try lines.encode(value, into: &line)
                try await writer.write(line)
            }
        }
        return Response(status, body: body)
    }
}

extension ResponseWriter {
    /// Sends a value as one line of newline-delimited JSON.
    public func write(
        line value: some Encodable, using lines: JSONLines = JSONLines()
    ) async throws {
        var line: [UInt8] = []
        try lines.encode(value, into: &line)
        try await write(line)
    }
}

public import HTTPCodecs
public import HTTPParser

/// A request to an application under test.
///
/// ```swift
/// let plain = TestRequest.get("/users/1", fields: [.accept: "application/json"])
/// let note = TestRequest.post("/notes", .text("Buy milk"))
/// ```
///
/// `Host: localhost` is added if `fields` have no Host; Content-Length and Content-Type are set
/// from the content.
public struct TestRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The target of the request line: a path with its query, percent-encoded (RFC 9112 section
    /// 3.2).
    public var target: String
    /// The fields, in the order in which they are sent.
    public var fields: HTTPFields
    /// The content; `nil` for a request without content.
    public var content: TestContent?

    /// Creates a request.
    /// - Parameters:
    ///   - method: the method.
    ///   - target: a path with its query, percent-encoded.
    ///   - fields: the fields.
    ///   - content: the content; `nil` for none.
    public init(
        _ method: HTTPMethod, _ target: String, _ content: TestContent? = nil,
        fields: HTTPFields = HTTPFields()
    ) {
        self.method = method
        self.target = target
        self.content = content
        self.fields = fields
    }

    /// A GET request.
    public static func get(_ target: String, fields: HTTPFields = HTTPFields()) -> Self {
        Self(.get, target, fields: fields)
    }

    /// A HEAD request.
    public static func head(_ target: String, fields: HTTPFields = HTTPFields()) -> Self {
        Self(.head, target, fields: fields)
    }

    /// A DELETE request.
    public static func delete(_ target: String, fields: HTTPFields = HTTPFields()) -> Self {
        Self(.delete, target, fields: fields)
    }

    /// A POST request.
    public static func post(
        _ target: String, _ content: TestContent? = nil, fields: HTTPFields = HTTPFields()
    ) -> Self {
        Self(.post, target, content, fields: fields)
    }

    /// A PUT request.
    public static func put(
        _ target: String, _ content: TestContent? = nil, fields: HTTPFields = HTTPFields()
    ) -> Self {
        Self(.put, target, content, fields: fields)
    }

    /// A PATCH request.
    public static func patch(
        _ target: String, _ content: TestContent? = nil, fields: HTTPFields = HTTPFields()
    ) -> Self {
        Self(.patch, target, content, fields: fields)
    }

    /// The request with credentials for Basic (RFC 7617), which replace its Authorization.
    ///
    /// ```swift
    /// let request = TestRequest.get("/notes").loggedIn(as: "ann", password: "correct horse")
    /// ```
    /// - Parameters:
    ///   - user: the name; a colon in it traps.
    ///   - password: the password.
    public func loggedIn(as user: String, password: String) -> Self {
        precondition(!user.utf8.contains(UInt8(ascii: ":")), "a user name has no colon")
        var request = self
        let credentials = Base64.text(of: Array("\(user):\(password)".utf8))
        request.fields[.authorization] = "Basic \(credentials)"
        return request
    }

    /// The request as sent on the wire.
    /// - Throws: `HTTPMessageError` for an invalid request.
    func bytes() throws(HTTPMessageError) -> [UInt8] {
        var fields = fields
        if !fields.contains(.host) { fields[.host] = "localhost" }
        if let type = content?.mediaType, !fields.contains(.contentType) {
            fields[.contentType] = type
        }
        let content = content?.bytes
        var serializer = RequestSerializer()
        var buffer = ByteBuffer()
        try serializer.head(
            method, target: target, fields: fields,
            framing: content.map { .length(Int64($0.count)) } ?? .none, into: &buffer)
        if let content { try serializer.content(content.span, into: &buffer) }
        try serializer.end(into: &buffer)
        var bytes: [UInt8] = []
        bytes.append(copying: buffer.bytes)
        return bytes
    }
}

/// The content of a request to an application under test.
public struct TestContent: Sendable {
    /// The bytes.
    public var bytes: [UInt8]
    /// The value of Content-Type; `nil` for none.
    public var mediaType: String?

    /// Bytes.
    public static func bytes(_ bytes: [UInt8], mediaType: String? = nil) -> Self {
        Self(bytes: bytes, mediaType: mediaType)
    }

    /// A text in UTF-8.
    public static func text(
        _ text: String, mediaType: String = "text/plain; charset=utf-8"
    ) -> Self {
        Self(bytes: Array(text.utf8), mediaType: mediaType)
    }

    /// A value as JSON.
    /// - Throws: the error that encoding the value throws.
    public static func json(_ value: some Encodable) throws -> Self {
        Self(bytes: try JSONBody().encode(value), mediaType: "application/json")
    }

    /// The pairs of a form, `application/x-www-form-urlencoded`.
    public static func form(_ pairs: FormURLEncoded) -> Self {
        Self(bytes: pairs.encoded, mediaType: "application/x-www-form-urlencoded")
    }
}

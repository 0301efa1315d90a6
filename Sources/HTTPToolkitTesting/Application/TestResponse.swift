internal import HTTPCodecs
public import HTTPParser

/// The response of an application under test, as its client sees it: without transfer coding, but
/// with content coding.
public struct TestResponse: Sendable {
    /// A response before the final one (RFC 9110 section 15.2).
    public struct Interim: Sendable {
        /// The status, 1xx.
        public let status: HTTPStatus
        /// The fields.
        public let fields: HTTPFields
    }

    /// The status.
    public internal(set) var status: HTTPStatus = .internalServerError
    /// The fields, in order.
    public internal(set) var fields = HTTPFields()
    /// All of the content.
    public internal(set) var content: [UInt8] = []
    /// The fields after the content (RFC 9110 section 6.5).
    public internal(set) var trailers = HTTPFields()
    /// The responses before this one, such as 103 Early Hints.
    public internal(set) var interim: [Interim] = []

    /// The content as text; bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: content, as: UTF8.self) }

    /// The content as a value of JSON.
    /// - Throws: `CodecError` for another media type, and for content that cannot be decoded.
    public func json<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        let reader = JSONBody()
        try reader.check(mediaType: fields[.contentType].flatMap { MediaType($0) })
        return try reader.decode(type, from: content)
    }
}

/// Reads the response to one request from bytes as they arrive.
struct ResponseCollector: ~Copyable {
    private var parser = ResponseParser()
    private(set) var response = TestResponse()
    /// Whether the end of the response was read.
    private(set) var isWhole = false

    init(to method: HTTPMethod) { parser.expect(method) }

    mutating func append(_ bytes: Span<UInt8>) throws(HTTPParseError) {
        guard !isWhole else { return }
        parser.append(bytes)
        isWhole = try Self.takeEvents(of: &parser, into: &response)
    }

    /// Ends the stream, which also ends content without a length.
    mutating func finish() throws(HTTPParseError) {
        guard !isWhole else { return }
        try parser.finish()
        isWhole = try Self.takeEvents(of: &parser, into: &response)
    }

    /// - Returns: whether the response has ended. It is static, so that an event borrows only the
    ///   parser.
    private static func takeEvents(
        of parser: inout ResponseParser, into response: inout TestResponse
    ) throws(HTTPParseError) -> Bool {
        while let event = try parser.next() {
            switch event {
            case .interim(let head):
                response.interim.append(
                    TestResponse.Interim(status: head.status, fields: HTTPFields(head.fields)))
            case .head(let head):
                response.status = head.status
                response.fields = HTTPFields(head.fields)
            case .content(let piece): response.content.append(copying: piece)
            case .end(let trailers):
                response.trailers = trailers
                return true
            }
        }
        return false
    }
}

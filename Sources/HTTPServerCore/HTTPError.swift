internal import HTTPCodecs
public import HTTPParser

/// An error that becomes a response: thrown by handlers, shown to the client.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// The status to answer with. It should be 4xx or 5xx, which nothing checks but that 1xx is
    /// answered by 500.
    public var status: HTTPStatus
    /// A short text that the client sees; it must not contain secrets.
    public var reason: String
    /// Fields of the response, such as Allow.
    public var fields: HTTPFields

    /// Creates an error.
    public init(_ status: HTTPStatus, _ reason: String = "", fields: HTTPFields = HTTPFields()) {
        self.status = status
        self.reason = reason
        self.fields = fields
    }

    /// Status and reason.
    public var description: String {
        reason.isEmpty ? status.description : "\(status): \(reason)"
    }
}

extension HTTPError {
    /// The error for content that cannot be decoded. An unsupported coding gets the list of
    /// supported ones (RFC 9110 section 15.5.16).
    init(_ error: CodecError) {
        self.init(error.suggestedStatus, error.description)
        if error.kind == .unsupportedContentCoding {
            fields = [.acceptEncoding: ContentCoding.acceptedByDecoders]
        }
    }
}

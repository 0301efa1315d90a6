public import HTTPParser

/// An error that becomes a response: thrown by handlers, shown to the client.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// The status to answer with. It should be 4xx or 5xx. The server does not check this, but it
    /// replaces 1xx by 500.
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

/// An error that defines the response to itself when a handler throws it. Errors without a response
/// are answered with 500, and the cause is only logged.
public protocol HTTPErrorConvertible: Error {
    /// The error that answers the request.
    var httpError: HTTPError { get }
}

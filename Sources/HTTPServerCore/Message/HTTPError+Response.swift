internal import HTTPParser
internal import Logging

extension HTTPError {
    /// The response to the error: a line of text, until an `ErrorRenderer` replaces it.
    public var response: Response {
        var response = Response(status, fields: fields, body: .text(description + "\n"))
        response.problem = Problem(self)
        return response
    }

    /// The response to an error of a handler; `nil` for an internal error.
    package init?(thrown error: any Error) {
        switch error {
        case let error as HTTPError: self = error
        case RequestBodyError.malformed(let error):
            self.init(error.suggestedStatus, error.description)
        case is CancellationError, RequestBodyError.connectionLost:
            self.init(.requestTimeout)
        case let error as any HTTPErrorConvertible: self = error.httpError
        default: return nil
        }
    }
}

/// The error that a response reports, kept with the response until a handler replaces the body.
package final class Problem: Sendable {
    package let error: HTTPError

    package init(_ error: HTTPError) { self.error = error }
}

extension Request {
    /// The response to an error that a handler has thrown. An error without a status is logged, and
    /// answered with 500.
    package func response(for error: any Error) -> Response {
        if let error = HTTPError(thrown: error) { return error.response }
        logger.error("a handler failed", metadata: ["error": "\(error)"])
        return HTTPError(.internalServerError).response
    }
}

public import HTTPParser

/// An incomplete or malformed response.
public enum TestApplicationError: Error, Sendable {
    /// The server closed the connection before the end of the response: its content failed, or was
    /// longer or shorter than announced. The value is the part that had arrived.
    case incomplete(TestResponse)
    /// The response is ill-formed.
    case malformed(HTTPParseError)
}

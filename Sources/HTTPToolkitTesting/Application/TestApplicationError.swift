public import HTTPParser

/// A response that did not come in whole.
public enum TestApplicationError: Error, Sendable {
    /// The server closed the connection before the end of the response: its content failed, or was
    /// longer or shorter than announced. This is the part that had come.
    case incomplete(TestResponse)
    /// The response is ill-formed.
    case malformed(HTTPParseError)
}

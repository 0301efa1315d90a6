public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

extension CodecError: HTTPErrorConvertible {
    /// What a client is told about content that cannot be decoded. A coding that is not taken
    /// comes with the list of those that are (RFC 9110 section 15.5.16).
    public var httpError: HTTPError {
        var error = HTTPError(suggestedStatus, description)
        if kind == .unsupportedContentCoding {
            error.fields = [.acceptEncoding: ContentCoding.acceptedByDecoders]
        }
        return error
    }
}

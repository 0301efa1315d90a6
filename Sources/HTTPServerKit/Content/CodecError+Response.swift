public import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

extension CodecError: HTTPErrorConvertible {
    /// The answer to content that cannot be decoded. For an unsupported coding, it lists the
    /// supported ones (RFC 9110 section 15.5.16).
    public var httpError: HTTPError {
        var error = HTTPError(suggestedStatus, description)
        if kind == .unsupportedContentCoding {
            error.fields = [.acceptEncoding: ContentCoding.acceptedByDecoders]
        }
        return error
    }
}

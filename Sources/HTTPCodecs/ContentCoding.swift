public import HTTPParser

/// A coding that compresses content for transfer.
///
/// ```swift
/// let coding = try ContentCoding(applied: request.fields[.contentEncoding])
/// var decoder = try ContentDecoder(coding, limits: ContentDecodingLimits(outputBytes: 2 << 20))
/// ```
///
/// RFC 9110, section 8.4.1.
@nonexhaustive
public enum ContentCoding: String, Sendable, CaseIterable {
    /// The gzip format (RFC 1952), also known as `x-gzip`.
    case gzip
    /// The zlib format (RFC 1950), or DEFLATE without a wrapper (RFC 1951), which some senders use
    /// by mistake.
    case deflate
    /// No coding.
    case identity

    /// Finds a coding by its token, in any case; nil for an unknown token.
    public init?(token: String) {
        switch token.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "identity": self = .identity
        default: return nil
        }
    }

    /// Reads the value of `Content-Encoding`, in which several field lines are joined with commas.
    ///
    /// Only one layer is accepted, because each further layer could multiply the expansion. A
    /// missing or empty field means `.identity`; `identity` in a list is ignored.
    /// - Throws: `.unsupportedContentCoding` for an unknown coding, more than one layer, or a value
    ///   that is not a list of tokens. Answer such a request with 415 and an `Accept-Encoding` of
    ///   ``acceptedByDecoders`` (RFC 9110, section 12.5.3).
    public init(applied fieldValue: String?) throws(CodecError) {
        self = .identity
        guard let fieldValue else { return }
        guard let tokens = FieldValues.tokens(fieldValue) else {
            throw CodecError(.unsupportedContentCoding, "malformed Content-Encoding")
        }
        for token in tokens {
            guard let coding = ContentCoding(token: token) else {
                throw CodecError(.unsupportedContentCoding, at: 0, token)
            }
            guard coding != .identity else { continue }
            guard self == .identity else {
                throw CodecError(.unsupportedContentCoding, "more than one content coding")
            }
            self = coding
        }
    }

    /// Reads the `Content-Encoding` fields of a message.
    ///
    /// The same as ``init(applied:)-(String?)`` on all their lines.
    public init(applied fields: HTTPFields) throws(CodecError) {
        guard fields.contains(.contentEncoding) else {
            self = .identity
            return
        }
        let lines = fields.values(of: .contentEncoding)
        try self.init(applied: lines.joined(separator: ","))
    }

    /// The value of `Accept-Encoding` for a recipient that decodes with this module.
    public static var acceptedByDecoders: String { "gzip, deflate" }
}

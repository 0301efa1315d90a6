public import HTTPParser

/// A way in which content is compressed for its journey.
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
    /// The zlib format (RFC 1950), or DEFLATE without any wrapper (RFC 1951), which some senders
    /// take for it.
    case deflate
    /// No coding.
    case identity

    /// Finds a coding by its token, in any case; nil if it is not known.
    public init?(token: String) {
        switch token.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "identity": self = .identity
        default: return nil
        }
    }

    /// Reads a `Content-Encoding` field, several lines joined with commas.
    ///
    /// One layer is taken: every further one could multiply what a few bytes expand to. A missing
    /// or empty field means `.identity`, and `identity` in a list means nothing.
    /// - Throws: `.unsupportedContentCoding` on an unknown coding, on more than one layer, and on a
    ///   value that is no list of tokens. The answer to a request is 415 with an `Accept-Encoding`
    ///   of ``acceptedByDecoders`` then (RFC 9110, section 12.5.3).
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

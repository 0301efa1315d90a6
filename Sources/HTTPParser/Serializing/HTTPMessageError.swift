/// An error in a message that the caller wants to write. Nothing was written when it is thrown.
public struct HTTPMessageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error in a message.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// A name that is not a token.
        case invalidFieldName
        /// A value with CR, LF, NUL or another control character, which could inject a field or a
        /// whole message.
        case invalidFieldValue
        /// Content-Length, Transfer-Encoding or Connection among the fields. The serialiser writes
        /// them from the framing, so that fields and framing agree.
        case framingField
        /// A target that is empty or has white space, control characters or a fragment.
        case invalidTarget
        /// A request without exactly one Host (RFC 9112 section 3.2).
        case missingHost
        /// More content than the announced length.
        case contentTooLong
        /// Less content than the announced length.
        case contentTooShort
        /// Trailers in a message whose framing is not chunked.
        case misplacedTrailers
    }

    /// The kind of the error.
    public let kind: Kind
    /// The name of the invalid field, or the invalid target; otherwise empty.
    public let subject: String

    /// Creates an error.
    public init(_ kind: Kind, _ subject: String = "") {
        self.kind = kind
        self.subject = subject
    }

    /// Kind and subject in one line.
    public var description: String {
        subject.isEmpty ? kind.rawValue : "\(kind.rawValue): \(subject)"
    }
}

/// The caller's message that must not go on the wire. Nothing was written when it is thrown.
public struct HTTPMessageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error in a message.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// A name that is not a token.
        case invalidFieldName
        /// A value with CR, LF, NUL or another control character: it would begin a field, or a
        /// message, of the peer's making.
        case invalidFieldValue
        /// Content-Length, Transfer-Encoding or Connection among the fields: the serialiser
        /// writes them from the framing, so that both cannot disagree.
        case framingField
        /// A target that is empty or has white space, control characters or a fragment.
        case invalidTarget
        /// A request without exactly one Host (RFC 9112 section 3.2).
        case missingHost
        /// More content than the announced length.
        case contentTooLong
        /// Less content than the announced length.
        case contentTooShort
        /// Trailers where the framing has no place for them.
        case misplacedTrailers
    }

    /// The kind of the error.
    public let kind: Kind
    /// The name of the field, or the target, that is at fault; empty for content.
    public let subject: String

    /// Creates an error.
    public init(_ kind: Kind, _ subject: String = "") {
        self.kind = kind
        self.subject = subject
    }

    /// Kind and field in one line.
    public var description: String {
        subject.isEmpty ? kind.rawValue : "\(kind.rawValue): \(subject)"
    }
}

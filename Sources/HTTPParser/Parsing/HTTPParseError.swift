/// The error for input that is not valid HTTP/1.1: its kind, its offset, and the status for the
/// answer.
///
/// `offset` counts from the first byte ever appended to the parser, so it does not depend on how
/// the input was split.
public struct HTTPParseError: Error, Hashable, Sendable {
    /// The kind of a violation.
    @nonexhaustive
    public enum Kind: String, Sendable, CaseIterable {
        /// The method is not a token (RFC 9110 section 9.1).
        case invalidMethod
        /// The request target has none of the four forms (RFC 9112 section 3.2).
        case invalidTarget
        /// The version is not of the form HTTP/1.x (RFC 9112 section 2.3).
        case invalidVersion
        /// The version is well-formed but of another major number.
        case unsupportedVersion
        /// The status line is ill-formed (RFC 9112 section 4).
        case invalidStatusLine
        /// A field name is empty or contains a byte that is not allowed in a token (RFC 9112
        /// section 5.1).
        case invalidFieldName
        /// White space before the colon (RFC 9112 section 5.1).
        case whitespaceBeforeColon
        /// A field line has no colon.
        case missingColon
        /// A value has a control byte (RFC 9110 section 5.5).
        case invalidFieldValue
        /// A line begins with white space: obsolete folding (RFC 9112 section 5.2).
        case obsoleteFolding
        /// A CR without LF (RFC 9112 section 2.2).
        case bareCarriageReturn
        /// A LF without CR (RFC 9112 section 2.2).
        case bareLineFeed
        /// HTTP/1.1 without Host (RFC 9112 section 3.2).
        case missingHost
        /// More than one Host.
        case repeatedHost
        /// Host is empty or does not have the form host [ ":" port ].
        case invalidHost
        /// Content-Length is not a number, or too large (RFC 9110 section 8.6).
        case invalidContentLength
        /// More than one Content-Length.
        case repeatedContentLength
        /// Content-Length and Transfer-Encoding in one message (RFC 9112 section 6.3).
        case contentLengthWithTransferCoding
        /// Transfer-Encoding is ill-formed, or chunked is not its last element or occurs twice (RFC
        /// 9112 section 6.1).
        case invalidTransferCoding
        /// A transfer coding other than chunked, before a final chunked.
        case unsupportedTransferCoding
        /// A CONNECT request announces content (RFC 9110 section 9.3.6).
        case contentInConnect
        /// A chunk-size line is ill-formed (RFC 9112 section 7.1).
        case invalidChunkSize
        /// A chunk extension is ill-formed (RFC 9112 section 7.1.1).
        case invalidChunkExtension
        /// Chunk data is not followed by CRLF (RFC 9112 section 7.1).
        case missingChunkEnd
        /// A response arrived without an outstanding request.
        case unexpectedResponse
        /// The request line is longer than the limit.
        case requestLineTooLong
        /// One field line is longer than the limit.
        case fieldTooLong
        /// All field lines together are longer than the limit.
        case fieldsTooLong
        /// More fields than the limit.
        case tooManyFields
        /// The content is longer than the limit.
        case contentTooLong
        /// Chunk extensions are longer than the limit.
        case chunkExtensionsTooLong
        /// The trailer section is longer than the limit.
        case trailersTooLong
        /// More empty lines before a message than the limit.
        case tooManyEmptyLines
        /// The input ended inside a message.
        case truncated
    }

    /// The kind of the violation.
    public let kind: Kind
    /// The offset of the invalid byte, or of the first byte beyond a limit.
    public let offset: Int

    /// Creates an error.
    public init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }

    /// The status that a server should answer with. A client treats every error as an invalid
    /// response.
    public var suggestedStatus: HTTPStatus {
        switch kind {
        case .requestLineTooLong: .uriTooLong
        case .fieldTooLong, .fieldsTooLong, .tooManyFields, .trailersTooLong:
            .requestHeaderFieldsTooLarge
        case .contentTooLong, .chunkExtensionsTooLong: .contentTooLarge
        case .unsupportedVersion: .httpVersionNotSupported
        case .unsupportedTransferCoding: .notImplemented
        default: .badRequest
        }
    }

    func moved(by distance: Int) -> HTTPParseError {
        HTTPParseError(kind, at: offset.clampedSum(distance))
    }
}

extension HTTPParseError: CustomStringConvertible {
    /// Kind and offset in one line, such as `bare line feed at byte 17`.
    public var description: String {
        "\(reason) at byte \(offset)"
    }

    /// The kind in plain words.
    public var reason: String {
        lowercaseWords(of: kind.rawValue)
    }
}

/// The words of a name in camel case, separated by spaces and in lower case. Messages use them.
package func lowercaseWords(of name: String) -> String {
    name.reduce(into: "") { words, character in
        words += character.isUppercase ? " " + character.lowercased() : String(character)
    }
}

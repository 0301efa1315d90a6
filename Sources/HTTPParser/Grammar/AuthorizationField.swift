/// The value of Authorization, parsed by the grammar that all schemes share:
///
///     credentials = auth-scheme [ 1*SP ( token68 / #auth-param ) ]
///     auth-param  = token BWS "=" BWS ( token / quoted-string )
///
/// Handlers use it for other schemes than Basic and Digest, for example for Bearer:
///
/// ```swift
/// let field = request.fields[.authorization].flatMap { AuthorizationField($0) }
/// guard let field, field.scheme == "bearer", case .token68(let token) = field.content,
///     let user = try await tokens.user(of: token)
/// else { throw HTTPError(.unauthorized, fields: [.wwwAuthenticate: "Bearer"]) }
/// request.identity = Identity(name: user)
/// ```
///
/// RFC 9110, section 11.4.
public struct AuthorizationField: Equatable, Sendable {
    /// The rest of the field after the scheme.
    public enum Content: Hashable, Sendable {
        /// Nothing follows the scheme.
        case nothing
        /// One word of letters, digits and the signs of encodings such as base64.
        case token68(String)
        /// Parameters: names in lower case, each at most once; values without quotes and escapes.
        case parameters([FieldParameter])

        /// The value of the parameter with this name; `nil` without one.
        subscript(name: String) -> String? {
            guard case .parameters(let parameters) = self else { return nil }
            return parameters.first { $0.name == name }?.value
        }
    }

    /// The scheme, in lower case because schemes ignore case.
    public let scheme: String
    /// The rest of the field after the scheme.
    public let content: Content

    /// Parses the value of a field.
    ///
    /// `nil` if the value is malformed or a parameter occurs twice.
    public init?(_ value: String) {
        let bytes = Array(value.utf8)
        var reader = FieldValueReader(bytes.span)
        guard let scheme = reader.takeToken() else { return nil }
        self.scheme = reader.text(scheme).lowercased()
        if reader.isAtEnd {
            content = .nothing
            return
        }
        guard !reader.takeWhile({ $0 == UInt8(ascii: " ") }).isEmpty else { return nil }
        if let token = reader.takeToken68() {
            content = .token68(token)
        } else if let parameters = reader.takeAuthParameters() {
            content = .parameters(parameters)
        } else {
            return nil
        }
        guard reader.isAtEnd else { return nil }
    }

    /// The value of the parameter with this name; `nil` without one.
    /// - Parameter name: the name in lower case.
    public subscript(name: String) -> String? { content[name] }
}

extension FieldValueReader {
    /// token68 = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=" (section 11.2).
    ///
    /// Takes a token68 only if it ends a list element; otherwise takes nothing and returns nil.
    mutating func takeToken68() -> String? {
        var trial = self
        let letters = trial.takeWhile { byte in
            switch byte {
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
                UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: ByteClass.isAlpha(byte) || ByteClass.isDigit(byte)
            }
        }
        let padding = trial.takeWhile { $0 == UInt8(ascii: "=") }
        // In a list, white space may precede the comma (section 5.6.1).
        var rest = trial
        rest.skipWhitespace()
        if rest.next == UInt8(ascii: ",") { trial = rest }
        guard !letters.isEmpty, trial.isAtEnd || trial.next == UInt8(ascii: ",") else {
            return nil
        }
        self = trial
        return text(letters.lowerBound..<padding.upperBound)
    }

    /// Takes the parameters of one scheme, up to the end or the beginning of the next scheme.
    ///
    /// Nil if a parameter is malformed or occurs twice. Empty list elements are skipped.
    mutating func takeAuthParameters() -> [FieldParameter]? {
        var parameters: [FieldParameter] = []
        var names: Set<String> = []
        skipEmptyElements()
        while !isAtEnd {
            let start = self
            guard let name = takeToken() else { return nil }
            skipWhitespace()
            guard take(UInt8(ascii: "=")) else {
                // A token without a value may be the next scheme; the caller checks it.
                self = start
                return parameters
            }
            skipWhitespace()
            guard let value = takeTokenOrQuotedString(), takeElementEnd() else { return nil }
            let parameter = FieldParameter(
                name: text(name), value: String(decoding: value, as: UTF8.self))
            guard names.insert(parameter.name).inserted else { return nil }
            parameters.append(parameter)
            skipEmptyElements()
        }
        return parameters
    }
}

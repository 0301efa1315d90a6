/// The value of Authorization, taken apart by the grammar that all schemes share:
///
///     credentials = auth-scheme [ 1*SP ( token68 / #auth-param ) ]
///     auth-param  = token BWS "=" BWS ( token / quoted-string )
///
/// For handlers that authenticate in a way of their own, by Bearer for example:
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
        /// The scheme is all.
        case nothing
        /// Letters, digits and the signs that encodings such as base64 use, in one word.
        case token68(String)
        /// Names in lower case, none of them twice; values without quotes and escapes.
        case parameters([FieldParameter])

        /// The value of a parameter; `nil` without one of that name.
        subscript(name: String) -> String? {
            guard case .parameters(let parameters) = self else { return nil }
            return parameters.first { $0.name == name }?.value
        }
    }

    /// The scheme, in lower case: case does not count.
    public let scheme: String
    /// The rest of the field after the scheme.
    public let content: Content

    /// Takes the value of a field apart.
    ///
    /// `nil` for what the grammar does not allow, and for a parameter that comes twice.
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

    /// The value of a parameter; `nil` without one of that name.
    /// - Parameter name: in lower case.
    public subscript(name: String) -> String? { content[name] }
}

extension FieldValueReader {
    /// token68 = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=" (section 11.2).
    ///
    /// Takes one that ends a list element; else takes nothing and gives nil.
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
        // In a list a comma may stand after white space (section 5.6.1).
        var rest = trial
        rest.skipWhitespace()
        if rest.next == UInt8(ascii: ",") { trial = rest }
        guard !letters.isEmpty, trial.isAtEnd || trial.next == UInt8(ascii: ",") else {
            return nil
        }
        self = trial
        return text(letters.lowerBound..<padding.upperBound)
    }

    /// Takes the parameters of one scheme: to the end, or to where the next scheme begins.
    ///
    /// Nil if one is malformed or comes twice. Empty list elements are skipped.
    mutating func takeAuthParameters() -> [FieldParameter]? {
        var parameters: [FieldParameter] = []
        var names: Set<String> = []
        skipEmptyElements()
        while !isAtEnd {
            let start = self
            guard let name = takeToken() else { return nil }
            skipWhitespace()
            guard take(UInt8(ascii: "=")) else {
                // A token that has no value is the next scheme, if it can be one.
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

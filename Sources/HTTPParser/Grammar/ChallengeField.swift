/// One challenge of WWW-Authenticate or Proxy-Authenticate, parsed by the grammar that all schemes
/// share:
///
///     challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ]
///
/// A field may hold several challenges. Commas separate both challenges and the parameters of one
/// challenge, so a word without an equals sign after it begins a new challenge.
///
/// ```swift
/// let all = ChallengeField.list(#"Negotiate, Digest realm="a, b", nonce=x, Basic realm="a, b""#)
/// all?.map(\.scheme)    // ["negotiate", "digest", "basic"]
/// all?[1]["realm"]      // a, b
/// ```
///
/// RFC 9110, sections 11.3 and 11.6.1.
public struct ChallengeField: Hashable, Sendable {
    /// The scheme, in lower case because schemes ignore case.
    public let scheme: String
    /// The rest of the challenge after the scheme.
    public let content: AuthorizationField.Content

    /// Parses the value of a field into its challenges, in order.
    ///
    /// `nil` if the value is malformed or a parameter occurs twice in one challenge. An empty value
    /// has no challenges.
    public static func list(_ value: String) -> [ChallengeField]? {
        let bytes = Array(value.utf8)
        var reader = FieldValueReader(bytes.span)
        var challenges: [ChallengeField] = []
        reader.skipEmptyElements()
        while !reader.isAtEnd {
            guard let challenge = reader.takeChallenge() else { return nil }
            challenges.append(challenge)
            reader.skipEmptyElements()
        }
        return challenges
    }

    /// The value of the parameter with this name; `nil` without one.
    /// - Parameter name: the name in lower case.
    public subscript(name: String) -> String? { content[name] }
}

extension FieldValueReader {
    fileprivate mutating func takeChallenge() -> ChallengeField? {
        guard let token = takeToken() else { return nil }
        let scheme = text(token).lowercased()
        let blanks = takeWhile { $0 == UInt8(ascii: " ") }
        if isAtEnd || take(UInt8(ascii: ",")) {
            return ChallengeField(scheme: scheme, content: .nothing)
        }
        guard !blanks.isEmpty else { return nil }
        if let token = takeToken68() {
            return ChallengeField(scheme: scheme, content: .token68(token))
        }
        // If there is no parameter, two words follow each other without a comma or equals sign.
        guard let parameters = takeAuthParameters(), !parameters.isEmpty else { return nil }
        return ChallengeField(scheme: scheme, content: .parameters(parameters))
    }
}

/// One challenge of WWW-Authenticate or Proxy-Authenticate, parsed by the grammar that all schemes
/// share:
///
///     challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ]
///
/// A field may hold several challenges. Commas separate the challenges, and the parameters of each,
/// so a word begins a new challenge if no equals sign follows it.
///
/// ```swift
/// let all = ChallengeField.list(#"Negotiate, Digest realm="a, b", nonce=x, Basic realm="a, b""#)
/// all?.map(\.scheme)    // ["negotiate", "digest", "basic"]
/// all?[1]["realm"]      // a, b
/// ```
///
/// RFC 9110, sections 11.3 and 11.6.1.
public struct ChallengeField: Hashable, Sendable {
    /// The scheme, in lower case: case does not count.
    public let scheme: String
    /// The rest of the challenge after the scheme.
    public let content: AuthorizationField.Content

    /// Parses the value of a field into its challenges, in order.
    ///
    /// `nil` for what the grammar does not allow, and for a parameter that comes twice in one
    /// challenge. An empty value has none.
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

    /// The value of a parameter; `nil` without one of that name.
    /// - Parameter name: in lower case.
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
        // Nothing was taken: two words without a comma or an equals sign.
        guard let parameters = takeAuthParameters(), !parameters.isEmpty else { return nil }
        return ChallengeField(scheme: scheme, content: .parameters(parameters))
    }
}

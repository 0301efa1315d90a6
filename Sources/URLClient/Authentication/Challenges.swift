internal import HTTPCodecs
internal import HTTPCrypto
package import HTTPParser

/// The challenges of a response that this client can answer, the strongest first.
package enum Challenges {
    /// A challenge that this client can answer.
    package enum Challenge: Sendable, Hashable {
        case basic(realm: String)
        case digest(DigestChallenge)
        case bearer(realm: String)

        package var scheme: ProtectionSpace.Scheme {
            switch self {
            case .basic: .basic
            case .digest: .digest
            case .bearer: .bearer
            }
        }

        package var realm: String {
            switch self {
            case .basic(let realm), .bearer(let realm): realm
            case .digest(let challenge): challenge.realm
            }
        }

        /// Whether only the nonce of the request was too old.
        var isStale: Bool {
            if case .digest(let challenge) = self { challenge.isStale } else { false }
        }
    }

    /// Parses all lines of WWW-Authenticate or Proxy-Authenticate. Malformed lines and unknown
    /// challenges are ignored (RFC 9110 section 11.6.1).
    package static func all(in fields: HTTPFields, _ name: HTTPFieldName) -> [Challenge] {
        // These limits bound the work, because realms and nonces are compared. No real server
        // exceeds them.
        let lines = fields.values(of: name).filter { $0.utf8.count <= lineLimit }
        let read = lines.prefix(16).flatMap { ChallengeField.list($0) ?? [] }
        return read.prefix(32).compactMap(challenge).enumerated().sorted { left, right in
            let (first, second) = (strength(left.element), strength(right.element))
            return first == second ? left.offset < right.offset : first > second
        }.map(\.element)
    }

    /// The longest line of challenges, in bytes.
    static let lineLimit = 8_192

    private static func challenge(_ field: ChallengeField) -> Challenge? {
        switch field.scheme {
        case "basic": .basic(realm: field["realm"] ?? "")
        case "digest": DigestChallenge(field).map { .digest($0) }
        case "bearer": .bearer(realm: field["realm"] ?? "")
        default: nil
        }
    }

    private static func strength(_ challenge: Challenge) -> Int {
        switch challenge {
        case .bearer: 3
        case .digest(let digest): digest.hash == .sha256 ? 2 : 1
        case .basic: 0
        }
    }
}

/// The credentials of Basic (RFC 7617 section 2).
package enum BasicAuthorization {
    /// The value of Authorization; `nil` for a name with a colon and for control characters, which
    /// the server would misread.
    package static func value(user: String, password: String) -> String? {
        guard !user.utf8.contains(UInt8(ascii: ":")),
            !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        return "Basic " + Base64.text(of: Array("\(user):\(password)".utf8))
    }

    /// The path below which the same credential is valid (section 2.2): up to the last slash,
    /// inclusive.
    package static func scope(of path: String) -> String {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return String(path[..<end]) + "/"
    }
}

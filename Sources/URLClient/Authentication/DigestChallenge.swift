internal import HTTPCodecs
package import HTTPCrypto
package import HTTPParser

/// The challenge of a server that wants Digest (RFC 7616 section 3.3).
package struct DigestChallenge: Sendable, Hashable {
    package let realm: String
    package let nonce: String
    package let opaque: String?
    package let hash: DigestHash
    /// Whether the algorithm ends in `-sess`.
    package let isSession: Bool
    /// Whether qop has `auth`; without qop the hashes are computed as in RFC 2069.
    package let hasQuality: Bool
    /// Whether the user name is sent as a hash.
    package let hashesUser: Bool
    /// Whether only the nonce was too old.
    package let isStale: Bool
    /// The references below which the credential is valid; empty for the whole origin.
    package let domain: [String]

    /// `nil` if realm or nonce is missing, or the algorithm or the quality of protection is not
    /// supported.
    package init?(_ field: ChallengeField) {
        guard let realm = field["realm"], let nonce = field["nonce"] else { return nil }
        (self.realm, self.nonce, opaque) = (realm, nonce, field["opaque"])
        var name = (field["algorithm"] ?? "MD5").uppercased()
        isSession = name.hasSuffix("-SESS")
        if isSession { name.removeLast(5) }
        guard let hash = DigestHash(rawValue: name), hash.isAvailable else { return nil }
        self.hash = hash
        if let qop = field["qop"] {
            let offered = qop.split(whereSeparator: { $0 == "," || $0 == " " })
            guard offered.contains(where: { $0.lowercased() == "auth" }) else { return nil }
            hasQuality = true
        } else {
            guard !isSession, hash == .md5 else { return nil }
            hasQuality = false
        }
        hashesUser = field["userhash"]?.lowercased() == "true"
        isStale = field["stale"]?.lowercased() == "true"
        domain = (field["domain"] ?? "").split(separator: " ").map(String.init)
    }
}

/// The login of a user with a server's nonce. It creates the credentials of successive requests.
package struct DigestSession: Sendable {
    package let challenge: DigestChallenge
    private let user: String
    /// H(A1) without `-sess`.
    private let secret: String
    private var cnonce: String
    fileprivate(set) var nonce: String
    private var count: UInt32 = 0

    /// - Parameter cnonce: an unpredictable text without quotes.
    package init(_ challenge: DigestChallenge, user: String, password: String, cnonce: String) {
        self.challenge = challenge
        (self.user, self.cnonce, nonce) = (user, cnonce, challenge.nonce)
        secret = challenge.hash.secret(name: user, realm: challenge.realm, password: password)
    }

    /// Continues the count of an earlier session if the server has sent the same nonce again: the
    /// server takes a repeated count for a replay (section 3.4). The cnonce is kept as well,
    /// because with `-sess` it is part of the secret.
    package mutating func goOn(from earlier: DigestSession) {
        guard earlier.nonce == nonce else { return }
        (count, cnonce) = (earlier.count, earlier.cnonce)
    }

    /// The value of Authorization for the next request (section 3.4).
    /// - Parameters:
    ///   - method: the method as it is sent.
    ///   - target: the request target as it is sent.
    package mutating func authorization(method: String, target: String) -> String {
        let (hash, isSession) = (challenge.hash, challenge.isSession)
        count &+= 1
        let digits = String(count, radix: 16)
        let countText = String(repeating: "0", count: 8 - digits.count) + digits
        let key = isSession ? hash.hex("\(secret):\(nonce):\(cnonce)") : secret
        let a2 = "\(method):\(target)"
        let proof =
            challenge.hasQuality
            ? Hex.text(
                of: hash.proof(secret: key, nonce: nonce, count: countText, cnonce: cnonce, a2: a2))
            : hash.hex("\(key):\(nonce):\(hash.hex(a2))")
        var parts = [
            userParameter, "realm=\(Self.quoted(challenge.realm))", "nonce=\(Self.quoted(nonce))",
            "uri=\(Self.quoted(target))", "response=\"\(proof)\"",
            "algorithm=\(hash.rawValue)\(isSession ? "-sess" : "")",
        ]
        if challenge.hasQuality {
            parts += ["cnonce=\"\(cnonce)\"", "nc=\(countText)", "qop=auth"]
        }
        if let opaque = challenge.opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if challenge.hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// Takes the nonce for the next request from Authentication-Info of a response (section 3.5).
    /// If it is the current nonce, the count continues.
    package mutating func receive(info value: String) {
        // The field has the parameters of a challenge, without its scheme.
        guard let next = ChallengeField.list("Digest \(value)")?.first?["nextnonce"], !next.isEmpty,
            next != nonce
        else { return }
        (nonce, count) = (next, 0)
    }

    /// The user name: hashed, as a quoted string, or percent-encoded if it is not ASCII (section
    /// 3.4).
    private var userParameter: String {
        if challenge.hashesUser {
            return "username=\"\(challenge.hash.hex("\(user):\(challenge.realm)"))\""
        }
        if user.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            return "username=\(Self.quoted(user))"
        }
        return "username*=UTF-8''\(PercentEncoding.encode(user, keeping: .attribute))"
    }

    private static func quoted(_ text: String) -> String {
        FieldValues.quoted(text) ?? "\"\""
    }
}

/// The hash functions of Digest authentication, and the values that a client computes with them and
/// a server compares (RFC 7616 section 3).
package enum DigestHash: String, Hashable, Sendable, CaseIterable {
    /// SHA-256.
    case sha256 = "SHA-256"
    /// MD5, the default when none is named.
    case md5 = "MD5"

    /// Whether the system's libcrypto offers it; some are built or configured without MD5.
    package var isAvailable: Bool {
        switch self {
        case .sha256: true
        case .md5: Self.hasMD5
        }
    }

    private static let hasMD5 = Crypto.md5([]) != nil

    /// The length of a hash in bytes.
    package var byteCount: Int {
        switch self {
        case .sha256: 32
        case .md5: 16
        }
    }

    /// The hash of a text as a field carries it: in lower-case hexadecimal digits.
    package func hex(_ text: String) -> String {
        Hex.text(of: hash(Array(text.utf8)))
    }

    package func hash(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha256: return Crypto.sha256(bytes)
        case .md5:
            guard let hash = Crypto.md5(bytes) else { preconditionFailure("no MD5 here") }
            return hash
        }
    }

    /// H(A1) in hexadecimal digits (section 3.4.2), without `-sess`.
    package func secret(name: String, realm: String, password: String) -> String {
        hex("\(name):\(realm):\(password)")
    }

    /// H(H(A1) ":" nonce ":" nc ":" cnonce ":" qop ":" H(A2)) with qop `auth` (section 3.4.1).
    /// - Parameters:
    ///   - secret: H(A1) in hexadecimal digits.
    ///   - nonce: as the server gave it.
    ///   - count: nc, eight digits.
    ///   - cnonce: the nonce of the client.
    ///   - a2: method and uri with a colon between; a server's own proof has an empty method.
    package func proof(
        secret: String, nonce: String, count: String, cnonce: String, a2: String
    ) -> [UInt8] {
        hash(Array("\(secret):\(nonce):\(count):\(cnonce):auth:\(hex(a2))".utf8))
    }
}

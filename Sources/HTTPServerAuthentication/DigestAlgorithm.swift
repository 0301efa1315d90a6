internal import HTTPCodecs
package import HTTPCrypto
internal import HTTPParser

/// A hash algorithm of Digest authentication (RFC 7616 section 3.3).
public enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
    /// SHA-256.
    case sha256 = "SHA-256"
    /// MD5. Some clients support nothing else. It applies to credentials without an algorithm.
    case md5 = "MD5"

    /// Whether the system's libcrypto offers the algorithm; some are built or configured without
    /// MD5.
    public var isAvailable: Bool { hashing.isAvailable }

    /// The hash function, in the module that client and server share.
    package var hashing: DigestHash {
        switch self {
        case .sha256: .sha256
        case .md5: .md5
        }
    }

    /// The length of a hash in bytes.
    package var byteCount: Int { hashing.byteCount }

    /// The algorithm with a name from a field, in any case (RFC 7616 section 3.3).
    package init?(name: String) {
        // Bytes are compared, because computing the canonical form of a long text is slow.
        if name.isASCII("sha-256") {
            self = .sha256
        } else if name.isASCII("md5") {
            self = .md5
        } else {
            return nil
        }
    }

    /// The hash of a text in lower-case hexadecimal digits, as in fields.
    package func hex(_ text: String) -> String { hashing.hex(text) }
}

/// A server's stored secret for Digest: the hash of name, realm and password, called A1 in RFC 7616
/// section 3.4.2.
///
/// The secret is enough to log in within its realm, so guard it like a password.
public struct DigestSecret: Hashable, Sendable {
    /// The algorithm.
    public let algorithm: DigestAlgorithm
    /// The hash in lower-case hexadecimal digits: the form to store, as in the third part of a line
    /// written by `htdigest`. Guard it like a password.
    public let hex: String

    /// Computes the secret of a password.
    /// - Parameters:
    ///   - name: the name of the user.
    ///   - realm: the name of the protection space that the authenticator announces.
    ///   - password: the password.
    ///   - algorithm: the algorithm, which must be available.
    public init(name: String, realm: String, password: String, algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        hex = algorithm.hashing.secret(name: name, realm: realm, password: password)
    }

    /// Creates a stored secret, such as the third part of a line written by `htdigest`; `nil` if
    /// `hex` is not a hash of the algorithm.
    /// - Parameters:
    ///   - hex: the hash in hexadecimal digits, in any case.
    ///   - algorithm: the algorithm of the hash.
    public init?(hex: String, algorithm: DigestAlgorithm) {
        guard hex.utf8.count == algorithm.byteCount * 2,
            hex.utf8.allSatisfy({ ByteClass.hexValue($0) != nil })
        else { return nil }
        self.algorithm = algorithm
        self.hex = hex.lowercased()
    }

    /// A random secret, which is checked for an unknown user.
    static func unknown(_ algorithm: DigestAlgorithm) -> DigestSecret {
        DigestSecret(algorithm: algorithm, bytes: Crypto.random(algorithm.byteCount))
    }

    private init(algorithm: DigestAlgorithm, bytes: [UInt8]) {
        self.algorithm = algorithm
        hex = Hex.text(of: bytes)
    }
}

extension DigestSecret: CustomStringConvertible {
    /// The algorithm; the secret is not shown.
    public var description: String { "\(algorithm.rawValue) secret" }
}

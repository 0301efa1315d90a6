internal import HTTPCodecs
internal import HTTPCrypto

/// A hash of a file's content, which a client has sent with the content and the server has checked.
public struct ContentChecksum: Hashable, Sendable {
    /// A hash function, by the name that `Repr-Digest` has for it (RFC 9530 section 7.2).
    public enum Algorithm: String, Hashable, Sendable {
        /// MD5 (RFC 1321): detects damage, but not forgery.
        case md5
        /// SHA-1 (FIPS 180-4): detects damage, but not forgery.
        case sha1
        /// SHA-256 (FIPS 180-4).
        case sha256 = "sha-256"
        /// SHA-512 (FIPS 180-4).
        case sha512 = "sha-512"

        var function: MessageDigest.Function {
            switch self {
            case .md5: .md5
            case .sha1: .sha1
            case .sha256: .sha256
            case .sha512: .sha512
            }
        }
    }

    /// The hash function.
    public let algorithm: Algorithm
    /// The hash: 16, 20, 32 or 64 bytes.
    public let hash: [UInt8]

    /// Creates a checksum.
    /// - Returns: `nil` if the length of the hash does not match the function.
    public init?(_ algorithm: Algorithm, hash: [UInt8]) {
        guard hash.count == algorithm.function.byteCount else { return nil }
        (self.algorithm, self.hash) = (algorithm, hash)
    }
}

extension [ContentChecksum] {
    /// The value of `Repr-Digest` (RFC 9530 section 3); `nil` if no wanted hash exists.
    /// - Parameter wanted: the members of `Want-Repr-Digest` (section 4). The hash with the highest
    ///   preference is used, and never one with preference 0.
    func representationDigest(wanted: [String]) -> String? {
        var best: (preference: Int, checksum: ContentChecksum)?
        for checksum in self where checksum.algorithm.isForRepresentations {
            let name = checksum.algorithm.rawValue + "="
            // The last of two members with one key counts (RFC 9651 section 4.2.2).
            guard let member = wanted.last(where: { $0.hasPrefix(name) }),
                let preference = Int(member.dropFirst(name.utf8.count).prefix { $0 != ";" }),
                1...10 ~= preference, preference > best?.preference ?? 0
            else { continue }
            best = (preference, checksum)
        }
        return best.map { _, best in
            "\(best.algorithm.rawValue)=:\(Base64.text(of: best.hash)):"
        }
    }

    /// The checksums by functions that ownCloud knows, the best first, as `SHA1:0a4d55a8…`.
    var ownCloudTexts: [String] {
        ContentChecksum.Algorithm.ownCloudNames.compactMap { algorithm, name in
            first { $0.algorithm == algorithm }.map { "\(name):\(Hex.text(of: $0.hash))" }
        }
    }
}

extension ContentChecksum.Algorithm {
    /// Whether `Repr-Digest` may use the algorithm. RFC 9530 section 7.2 deprecates the others.
    var isForRepresentations: Bool { self == .sha256 || self == .sha512 }

    /// The names in ownCloud's fields and properties, the best function first.
    static let ownCloudNames: KeyValuePairs<Self, String> = [
        .sha256: "SHA256", .sha1: "SHA1", .md5: "MD5",
    ]

    /// - Parameter ownCloudName: ownCloud's name of a function; case is ignored.
    init?(ownCloudName: Substring) {
        let name = ownCloudName.uppercased()
        guard let known = Self.ownCloudNames.first(where: { $0.value == name }) else { return nil }
        self = known.key
    }
}

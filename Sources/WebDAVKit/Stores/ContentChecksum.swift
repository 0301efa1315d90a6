internal import HTTPCodecs
internal import HTTPCrypto

/// A hash of the content of a file, which a client has sent with it and the server has checked.
public struct ContentChecksum: Hashable, Sendable {
    /// A hash function, by the name that `Repr-Digest` has for it (RFC 9530 section 7.2).
    public enum Algorithm: String, Hashable, Sendable {
        /// MD5 (RFC 1321): finds damage, not deceit.
        case md5
        /// SHA-1 (FIPS 180-4): finds damage, not deceit.
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

    /// The function.
    public let algorithm: Algorithm
    /// The hash: 16, 20, 32 or 64 bytes.
    public let hash: [UInt8]

    /// Creates a checksum.
    /// - Returns: `nil` for a hash that has not as many bytes as the function gives.
    public init?(_ algorithm: Algorithm, hash: [UInt8]) {
        guard hash.count == algorithm.function.byteCount else { return nil }
        (self.algorithm, self.hash) = (algorithm, hash)
    }
}

extension [ContentChecksum] {
    /// The value of `Repr-Digest` (RFC 9530 section 3); `nil` without a hash by a function that is
    /// of use there.
    /// - Parameter wanted: the members of `Want-Repr-Digest` (section 4): the one that is preferred
    ///   most is given, and nothing of preference 0.
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

    /// The checksums that ownCloud has a name for, the best one first, as `SHA1:0a4d55a8…`.
    var ownCloudTexts: [String] {
        ContentChecksum.Algorithm.ownCloudNames.compactMap { algorithm, name in
            first { $0.algorithm == algorithm }.map { "\(name):\(Hex.text(of: $0.hash))" }
        }
    }
}

extension ContentChecksum.Algorithm {
    /// RFC 9530 section 7.2 keeps the other algorithms to support old programs.
    var isForRepresentations: Bool { self == .sha256 || self == .sha512 }

    /// The names in ownCloud's fields and properties, the best function first.
    static let ownCloudNames: KeyValuePairs<Self, String> = [
        .sha256: "SHA256", .sha1: "SHA1", .md5: "MD5",
    ]

    /// - Parameter ownCloudName: in any case.
    init?(ownCloudName: Substring) {
        let name = ownCloudName.uppercased()
        guard let known = Self.ownCloudNames.first(where: { $0.value == name }) else { return nil }
        self = known.key
    }
}

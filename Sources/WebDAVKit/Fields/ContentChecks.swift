internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser
package import HTTPServerCore
internal import ToolkitSystem

/// The hashes that a client sends with content, so that damage in transit is detected:
/// `Repr-Digest` (RFC 9530 section 3) with sha-256 and sha-512, and ownCloud's `OC-Checksum` with
/// MD5, SHA1 and SHA256.
struct ContentChecks: Sendable {
    /// One hash.
    struct Check: Hashable, Sendable {
        var field: String
        var checksum: ContentChecksum

        var isOwnCloud: Bool { field == ContentChecks.ownCloudField }
    }

    private static let ownCloudField = "OC-Checksum"

    private(set) var checks: [Check] = []

    /// The most bytes of a field; a longer one is ignored.
    private static let byteLimit = 1024

    /// - Throws: `WebDAVError` with 400 for a malformed hash. Unknown functions are left out, as
    ///   RFC 9530 section 3 requires.
    init(representation: String?, ownCloud: String?) throws(WebDAVError) {
        if let representation { try add(representation: representation) }
        if let ownCloud { try add(ownCloud: ownCloud) }
    }

    /// A dictionary of byte sequences (RFC 9651 sections 3.2 and 3.3.5).
    private mutating func add(representation field: String) throws(WebDAVError) {
        let isTooLong = field.utf8.count > Self.byteLimit
        for text in isTooLong ? [] : FieldValues.list(field) ?? [] {
            guard let sign = text.firstIndex(of: "=") else { continue }
            guard let algorithm = ContentChecksum.Algorithm(rawValue: String(text[..<sign])),
                algorithm.isForRepresentations
            else { continue }
            // Parameters of the member have no meaning here.
            let value = text[text.index(after: sign)...].prefix { $0 != ";" && $0 != " " }
            guard value.utf8.count > 2, value.hasPrefix(":"), value.hasSuffix(":"),
                let hash = Base64.decode(Array(value.utf8.dropFirst().dropLast())),
                let checksum = ContentChecksum(algorithm, hash: hash)
            else {
                throw WebDAVError(.badRequest, "Repr-Digest contains a malformed hash")
            }
            // A repeated key replaces the earlier one (RFC 9651 section 4.2.2).
            checks.removeAll { $0.checksum.algorithm == algorithm }
            checks.append(Check(field: "Repr-Digest", checksum: checksum))
        }
    }

    /// `SHA1:0a4d55a8...`, or several with spaces between them.
    private mutating func add(ownCloud field: String) throws(WebDAVError) {
        let isTooLong = field.utf8.count > Self.byteLimit
        for text in isTooLong ? [] : field.split(separator: " ") {
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2,
                let algorithm = ContentChecksum.Algorithm(ownCloudName: parts[0])
            else { continue }
            guard let hash = Hex.bytes(of: String(parts[1])),
                let checksum = ContentChecksum(algorithm, hash: hash)
            else {
                throw WebDAVError(.badRequest, "OC-Checksum contains a malformed hash")
            }
            checks.append(Check(field: Self.ownCloudField, checksum: checksum))
            guard checks.count(where: \.isOwnCloud) <= 4 else {
                throw WebDAVError(.badRequest, "OC-Checksum has too many hashes")
            }
        }
    }

    /// Hashes content as it arrives, and compares the result at the end.
    func begin() -> RunningChecks { RunningChecks(checks) }
}

/// Hashes of content that is being read.
package final class RunningChecks: Sendable {
    private let checks: [ContentChecks.Check]
    private let digests: Locked<[(algorithm: ContentChecksum.Algorithm, digest: MessageDigest)]>

    fileprivate init(_ checks: [ContentChecks.Check]) {
        self.checks = checks
        var algorithms = Set(checks.map(\.checksum.algorithm))
        // rclone sends SHA-1, but compares files by MD5: ownCloud's server has both.
        if checks.contains(where: \.isOwnCloud) { algorithms.formUnion([.md5, .sha1]) }
        digests = Locked(
            algorithms.compactMap { algorithm in
                MessageDigest(algorithm.function).map { (algorithm, $0) }
            })
    }

    /// The checksums that came with a request; `nil` when there are none, or when the content is
    /// coded: they cover the coded content, and the store keeps it decoded.
    /// - Throws: `WebDAVError` with 400 for a malformed hash.
    package static func of(_ request: Request) throws(WebDAVError) -> RunningChecks? {
        let fields = request.fields
        guard !fields.contains(.contentEncoding), request.body.codings == nil,
            fields.contains(.reprDigest) || fields.contains(.ownCloudChecksum)
        else { return nil }
        return try ContentChecks(
            representation: fields[.reprDigest], ownCloud: fields[.ownCloudChecksum]
        ).begin()
    }

    package func update(_ piece: [UInt8]) {
        digests.withLock { for (_, digest) in $0 { digest.update(piece) } }
    }

    /// Called once, after the last piece.
    /// - Returns: the hashes of the content.
    /// - Throws: `WebDAVError` with 400 when a hash differs from the one that the client sent.
    @discardableResult
    package func finish() throws(WebDAVError) -> [ContentChecksum] {
        let found = digests.withLock { digests in
            digests.compactMap { ContentChecksum($0.algorithm, hash: $0.digest.finish()) }
        }
        for check in checks {
            let algorithm = check.checksum.algorithm
            guard let other = found.first(where: { $0.algorithm == algorithm }),
                other != check.checksum
            else { continue }
            throw WebDAVError(
                .badRequest, "the content does not match \(check.field); send it again")
        }
        return found
    }
}

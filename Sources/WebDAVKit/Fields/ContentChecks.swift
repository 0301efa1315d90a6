internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser
internal import HTTPServerCore

/// The hashes that a client sends with content, so that damage on the way is found: `Repr-Digest`
/// (RFC 9530 section 3) with sha-256 and sha-512, and ownCloud's `OC-Checksum` with MD5, SHA1 and
/// SHA256.
struct ContentChecks: Sendable {
    /// One hash.
    struct Check: Hashable, Sendable {
        var field: String
        var function: MessageDigest.Function
        var hash: [UInt8]
    }

    private(set) var checks: [Check] = []

    /// Fields of this length have more hashes than anybody checks.
    private static let byteLimit = 1024

    /// - Throws: `WebDAVError` with 400 for a hash that cannot be one. Functions that are not known
    ///   are left out, as RFC 9530 section 3 asks for.
    init(representation: String?, ownCloud: String?) throws(WebDAVError) {
        if let representation { try add(representation: representation) }
        if let ownCloud { try add(ownCloud: ownCloud) }
    }

    /// A dictionary of byte sequences (RFC 9651 sections 3.2 and 3.3.5).
    private mutating func add(representation field: String) throws(WebDAVError) {
        let isTooLong = field.utf8.count > Self.byteLimit
        for text in isTooLong ? [] : FieldValues.list(field) ?? [] {
            guard let sign = text.firstIndex(of: "=") else { continue }
            guard let function = MessageDigest.Function(rawValue: String(text[..<sign])),
                function == .sha256 || function == .sha512
            else { continue }
            // Parameters of the member have no meaning here.
            let value = text[text.index(after: sign)...].prefix { $0 != ";" && $0 != " " }
            guard value.utf8.count > 2, value.hasPrefix(":"), value.hasSuffix(":"),
                let hash = Base64.decode(Array(value.utf8.dropFirst().dropLast())),
                hash.count == function.byteCount
            else {
                throw WebDAVError(.badRequest, "Repr-Digest has a hash that is none")
            }
            // A key that comes again replaces the one before (RFC 9651 section 4.2.2).
            checks.removeAll { $0.function == function }
            checks.append(Check(field: "Repr-Digest", function: function, hash: hash))
        }
    }

    /// `SHA1:0a4d55a8...`, or several with spaces between them.
    private mutating func add(ownCloud field: String) throws(WebDAVError) {
        let isTooLong = field.utf8.count > Self.byteLimit
        for text in isTooLong ? [] : field.split(separator: " ") {
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let function = Self.functions[parts[0].lowercased()] else {
                continue
            }
            guard let hash = Hex.bytes(of: String(parts[1])), hash.count == function.byteCount
            else {
                throw WebDAVError(.badRequest, "OC-Checksum has a hash that is none")
            }
            checks.append(Check(field: "OC-Checksum", function: function, hash: hash))
            guard checks.count <= 4 else {
                throw WebDAVError(.badRequest, "OC-Checksum has too many hashes")
            }
        }
    }

    private static let functions: [String: MessageDigest.Function] = [
        "md5": .md5, "sha1": .sha1, "sha256": .sha256,
    ]

    /// The hashes of content as it comes, to be compared once all of it has.
    func begin() -> RunningChecks { RunningChecks(checks) }
}

/// Hashes of content that is being read.
final class RunningChecks: Sendable {
    private let hashes: Locked<[(check: ContentChecks.Check, hash: MessageDigest)]>

    fileprivate init(_ checks: [ContentChecks.Check]) {
        hashes = Locked(
            checks.compactMap { check in MessageDigest(check.function).map { (check, $0) } })
    }

    func update(_ piece: [UInt8]) {
        hashes.withLock { for (_, hash) in $0 { hash.update(piece) } }
    }

    /// Called once, behind the last piece.
    /// - Throws: `WebDAVError` with 400 when a hash is another one than the client has sent.
    func finish() throws(WebDAVError) {
        let wrong = hashes.withLock { hashes in
            hashes.first { $0.hash.finish() != $0.check.hash }?.check.field
        }
        guard let wrong else { return }
        throw WebDAVError(.badRequest, "\(wrong) is the hash of other content")
    }
}

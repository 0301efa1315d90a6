internal import HTTPCrypto
internal import HTTPParser
internal import ToolkitSystem

/// An authority of one user, which signs certificates for development.
///
/// Add its certificate to the browsers and systems that should trust it; the authority does not
/// install it. Only the owner can read its key.
public struct DevelopmentAuthority: Sendable {
    /// The path of the authority's certificate, in PEM form.
    public let path: String
    private let certificate: [UInt8]
    private let key: [UInt8]

    /// The validity of the authority, in days.
    static let lifetime = 3_650
    /// The validity of a certificate that it signs, in days.
    static let certificateLifetime = 90

    /// Loads the authority in a folder, or creates one if the folder has none.
    ///
    /// Safe for several processes at the same time: all get the same authority.
    /// - Throws: the reason why the files cannot be used.
    public init(folder: String) throws(TLSError) {
        path = "\(folder)/development-ca.pem"
        let keyPath = "\(folder)/development-ca.key"
        if let known = try Self.known(path, keyPath, in: folder) {
            (certificate, key) = known
            return
        }
        let made = try Self.make(
            "Development authority of \(Syscalls.hostName())", nil, Self.lifetime, nil)
        // Key and certificate are in one file. With two files, concurrent processes could store a
        // key and a certificate that do not match.
        try Self.store(made.key + made.certificate, keyPath, in: folder, replaces: false)
        guard let known = try Self.known(path, keyPath, in: folder) else {
            throw TLSError(.noCertificate, keyPath)
        }
        (certificate, key) = known
    }

    /// The authority in the files; `nil` if there is none. Writes the certificate to `path` if
    /// another one, or none, is there.
    private static func known(
        _ path: String, _ keyPath: String, in folder: String
    ) throws(TLSError) -> (certificate: [UInt8], key: [UInt8])? {
        let found = try existing(path)
        guard let key = try existing(keyPath) else { return nil }
        guard let start = key.firstRange(of: Array("-----BEGIN CERTIFICATE-----".utf8)) else {
            return found.map { ($0, key) }
        }
        let certificate = Array(key[start.lowerBound...])
        if found != certificate { try store(certificate, path, in: folder, replaces: true) }
        return (certificate, key)
    }

    /// The folder for the current user's configuration of a program.
    /// - Parameter program: the name of the folder.
    public static func userFolder(for program: String) -> String {
        if let folder = Syscalls.environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/\(program)"
        }
        let home = Syscalls.environment("HOME") ?? "."
        #if canImport(Darwin)
            return "\(home)/Library/Application Support/\(program)"
        #else
            return "\(home)/.config/\(program)"
        #endif
    }

    /// Signs a new certificate, valid for 90 days.
    /// - Parameter names: host names and addresses; invalid ones are left out.
    public func certificate(for names: [String]) throws(TLSError) -> TLSCertificate {
        let entries = names.compactMap(Self.entry)
        let made = try Self.make(
            names.first ?? "localhost", entries.isEmpty ? nil : entries.joined(separator: ","),
            Self.certificateLifetime, (certificate, key))
        return TLSCertificate(
            chain: .bytes(made.certificate + certificate), key: .bytes(made.key))
    }

    /// A name as an entry of `subjectAltName` in OpenSSL's syntax; `nil` unless it is an address or
    /// has only letters, digits, hyphens and dots.
    static func entry(_ name: String) -> String? {
        if RawSocketAddress.bytes(name) != nil { return "IP:\(name)" }
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isName && !name.isEmpty && name.utf8.count <= 253 ? "DNS:\(name)" : nil
    }

    private static func make(
        _ name: String, _ names: String?, _ days: Int,
        _ issuer: (certificate: [UInt8], key: [UInt8])?
    ) throws(TLSError) -> (certificate: [UInt8], key: [UInt8]) {
        // A common name has at most 64 characters (RFC 5280 appendix A.1).
        var template = CertificateTemplate(commonName: String(name.prefix(64)))
        template.names = names
        // Valid from an hour ago, because clocks differ.
        (template.starts, template.ends) = (-3_600, days * 86_400)
        template.isAuthority = issuer == nil
        template.issuer = issuer
        guard let made = template.issue() else {
            throw TLSError(.library, "development certificate")
        }
        return made
    }

    // MARK: Files

    /// The content of a file; `nil` if the file does not exist.
    private static func existing(_ path: String) throws(TLSError) -> [UInt8]? {
        do throws(SystemError) {
            return try Syscalls.readFile(path, upTo: 64 << 10)
        } catch {
            guard error.isNoSuchFile else { throw TLSError(.file, path, error.reason) }
            return nil
        }
    }

    /// Writes a file that only the owner can read, atomically, and creates the folder if necessary.
    /// - Parameter replaces: whether an existing file is replaced; otherwise it stays.
    private static func store(
        _ bytes: [UInt8], _ path: String, in folder: String, replaces: Bool
    ) throws(TLSError) {
        do throws(SystemError) {
            try Syscalls.createFolders(folder)
            try Syscalls.storeFile(path, bytes, replaces: replaces)
        } catch {
            guard replaces || !error.isTaken else { return }
            throw TLSError(.file, path, error.reason)
        }
    }
}

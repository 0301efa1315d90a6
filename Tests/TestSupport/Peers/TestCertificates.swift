internal import ToolkitSystem

/// Certificates for tests: an authority and the certificates that it has issued. They are made by
/// openssl and valid for two days by default.
package final class TestCertificates: Sendable {
    /// A certificate and its key, as PEM files.
    package struct Identity: Sendable {
        /// The path of the certificate.
        package let certificate: String
        /// The path of the private key.
        package let key: String
    }

    /// The authority, which clients need to trust the issued certificates.
    package let authority: Identity
    private let folder: ServerDirectory
    private let issued = Locked<[String: Identity]>([:])

    /// Makes an authority.
    /// - Parameter name: its common name.
    package init(authority name: String = "Authority of tests") async throws {
        folder = try ServerDirectory()
        authority = Identity(certificate: folder.path("ca.pem"), key: folder.path("ca.key"))
        try await Self.openssl([
            "req", "-x509", "-new", "-key", try await Self.key(authority.key), "-subj",
            "/CN=\(name)", "-days", "2", "-out", authority.certificate,
        ])
    }

    /// The certificate for some names, made at the first call.
    /// - Parameters:
    ///   - names: its names, such as `a.test` or `127.0.0.2`; the first one is its common name.
    ///   - days: how many days it is valid; 0 or less for an expired one.
    package func identity(for names: String..., days: Int = 2) async throws -> Identity {
        let id = names.joined(separator: "+") + ".\(days)"
        if let known = issued.withLock({ $0[id] }) { return known }
        let number = issued.withLock { $0.count }
        let files = ["key", "csr", "ext", "pem"].map { folder.path("\(number).\($0)") }
        let entries = names.map { name in
            let isAddress = name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." }
            return (isAddress ? "IP:" : "DNS:") + name
        }
        let extensions = "subjectAltName=\(entries.joined(separator: ","))\n"
        try folder.write("\(number).ext", Array(extensions.utf8))
        try await Self.openssl([
            "req", "-new", "-key", try await Self.key(files[0]), "-subj", "/CN=\(names[0])",
            "-out", files[1],
        ])
        try await Self.openssl([
            "x509", "-req", "-in", files[1], "-CA", authority.certificate, "-CAkey",
            authority.key, "-set_serial", "\(number + 2)", "-days", "\(days)", "-extfile",
            files[2], "-out", files[3],
        ])
        let identity = Identity(certificate: files[3], key: files[0])
        issued.withLock { $0[id] = identity }
        return identity
    }

    /// The SHA-256 of a certificate's public key in Base64, as clients pin it (RFC 7469 section
    /// 2.4).
    package static func pin(of identity: Identity) async throws -> String {
        let script = """
            openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform der |
                openssl dgst -sha256 -binary | openssl base64
            """
        let result = try await Program.run("sh", ["-c", script, identity.certificate])
        guard result.status == 0, result.output.count == 45 else {
            throw Program.Failure(result.complaints)
        }
        return String(result.text.dropLast())
    }

    /// Makes a key, and returns its path.
    private static func key(_ path: String) async throws -> String {
        try await openssl([
            "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path,
        ])
        return path
    }

    private static func openssl(_ arguments: [String]) async throws {
        let result = try await Program.run("openssl", arguments)
        guard result.status == 0 else { throw Program.Failure(result.complaints) }
    }
}

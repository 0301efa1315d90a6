/// How a server encrypts its connections.
///
/// ```swift
/// let tls = try TLSContext(
///     TLSConfiguration(certificates: [.files(chain: "site.pem", key: "site.key")]))
/// let configuration = ServerConfiguration(
///     endpoints: [.tcp(host: "*", port: 8443).secured(by: tls)])
/// ```
public struct TLSConfiguration: Sendable {
    /// The oldest version of TLS that is spoken.
    public enum Version: Hashable, Sendable, CaseIterable {
        /// TLS 1.2 (RFC 5246), with forward secrecy and authenticated encryption alone.
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// Whether clients are asked for a certificate.
    public enum ClientAuthentication: Sendable {
        /// They are not.
        case none
        /// A client may show one, which must be signed by one of these authorities (PEM);
        /// `Request.identity` names its subject then.
        case optional(authorities: TLSMaterial)
        /// A client without a certificate of these authorities (PEM) is refused in the handshake.
        case required(authorities: TLSMaterial)
    }

    /// The answer to HTTP without TLS on a port for TLS. It never reaches a handler.
    public enum PlainRequests: Hashable, Sendable {
        /// 400, with a sentence.
        case refuse
        /// GET and HEAD are redirected to the same URL with `https` (308), others refused.
        case redirect
    }

    /// The certificates. A client that asks for a host name (SNI, RFC 6066 section 3) gets the one
    /// with that name, else one with a wildcard for its first label, else the first.
    public var certificates: [TLSCertificate]
    /// The oldest version of TLS that is spoken.
    public var minimumVersion = Version.tls12
    /// Whether clients are asked for a certificate.
    public var clientAuthentication = ClientAuthentication.none
    /// The answer to HTTP without TLS.
    public var plainRequests = PlainRequests.refuse
    /// The ciphers of TLS 1.2, by OpenSSL's names.
    public var ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// The ciphers of TLS 1.3, by OpenSSL's names, the preferred one first.
    ///
    /// AES-128 with SHA-256 comes first: a handshake takes some 7 % less time than with SHA-384.
    public var cipherSuites =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// The file of the keys that encrypt session tickets, for servers that share them: three keys
    /// of 80 bytes, the newest first. `nil` keeps the keys in memory, where a new one replaces the
    /// oldest every eight hours.
    public var ticketKeyFile: String?

    /// Creates a configuration.
    /// - Parameter certificates: at least one.
    public init(certificates: [TLSCertificate]) {
        self.certificates = certificates
    }
}

/// Text in PEM form (RFC 7468): a file that is read again at each reload, or bytes.
public enum TLSMaterial: Hashable, Sendable {
    /// A file.
    case file(String)
    /// The text itself.
    case bytes([UInt8])
}

/// A certificate with its chain, and its private key.
public struct TLSCertificate: Hashable, Sendable {
    /// The server's certificate, and those that lead to an authority, in this order.
    public var chain: TLSMaterial
    /// The private key, without a passphrase.
    public var key: TLSMaterial

    /// Creates a pair.
    public init(chain: TLSMaterial, key: TLSMaterial) {
        self.chain = chain
        self.key = key
    }

    /// A pair of two PEM files, as certbot and mkcert write them.
    public static func files(chain: String, key: String) -> Self {
        Self(chain: .file(chain), key: .file(key))
    }
}

/// How servers are authenticated, and how the client authenticates to them.
public struct TLSOptions: Sendable, Hashable {
    /// The source of a certificate or key.
    public enum Source: Sendable, Hashable {
        /// The path of a PEM file.
        case file(String)
        /// PEM text.
        case pem([UInt8])
    }

    /// The client's certificate and private key.
    public struct ClientCertificate: Sendable, Hashable {
        /// The certificate, followed by the intermediate certificates up to an authority.
        public var certificate: Source
        /// The private key of the certificate.
        public var key: Source
        /// The password of the key; nil for none.
        public var password: String?

        /// Creates a client certificate.
        public init(certificate: Source, key: Source, password: String? = nil) {
            self.certificate = certificate
            self.key = key
            self.password = password
        }
    }

    /// Versions of TLS.
    public enum Version: Sendable, Hashable {
        /// TLS 1.2.
        case tls12
        /// TLS 1.3.
        case tls13
    }

    /// The trusted authorities; nil for the system's.
    public var authorities: Source?
    /// The certificate for servers that ask for one. It is sent only to the origin of the task's
    /// first URL.
    public var clientCertificate: ClientCertificate?
    /// Digests of public keys: SHA-256 of the SubjectPublicKeyInfo in Base64 (RFC 7469 section
    /// 2.4). The server's key must match one of them. Empty to accept any key.
    public var pinnedKeys: [String]
    /// The lowest accepted version of TLS.
    public var minimumVersion: Version
    /// Whether the server's certificate is checked. Without the check, anyone can pose as the
    /// server.
    public var verifiesServer: Bool

    /// Creates options; by default the system's authorities and TLS 1.2.
    public init(
        authorities: Source? = nil, clientCertificate: ClientCertificate? = nil,
        pinnedKeys: [String] = [], minimumVersion: Version = .tls12, verifiesServer: Bool = true
    ) {
        self.authorities = authorities
        self.clientCertificate = clientCertificate
        self.pinnedKeys = pinnedKeys
        self.minimumVersion = minimumVersion
        self.verifiesServer = verifiesServer
    }
}

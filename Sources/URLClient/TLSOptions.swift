/// How servers are authenticated, and the client to them.
public struct TLSOptions: Sendable, Hashable {
    /// Certificates and keys come as files or as bytes.
    public enum Source: Sendable, Hashable {
        /// The path of a PEM file.
        case file(String)
        /// PEM text.
        case pem([UInt8])
    }

    /// The certificate for a server that asks for one, and its key.
    public struct ClientCertificate: Sendable, Hashable {
        /// The certificate, and those that lead to an authority.
        public var certificate: Source
        /// Its private key.
        public var key: Source
        /// The password of the key.
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

    /// The authorities that are trusted; nil for the system's.
    public var authorities: Source?
    /// The certificate for a server that asks for one. It is sent only to the origin of the task's
    /// first URL.
    public var clientCertificate: ClientCertificate?
    /// Digests of public keys, one of which the server's must have: SHA-256 of the
    /// SubjectPublicKeyInfo in Base64 (RFC 7469 section 2.4). Empty for any key.
    public var pinnedKeys: [String]
    /// The lowest version that is spoken.
    public var minimumVersion: Version
    /// Whether the certificate is checked at all. Without it anybody can be the server.
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

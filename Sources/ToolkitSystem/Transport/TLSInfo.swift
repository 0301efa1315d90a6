/// How a connection is encrypted (RFC 8446), as agreed on in its handshake.
public struct TLSInfo: Hashable, Sendable {
    /// The version, such as `TLSv1.3`.
    public var version: String
    /// The cipher suite by its registered name, such as `TLS_AES_256_GCM_SHA384`.
    public var cipher: String
    /// The host name that the client asked for (SNI, RFC 6066 section 3); `nil` without one.
    public var serverName: String?
    /// The protocol agreed on by ALPN (RFC 7301), such as `http/1.1`; `nil` without one.
    public var applicationProtocol: String?
    /// The client's verified certificate; `nil` without one.
    public var peerCertificate: PeerCertificate?
    /// Whether a session of an earlier connection was resumed.
    public var isResumed: Bool

    /// Creates the description of an encrypted connection.
    public init(
        version: String, cipher: String, serverName: String? = nil,
        applicationProtocol: String? = nil, peerCertificate: PeerCertificate? = nil,
        isResumed: Bool = false
    ) {
        self.version = version
        self.cipher = cipher
        self.serverName = serverName
        self.applicationProtocol = applicationProtocol
        self.peerCertificate = peerCertificate
        self.isResumed = isResumed
    }
}

/// The certificate by which a client has identified itself (RFC 5280).
public struct PeerCertificate: Hashable, Sendable {
    /// The subject in the form of RFC 4514, such as `CN=alice,O=Example`.
    public var subject: String
    /// The common name of the subject; `nil` without one.
    public var commonName: String?
    /// The issuer in the form of RFC 4514.
    public var issuer: String
    /// The serial number in hexadecimal digits.
    public var serialNumber: String
    /// The whole certificate (DER); empty where only a proxy has seen it.
    public var encoded: [UInt8]

    /// Creates the description of a certificate.
    public init(
        subject: String, commonName: String? = nil, issuer: String = "", serialNumber: String = "",
        encoded: [UInt8] = []
    ) {
        self.subject = subject
        self.commonName = commonName
        self.issuer = issuer
        self.serialNumber = serialNumber
        self.encoded = encoded
    }
}

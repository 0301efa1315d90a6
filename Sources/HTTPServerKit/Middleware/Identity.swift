internal import HTTPCodecs
public import HTTPServerCore

/// A scheme of authentication (RFC 9110 section 11.1).
public enum AuthenticationScheme: String, Hashable, Sendable, CaseIterable {
    /// Name and password in clear text (RFC 7617): use it on connections that cannot be overheard.
    case basic = "Basic"
    /// A hash of password, request and a number of the server's (RFC 7616).
    case digest = "Digest"
    /// A certificate that the client has shown in the handshake (RFC 8446 section 4.4.2). No challenge
    /// asks for it.
    case certificate = "Certificate"
}

/// The authenticated sender of a request. Names are equal if their bytes are: accounts of other
/// spellings in Unicode are other users.
public struct Identity: Hashable, Sendable {
    /// The name of the user, as the account has it.
    public var name: String
    /// By which scheme it was proved; `nil` when a handler of the program's own has done it.
    public var scheme: AuthenticationScheme?

    /// Creates an identity; custom authentication handlers call this.
    /// - Parameters:
    ///   - name: the name of the user.
    ///   - scheme: by which scheme it was proved.
    public init(name: String, scheme: AuthenticationScheme? = nil) {
        self.name = name
        self.scheme = scheme
    }

    /// Whether name and scheme are the same.
    public static func == (left: Identity, right: Identity) -> Bool {
        left.name.hasBytes(of: right.name) && left.scheme == right.scheme
    }

    /// Hashes name and scheme.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(byte) }
        hasher.combine(scheme)
    }
}

private enum IdentityKey: RequestKey { typealias Value = Identity }

extension Request {
    /// The authenticated sender; `nil` for one who is not known.
    ///
    /// `AuthenticationHandler` sets it, and so may a handler that authenticates in a way of its
    /// own; the access log shows the name. Until then it is the common name, else the subject, of the
    /// client's verified certificate.
    public var identity: Identity? {
        get {
            if let identity = self[IdentityKey.self] { return identity }
            guard let certificate = connection.security?.peerCertificate else { return nil }
            let name = certificate.commonName ?? certificate.subject
            return name.isEmpty ? nil : Identity(name: name, scheme: .certificate)
        }
        nonmutating set { self[IdentityKey.self] = newValue }
    }
}

extension AccessRecord {
    /// The authenticated sender: the name in `Request.identity`.
    public var user: String? { request?.identity?.name }
}

internal import HTTPCodecs
public import HTTPServerCore

/// A scheme of authentication (RFC 9110 section 11.1).
public enum AuthenticationScheme: String, Hashable, Sendable, CaseIterable {
    /// Name and password in clear text (RFC 7617): use it only over TLS or another secure channel.
    case basic = "Basic"
    /// A hash of the password, the request and a nonce of the server (RFC 7616).
    case digest = "Digest"
    /// The client's certificate in the TLS handshake (RFC 8446 section 4.4.2). HTTP has no
    /// challenge for it.
    case certificate = "Certificate"
}

/// The authenticated sender of a request. Names are compared byte by byte: different Unicode
/// spellings of a name are different users.
public struct Identity: Hashable, Sendable {
    /// The name of the user, spelled as in the account.
    public var name: String
    /// The scheme that authenticated the user; `nil` for a custom handler.
    public var scheme: AuthenticationScheme?

    /// Creates an identity; custom authentication handlers call this.
    /// - Parameters:
    ///   - name: the name of the user.
    ///   - scheme: the scheme that authenticated the user.
    public init(name: String, scheme: AuthenticationScheme? = nil) {
        self.name = name
        self.scheme = scheme
    }

    /// Whether name and scheme are the same.
    public static func == (left: Identity, right: Identity) -> Bool {
        UserKey(left.name) == UserKey(right.name) && left.scheme == right.scheme
    }

    /// Hashes name and scheme.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(UserKey(name))
        hasher.combine(scheme)
    }
}

/// The user of a request, as a key of tables. Names are equal only if their bytes are.
package struct UserKey: Hashable, Sendable {
    private let name: String?

    /// - Parameter name: the name of the user; `nil` without a user.
    package init(_ name: String?) { self.name = name }

    package static func == (left: UserKey, right: UserKey) -> Bool {
        guard let name = left.name, let other = right.name else {
            return left.name == nil && right.name == nil
        }
        return name.hasBytes(of: other)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name == nil)
        name?.hashBytes(into: &hasher)
    }
}

private enum IdentityKey: RequestKey { typealias Value = Identity }

extension Request {
    /// The authenticated sender; `nil` if the sender is unknown.
    ///
    /// `AuthenticationHandler` sets it, and a custom authentication handler may set it. If none
    /// has, it is the common name, else the subject, of the client's verified certificate. The
    /// access log shows the name.
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

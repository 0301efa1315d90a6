/// A credential with which a client authenticates.
public enum ClientCredential: Sendable, Hashable {
    /// User name and password for Basic and Digest. For Basic, the name must not contain a colon.
    case password(user: String, password: String)
    /// A token for Bearer.
    case token(String)
}

extension ClientCredential: CustomStringConvertible {
    /// The kind and the user; secrets are not shown.
    public var description: String {
        switch self {
        case .password(let user, _): "password of \(user)"
        case .token: "token"
        }
    }
}

/// A protection space: the requests for which a credential is valid (RFC 9110 section 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    /// An authentication scheme.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// RFC 7617.
        case basic
        /// RFC 7616.
        case digest
        /// RFC 6750.
        case bearer
    }

    /// Scheme, host and port of the server, or of the proxy.
    public let origin: Origin
    /// The server's name for the space; empty if the challenge has none.
    public let realm: String
    /// The authentication scheme.
    public let scheme: Scheme
    /// Whether a proxy asks for the credential, and not the server.
    public let isProxy: Bool

    /// Creates a space.
    /// - Parameters:
    ///   - origin: scheme, host and port of the server, or of the proxy.
    ///   - realm: the server's name for the space.
    ///   - scheme: the authentication scheme.
    ///   - isProxy: whether a proxy asks.
    public init(origin: Origin, realm: String, scheme: Scheme, isProxy: Bool = false) {
        (self.origin, self.realm, self.scheme, self.isProxy) = (origin, realm, scheme, isProxy)
    }
}

/// A server's request for credentials.
public struct ClientChallenge: Sendable {
    /// The protection space that the credential is for.
    public let space: ProtectionSpace
    /// The request's own credential or a stored one, unless it was refused.
    public let proposed: ClientCredential?
    /// How many credentials the server, or the proxy, has refused for this task.
    public let failureCount: Int
    /// The response with the challenge.
    public let response: ClientResponse
}

/// The answer to a challenge.
public enum ChallengeAnswer: Sendable, Hashable {
    /// Sends the credential, and stores it for the protection space if `remembers`.
    case use(ClientCredential, remembers: Bool = true)
    /// Sends the proposed credential; without one, the same as ``reject``.
    case useProposed
    /// Does not answer this challenge. If the response has no other one, it is delivered.
    case reject
    /// Cancels the task.
    case cancel
}

/// How a session authenticates.
public struct AuthenticationOptions: Sendable {
    /// The stored credentials. It also keeps those with which the application answers challenges.
    public var credentials: CredentialStorage
    /// Called for a credential when a server or a proxy asks for one. If nil, the task's delegate
    /// is asked; without a delegate, stored credentials are used.
    public var challenge: (@Sendable (ClientChallenge) async -> ChallengeAnswer)?
    /// The source of tokens for Bearer.
    public var bearer: BearerAuthentication?
    /// How many credentials are tried for one request, at least 0.
    public var attemptLimit = 3
    /// Whether challenges of Basic and Bearer are answered without TLS, where everyone on the
    /// network path can read the credential.
    public var allowsBasicWithoutTLS = true

    /// Creates options.
    /// - Parameter credentials: the storage of credentials.
    public init(credentials: CredentialStorage = CredentialStorage()) {
        self.credentials = credentials
    }
}

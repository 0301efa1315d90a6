/// With what a client says who it is.
public enum ClientCredential: Sendable, Hashable {
    /// Name and password of Basic and Digest. The name has no colon where Basic is used.
    case password(user: String, password: String)
    /// A token of Bearer.
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

/// Where a credential holds (RFC 9110 section 11.5).
public struct ProtectionSpace: Sendable, Hashable {
    /// How somebody authenticates.
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
    /// The server's name for the space; empty where it gives none.
    public let realm: String
    /// How somebody authenticates.
    public let scheme: Scheme
    /// Whether a proxy asks, and not the server.
    public let isProxy: Bool

    /// Creates a space.
    /// - Parameters:
    ///   - origin: scheme, host and port of the server, or of the proxy.
    ///   - realm: what the server calls the space.
    ///   - scheme: how somebody authenticates.
    ///   - isProxy: whether a proxy asks.
    public init(origin: Origin, realm: String, scheme: Scheme, isProxy: Bool = false) {
        (self.origin, self.realm, self.scheme, self.isProxy) = (origin, realm, scheme, isProxy)
    }
}

/// A server's request for credentials.
public struct ClientChallenge: Sendable {
    /// Where the credential would hold.
    public let space: ProtectionSpace
    /// A credential that is stored and was not refused yet.
    public let proposed: ClientCredential?
    /// How many credentials were refused for this task.
    public let failureCount: Int
    /// The response that asks.
    public let response: ClientResponse
}

/// The answer to a challenge.
public enum ChallengeAnswer: Sendable, Hashable {
    /// The credential is sent, and stored for the protection space if `remembers`.
    case use(ClientCredential, remembers: Bool = true)
    /// The proposed credential is sent; without one the response is the answer.
    case useProposed
    /// The response is the answer.
    case reject
    /// The task is cancelled.
    case cancel
}

/// How a session authenticates.
public struct AuthenticationOptions: Sendable {
    /// The credentials to begin with, and where those are kept that the application gives.
    public var credentials: CredentialStorage
    /// Asked for a credential when a server wants one; nil for those that are stored.
    public var challenge: (@Sendable (ClientChallenge) async -> ChallengeAnswer)?
    /// Where tokens come from.
    public var bearer: BearerAuthentication?
    /// How many credentials are tried for one request, at least 0.
    public var attemptLimit = 3
    /// Whether Basic is used without TLS, where everybody on the way can read the password.
    public var allowsBasicWithoutTLS = true

    /// Creates options.
    /// - Parameter credentials: the credentials to begin with.
    public init(credentials: CredentialStorage = CredentialStorage()) {
        self.credentials = credentials
    }
}

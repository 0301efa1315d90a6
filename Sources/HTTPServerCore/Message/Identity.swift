/// A scheme of authentication (RFC 9110 section 11.1).
public enum AuthenticationScheme: String, Hashable, Sendable, CaseIterable {
    /// Name and password in clear text (RFC 7617): use it on connections that cannot be overheard.
    case basic = "Basic"
    /// A hash of password, request and a number of the server's (RFC 7616).
    case digest = "Digest"
}

/// The authenticated sender of a request.
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
}

private enum IdentityKey: RequestKey { typealias Value = Identity }

extension Request {
    /// The authenticated sender; `nil` before authentication.
    ///
    /// `AuthenticationHandler` sets it, and so may a handler that authenticates in a way of its
    /// own; the access log shows the name.
    public var identity: Identity? {
        get { self[IdentityKey.self] }
        nonmutating set { self[IdentityKey.self] = newValue }
    }
}

internal import HTTPCodecs

/// Credentials by the space in which they hold, in memory. It may be used from everywhere.
public final class CredentialStorage: Sendable {
    private struct Table {
        var spaces: [ProtectionSpace: ClientCredential] = [:]
        var origins: [Origin: ClientCredential] = [:]
    }

    private let table = Locked(Table())

    /// Creates an empty storage.
    public init() {}

    /// Stores a credential for one space, or removes it.
    /// - Parameters:
    ///   - credential: the credential; nil to remove it.
    ///   - space: where it holds.
    public func set(_ credential: ClientCredential?, for space: ProtectionSpace) {
        table.withLock { $0.spaces[space] = credential }
    }

    /// Stores a credential for whatever space an origin has, or removes it.
    /// - Parameters:
    ///   - credential: the credential; nil to remove it.
    ///   - origin: scheme, host and port.
    public func set(_ credential: ClientCredential?, for origin: Origin) {
        table.withLock { $0.origins[origin] = credential }
    }

    /// The credential of a space, or else that of its origin.
    public func credential(for space: ProtectionSpace) -> ClientCredential? {
        table.withLock { table in
            if let credential = table.spaces[space] { return credential }
            guard !space.isProxy, let credential = table.origins[space.origin] else { return nil }
            return credential.fits(space.scheme) ? credential : nil
        }
    }

    /// Removes all.
    public func removeAll() { table.withLock { $0 = Table() } }
}

extension ClientCredential {
    /// Whether it is of the kind that a scheme takes.
    func fits(_ scheme: ProtectionSpace.Scheme) -> Bool {
        switch self {
        case .password: scheme != .bearer
        case .token: scheme == .bearer
        }
    }
}

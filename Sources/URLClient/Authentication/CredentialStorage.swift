internal import HTTPCodecs
internal import ToolkitSystem

/// Credentials in memory, by protection space or origin. Any thread may use it.
public final class CredentialStorage: Sendable {
    private struct Table {
        var spaces: [ProtectionSpace: ClientCredential] = [:]
        var origins: [Origin: ClientCredential] = [:]
        /// Changes are numbered. The numbers of the latest change, of each origin's last change,
        /// and of the last `removeAll`.
        var changeCount: UInt64 = 0
        var changes: [Origin: UInt64] = [:]
        var clearing: UInt64 = 0

        mutating func noteChange(of origin: Origin) {
            changeCount += 1
            changes[origin] = changeCount
        }
    }

    private let table = Locked(Table())

    /// Creates an empty storage.
    public init() {}

    /// Stores a credential for one protection space, or removes it.
    ///
    /// The next request is sent with this credential, or without any: sessions forget what earlier
    /// challenges have taught them about the origin.
    /// - Parameters:
    ///   - credential: the credential; nil to remove it.
    ///   - space: the space that the credential is for.
    public func set(_ credential: ClientCredential?, for space: ProtectionSpace) {
        table.withLock { table in
            table.spaces[space] = credential
            table.noteChange(of: space.origin)
        }
    }

    /// Stores a credential for all spaces of an origin, or removes it, with the same effects as
    /// ``set(_:for:)-(_,ProtectionSpace)``.
    /// - Parameters:
    ///   - credential: the credential; nil to remove it.
    ///   - origin: scheme, host and port.
    public func set(_ credential: ClientCredential?, for origin: Origin) {
        table.withLock { table in
            table.origins[origin] = credential
            table.noteChange(of: origin)
        }
    }

    /// The credential of a space, or else that of its origin if the scheme accepts it. A proxy's
    /// space uses no credential of an origin.
    public func credential(for space: ProtectionSpace) -> ClientCredential? {
        table.withLock { table in
            if let credential = table.spaces[space] { return credential }
            guard !space.isProxy, let credential = table.origins[space.origin] else { return nil }
            return credential.fits(space.scheme) ? credential : nil
        }
    }

    /// Removes all credentials. Sessions also forget what earlier challenges have taught them: the
    /// next request is sent without a credential.
    public func removeAll() {
        table.withLock { table in
            (table.spaces, table.origins, table.changes) = ([:], [:], [:])
            table.changeCount += 1
            table.clearing = table.changeCount
        }
    }

    /// A number that changes whenever a credential of the origin may have changed.
    package func revision(of origin: Origin) -> UInt64 {
        table.withLock { $0.changes[origin] ?? $0.clearing }
    }
}

extension ClientCredential {
    /// Whether the scheme takes this kind of credential.
    func fits(_ scheme: ProtectionSpace.Scheme) -> Bool {
        switch self {
        case .password: scheme != .bearer
        case .token: scheme == .bearer
        }
    }
}

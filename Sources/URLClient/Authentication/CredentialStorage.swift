internal import HTTPCodecs
internal import ToolkitSystem

/// Credentials by the space in which they hold, in memory. It may be used from everywhere.
public final class CredentialStorage: Sendable {
    private struct Table {
        var spaces: [ProtectionSpace: ClientCredential] = [:]
        var origins: [Origin: ClientCredential] = [:]
        /// Counts changes; the last one of each origin, and the last that concerned them all.
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

    /// Stores a credential for one space, or removes it.
    ///
    /// The next request is sent with it, or without any: what sessions have learnt of the origin from
    /// answers to challenges is forgotten.
    /// - Parameters:
    ///   - credential: the credential; nil to remove it.
    ///   - space: where it holds.
    public func set(_ credential: ClientCredential?, for space: ProtectionSpace) {
        table.withLock { table in
            table.spaces[space] = credential
            table.noteChange(of: space.origin)
        }
    }

    /// Stores a credential for whatever space an origin has, or removes it. The same holds as for
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

    /// The credential of a space, or else that of its origin.
    public func credential(for space: ProtectionSpace) -> ClientCredential? {
        table.withLock { table in
            if let credential = table.spaces[space] { return credential }
            guard !space.isProxy, let credential = table.origins[space.origin] else { return nil }
            return credential.fits(space.scheme) ? credential : nil
        }
    }

    /// Removes all, and with it what sessions have learnt from answers to challenges: the next
    /// request goes out without a credential.
    public func removeAll() {
        table.withLock { table in
            (table.spaces, table.origins, table.changes) = ([:], [:], [:])
            table.changeCount += 1
            table.clearing = table.changeCount
        }
    }

    /// Changes whenever something about an origin does.
    package func revision(of origin: Origin) -> UInt64 {
        table.withLock { $0.changes[origin] ?? $0.clearing }
    }
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

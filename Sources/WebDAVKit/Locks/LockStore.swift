/// Stores WebDAV locks. Expired locks are never returned.
public protocol LockStore: Sendable {
    /// Adds a lock, if no other lock conflicts.
    /// - Returns: the lock, with its expiry set.
    /// - Throws: `WebDAVError` with 423 and the roots of the conflicting locks, 503 when there are
    ///   too many, or when they would take too much memory.
    func add(_ lock: ActiveLock) async throws -> ActiveLock

    /// Restarts the timeout of a lock.
    /// - Parameters:
    ///   - token: the token of the lock.
    ///   - timeout: the seconds from now until the lock expires.
    /// - Returns: the lock; `nil` when it has expired or was removed.
    func refresh(_ token: LockToken, timeout: Int) async throws -> ActiveLock?

    /// Removes a lock, if it still exists.
    func remove(_ token: LockToken) async throws

    /// The locks that cover a resource and, with `isTree`, the locks on anything inside of it.
    func locks(on path: ResourcePath, andInside isTree: Bool) async throws -> [ActiveLock]

    /// Removes the locks whose roots are inside of a path.
    /// - Parameters:
    ///   - path: the removed resource.
    ///   - includingRoot: whether locks on the path itself are removed, too.
    func removeAll(inside path: ResourcePath, includingRoot: Bool) async throws
}

/// A lock store that never waits.
protocol ImmediateLockStore: LockStore {
    /// Whether a change never waits; `false` if changes are also written to a file.
    var changesAtOnce: Bool { get }

    /// As ``LockStore/add(_:)``.
    func addNow(_ lock: ActiveLock) throws(WebDAVError) -> ActiveLock

    /// Removes a lock, if it still exists and `isWanted` returns true for it.
    /// - Returns: whether it was removed.
    func removeNow(_ token: LockToken, where isWanted: (ActiveLock) -> Bool) -> Bool

    /// As ``LockStore/locks(on:andInside:)``.
    func locksNow(on path: ResourcePath, andInside isTree: Bool) -> [ActiveLock]
}

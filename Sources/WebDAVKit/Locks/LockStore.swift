/// Stores WebDAV locks. Expired locks are never returned.
public protocol LockStore: Sendable {
    /// Adds a lock, if no other one conflicts.
    /// - Returns: the lock, with the time of its end.
    /// - Throws: `WebDAVError` with 423 and the roots of the conflicting locks, 503 when there are
    ///   too many, or when they would take too much memory.
    func add(_ lock: ActiveLock) async throws -> ActiveLock

    /// Restarts the timeout of a lock.
    /// - Parameters:
    ///   - token: its name.
    ///   - timeout: the seconds that it lasts from now on.
    /// - Returns: the lock; `nil` when it has expired or was removed.
    func refresh(_ token: LockToken, timeout: Int) async throws -> ActiveLock?

    /// Removes a lock, if it still exists.
    func remove(_ token: LockToken) async throws

    /// The locks on a resource and, with a tree, the locks on anything inside of it.
    func locks(on path: ResourcePath, andInside isTree: Bool) async throws -> [ActiveLock]

    /// Removes the locks whose roots are inside of a path.
    /// - Parameters:
    ///   - path: the removed resource.
    ///   - includingRoot: whether locks on the path itself are removed, too.
    func removeAll(inside path: ResourcePath, includingRoot: Bool) async throws
}

/// A lock store that never waits.
protocol ImmediateLockStore: LockStore {
    /// Whether changes are made at once; `false` when they also go to a file.
    var changesAtOnce: Bool { get }

    /// As ``LockStore/add(_:)``.
    func addNow(_ lock: ActiveLock) throws(WebDAVError) -> ActiveLock

    /// Removes a lock, if it still exists and `isWanted` says so.
    /// - Returns: whether it was removed.
    func removeNow(_ token: LockToken, where isWanted: (ActiveLock) -> Bool) -> Bool

    /// As ``LockStore/locks(on:andInside:)``.
    func locksNow(on path: ResourcePath, andInside isTree: Bool) -> [ActiveLock]
}

/// Stores WebDAV locks. Expired locks are never returned.
public protocol LockStore: Sendable {
    /// Keeps a new lock, if no other is in the way.
    /// - Returns: the lock, with the time of its end.
    /// - Throws: `WebDAVError` with 423 and the roots of the locks in the way, 503 when there are
    ///   too many.
    func add(_ lock: ActiveLock) async throws -> ActiveLock

    /// Restarts the timeout of a lock.
    /// - Parameters:
    ///   - token: its name.
    ///   - timeout: how many seconds it is to be held from now on.
    /// - Returns: the lock; `nil` when it is no more.
    func refresh(_ token: LockToken, timeout: Int) async throws -> ActiveLock?

    /// Gives up a lock, which may be gone already.
    func remove(_ token: LockToken) async throws

    /// The locks on a resource and, with a tree, the locks on anything inside of it.
    func locks(on path: ResourcePath, andInside isTree: Bool) async throws -> [ActiveLock]

    /// Gives up the locks whose roots are inside of a path.
    /// - Parameters:
    ///   - path: the resource that is no more.
    ///   - includingRoot: whether those on the path itself go, too.
    func removeAll(inside path: ResourcePath, includingRoot: Bool) async throws
}

internal import HTTPParser

/// Locks by token and by path: a value that reads no clock; callers pass the current time.
package struct LockTable: Sendable {
    private var byToken: [LockToken: ActiveLock] = [:]
    private var byRoot: [ResourcePath: [LockToken]] = [:]
    /// The roots, sorted so that the members of a collection follow it.
    private var roots: [ResourcePath] = []
    /// The roots of the deep locks.
    private var deepRoots = PathHashes()
    /// A time before which no lock expires, in seconds since the epoch.
    private var nextExpiry = Int64.max
    private let limit: Int
    /// The bytes of the roots, owners and user names of all locks.
    private var byteCount = 0
    private let byteLimit: Int
    /// The default limit of `byteCount`: 335 bytes for each of 100,000 locks. Percent-encoded, they
    /// take at most three times as many in the file of locks, which must stay short enough to be
    /// read.
    private static let standardByteLimit = 32 << 20
    /// How many shared locks one resource may have.
    private static let sharedLimit = 64

    /// - Parameters:
    ///   - limit: the most locks.
    ///   - byteLimit: the most bytes of their roots, owners and user names; `nil` for 32 MiB.
    package init(limit: Int, byteLimit: Int? = nil) {
        self.limit = limit
        self.byteLimit = byteLimit ?? Self.standardByteLimit
    }

    package var all: [ActiveLock] { roots.flatMap { byRoot[$0] ?? [] }.compactMap { byToken[$0] } }

    package mutating func add(_ lock: ActiveLock, now: Int64) throws(WebDAVError) {
        expire(now)
        let others = locks(on: lock.root, andInside: lock.isDeep)
        let inTheWay = others.filter { $0.scope == .exclusive || lock.scope == .exclusive }
        guard inTheWay.isEmpty else {
            throw WebDAVError(
                .locked, "another lock conflicts", condition: .noConflictingLock,
                locks: inTheWay)
        }
        guard byToken.count < limit else {
            throw WebDAVError(.serviceUnavailable, "there are too many locks")
        }
        guard byteCount + Self.size(of: lock) <= byteLimit else {
            throw WebDAVError(.serviceUnavailable, "the locks take too much memory")
        }
        // Every later lock is compared with these, and each is shown with the resources it covers.
        guard locks(at: lock.root).count < Self.sharedLimit,
            others.count(where: { $0.covers(lock.root) }) < 4 * Self.sharedLimit
        else {
            throw WebDAVError(
                .serviceUnavailable, "there are too many locks on this resource")
        }
        insert(lock)
    }

    /// Inserts a lock without checking for conflicts, such as one that was read from a file.
    package mutating func insert(_ lock: ActiveLock) {
        if let old = byToken.updateValue(lock, forKey: lock.token) { forget(old) }
        byteCount += Self.size(of: lock)
        if lock.isDeep { deepRoots.insert(lock.root) }
        byRoot[lock.root, default: []].append(lock.token)
        let index = roots.position(of: lock.root)
        if index == roots.count || roots[index] != lock.root { roots.insert(lock.root, at: index) }
        nextExpiry = min(nextExpiry, lock.expiry)
    }

    package mutating func refresh(
        _ token: LockToken, timeout: Int, now: Int64
    ) -> ActiveLock? {
        expire(now)
        guard var lock = byToken[token] else { return nil }
        lock.timeout = timeout
        lock.expiry = now + Int64(timeout)
        byToken[token] = lock
        nextExpiry = min(nextExpiry, lock.expiry)
        return lock
    }

    package mutating func remove(_ token: LockToken) {
        if let lock = byToken.removeValue(forKey: token) { forget(lock) }
    }

    /// Removes a lock that has not expired, if `isWanted` returns true for it.
    /// - Returns: whether it was removed.
    package mutating func remove(
        _ token: LockToken, now: Int64, where isWanted: (ActiveLock) -> Bool
    ) -> Bool {
        expire(now)
        guard let index = byToken.index(forKey: token), isWanted(byToken[index].value) else {
            return false
        }
        forget(byToken.remove(at: index).value)
        return true
    }

    /// Removes locks. For many of them, one pass over `roots` replaces a search for each.
    private mutating func remove(_ locks: [ActiveLock]) {
        var hasFreeRoots = false
        for lock in locks {
            byToken.removeValue(forKey: lock.token)
            if locks.count < 8 {
                forget(lock)
            } else if forgetToken(of: lock) {
                hasFreeRoots = true
            }
        }
        if hasFreeRoots { roots.removeAll { byRoot[$0] == nil } }
    }

    /// Removes a lock that is no longer in `byToken` from the other members.
    private mutating func forget(_ lock: ActiveLock) {
        guard forgetToken(of: lock) else { return }
        let position = roots.position(of: lock.root)
        if position < roots.count, roots[position] == lock.root { roots.remove(at: position) }
    }

    /// Removes a lock that is no longer in `byToken` from the other members, except from `roots`.
    /// - Returns: whether no other lock has its root.
    private mutating func forgetToken(of lock: ActiveLock) -> Bool {
        byteCount -= Self.size(of: lock)
        if lock.isDeep { deepRoots.remove(lock.root) }
        guard let index = byRoot.index(forKey: lock.root) else { return false }
        byRoot.values[index].removeAll { $0 == lock.token }
        guard byRoot.values[index].isEmpty else { return false }
        byRoot.remove(at: index)
        return true
    }

    package mutating func locks(
        on path: ResourcePath, andInside isTree: Bool, now: Int64
    ) -> [ActiveLock] {
        expire(now)
        return locks(on: path, andInside: isTree)
    }

    /// - Returns: the locks that were removed.
    @discardableResult
    package mutating func removeAll(
        inside path: ResourcePath, includingRoot: Bool
    ) -> [LockToken] {
        let found = inside(path).filter { includingRoot || $0.root != path }
        remove(found)
        return found.map(\.token)
    }

    private func locks(on path: ResourcePath, andInside isTree: Bool) -> [ActiveLock] {
        guard !byToken.isEmpty else { return [] }
        // The innermost first.
        let around = deepRoots.ancestors(of: path).reversed().flatMap {
            locks(at: $0).filter(\.isDeep)
        }
        return around + (isTree ? inside(path) : locks(at: path))
    }

    private static func size(of lock: ActiveLock) -> Int {
        lock.root.bytes.count + lock.owner.utf8.count + (lock.user?.utf8.count ?? 0)
    }

    private func locks(at root: ResourcePath) -> [ActiveLock] {
        (byRoot[root] ?? []).compactMap { byToken[$0] }
    }

    private func inside(_ path: ResourcePath) -> [ActiveLock] {
        roots[roots.position(of: path)...].prefix { $0.isWithin(path) }.flatMap { locks(at: $0) }
    }

    private mutating func expire(_ now: Int64) {
        guard now >= nextExpiry else { return }
        remove(byToken.values.filter { $0.expiry <= now })
        nextExpiry = byToken.values.map(\.expiry).min() ?? .max
    }
}

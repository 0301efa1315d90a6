/// A write lock on a resource, or on a collection with its whole tree (RFC 4918 section 6).
public struct ActiveLock: Hashable, Sendable {
    /// Whether other clients may hold a lock on the same resource at the same time.
    public enum Scope: String, Hashable, Sendable {
        /// No other client may hold a lock.
        case exclusive
        /// Other clients may hold shared locks.
        case shared
    }

    /// The token that clients submit to change the resource.
    public var token: LockToken
    /// The resource that was locked.
    public var root: ResourcePath
    /// Whether the root is a collection.
    public var isCollection: Bool
    /// Whether the whole tree below the root is locked, too.
    public var isDeep: Bool
    /// Whether other clients may lock the resource, too.
    public var scope: Scope
    /// The `DAV:owner` element that the client sent, as self-contained XML; empty without one.
    public var owner: String
    /// The owner of the lock; `nil` if the server requires no login.
    public var user: String?
    /// How long the lock lasts, in seconds since it was taken or refreshed.
    public var timeout: Int
    /// When the lock expires, in seconds since the epoch.
    public var expiry: Int64

    /// Creates a lock.
    public init(
        token: LockToken = .random(), root: ResourcePath, isCollection: Bool = false, isDeep: Bool,
        scope: Scope, owner: String = "", user: String? = nil, timeout: Int, expiry: Int64 = 0
    ) {
        self.isCollection = isCollection
        (self.token, self.root, self.isDeep, self.scope) = (token, root, isDeep, scope)
        (self.owner, self.user, self.timeout, self.expiry) = (owner, user, timeout, expiry)
    }

    /// Whether the lock covers a resource.
    public func covers(_ path: ResourcePath) -> Bool {
        isDeep ? path.isWithin(root) : path == root
    }
}

/// A write lock on a resource, or on a collection and all inside of it (RFC 4918 section 6).
public struct ActiveLock: Hashable, Sendable {
    /// Whether other clients may hold a lock on the same resource at the same time.
    public enum Scope: String, Hashable, Sendable {
        /// No other client.
        case exclusive
        /// Other clients with shared locks.
        case shared
    }

    /// Its token, which clients submit to change the resource.
    public var token: LockToken
    /// The resource that was locked.
    public var root: ResourcePath
    /// Whether that is a collection.
    public var isCollection: Bool
    /// Whether all inside of the root is locked, too.
    public var isDeep: Bool
    /// Whether other clients may hold one, too.
    public var scope: Scope
    /// The `DAV:owner` element that the client sent, as self-contained XML; empty without one.
    public var owner: String
    /// The owner of the lock; `nil` if the server requires no login.
    public var user: String?
    /// How long it lasts, in seconds since it was taken or refreshed.
    public var timeout: Int
    /// When it ends, in seconds since the epoch.
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

    /// Whether it locks a resource.
    public func covers(_ path: ResourcePath) -> Bool {
        isDeep ? path.isWithin(root) : path == root
    }
}

public import HTTPParser

/// The reason why a resource cannot be read or changed: a status, and the condition of RFC 4918
/// that is not met.
public struct WebDAVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Conditions that the answer names in a `DAV:error` element (RFC 4918 section 16).
    public enum Condition: String, Hashable, Sendable {
        /// A lock is in the way, whose token was not submitted.
        case lockTokenSubmitted = "lock-token-submitted"
        /// The lock would conflict with another one.
        case noConflictingLock = "no-conflicting-lock"
        /// The token is not one of a lock of this resource.
        case lockTokenMatchesRequestURI = "lock-token-matches-request-uri"
        /// The server does not list whole trees.
        case propfindFiniteDepth = "propfind-finite-depth"
        /// The property is the server's to set.
        case cannotModifyProtectedProperty = "cannot-modify-protected-property"
        /// A collection of that kind is not made here (RFC 5689 section 3.3).
        case validResourceType = "valid-resourcetype"
        /// The XML has an entity that is kept somewhere else.
        case noExternalEntities = "no-external-entities"
        /// The quota of the server is exhausted (RFC 4331 section 6).
        case quotaNotExceeded = "quota-not-exceeded"
        /// There is no room left on the disk (RFC 4331 section 6).
        case sufficientDiskSpace = "sufficient-disk-space"
    }

    /// The status.
    public var status: HTTPStatus
    /// A short text that the client sees; it must not contain secrets.
    public var reason: String
    /// The condition that is not met.
    public var condition: Condition?
    /// The conflicting resources, where the condition names some.
    public var resources: [ResourcePath]
    /// The collections among them; their paths are written with a slash at the end.
    public var collections: Set<ResourcePath>

    /// Creates an error.
    public init(
        _ status: HTTPStatus, _ reason: String = "", condition: Condition? = nil,
        resources: [ResourcePath] = [], collections: Set<ResourcePath> = []
    ) {
        self.status = status
        self.reason = reason
        self.condition = condition
        self.resources = resources
        self.collections = collections
    }

    /// An error because of locks.
    init(
        _ status: HTTPStatus, _ reason: String = "", condition: Condition, locks: [ActiveLock]
    ) {
        self.init(
            status, reason, condition: condition, resources: locks.map(\.root),
            collections: Set(locks.lazy.filter(\.isCollection).map(\.root)))
    }

    /// There is nothing: 404.
    public static var notFound: WebDAVError { WebDAVError(.notFound) }
    /// It is not allowed: 403.
    public static var forbidden: WebDAVError { WebDAVError(.forbidden) }
    /// The destination has a resource that must not be replaced: 412 (RFC 4918 section 10.6).
    public static var taken: WebDAVError { WebDAVError(.preconditionFailed) }
    /// The collection around it is missing: 409.
    public static var noParent: WebDAVError {
        WebDAVError(.conflict, "the parent collection does not exist")
    }
    /// There is no room left: 507.
    public static var storageFull: WebDAVError {
        WebDAVError(
            .insufficientStorage, "there is no room left", condition: .sufficientDiskSpace)
    }
    /// No more room may be used: 507.
    public static var quotaExceeded: WebDAVError {
        WebDAVError(
            .insufficientStorage, "no more room may be used", condition: .quotaNotExceeded)
    }

    /// Status and reason.
    public var description: String {
        reason.isEmpty ? status.description : "\(status): \(reason)"
    }
}

/// A resource inside of a tree with which an operation on the tree did not succeed.
public struct ResourceFailure: Hashable, Sendable {
    /// Which one.
    public var path: ResourcePath
    /// Why.
    public var error: WebDAVError

    /// Creates a failure.
    public init(_ path: ResourcePath, _ error: WebDAVError) {
        self.path = path
        self.error = error
    }
}

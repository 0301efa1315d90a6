public import HTTPParser

/// The reason why a resource cannot be read or changed: a status, and the condition of RFC 4918
/// that is not met.
public struct WebDAVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Conditions that the answer names in a `DAV:error` element (RFC 4918 section 16).
    public enum Condition: String, Hashable, Sendable {
        /// The resource is locked, and the token of the lock was not submitted.
        case lockTokenSubmitted = "lock-token-submitted"
        /// The lock would conflict with another one.
        case noConflictingLock = "no-conflicting-lock"
        /// No lock with the token covers this resource.
        case lockTokenMatchesRequestURI = "lock-token-matches-request-uri"
        /// The server does not list whole trees.
        case propfindFiniteDepth = "propfind-finite-depth"
        /// Only the server may set the property.
        case cannotModifyProtectedProperty = "cannot-modify-protected-property"
        /// The server cannot create a collection of this type (RFC 5689 section 3.3).
        case validResourceType = "valid-resourcetype"
        /// The XML has a document type, which could refer to external entities.
        case noExternalEntities = "no-external-entities"
        /// The quota of the server is exhausted (RFC 4331 section 6).
        case quotaNotExceeded = "quota-not-exceeded"
        /// The disk is full (RFC 4331 section 6).
        case sufficientDiskSpace = "sufficient-disk-space"
    }

    /// The status.
    public var status: HTTPStatus
    /// A short text that the client sees; it must not contain secrets.
    public var reason: String
    /// The condition that is not met.
    public var condition: Condition?
    /// The conflicting resources, if the condition names some.
    public var resources: [ResourcePath]
    /// The collections among `resources`; their paths are written with a slash at the end.
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

    /// The resource does not exist: 404.
    public static var notFound: WebDAVError { WebDAVError(.notFound) }
    /// The operation is not allowed: 403.
    public static var forbidden: WebDAVError { WebDAVError(.forbidden) }
    /// The destination has a resource that must not be replaced: 412 (RFC 4918 section 10.6).
    public static var taken: WebDAVError { WebDAVError(.preconditionFailed) }
    /// The parent collection is missing: 409.
    public static var noParent: WebDAVError {
        WebDAVError(.conflict, "the parent collection does not exist")
    }
    /// The store has not enough space: 507.
    public static var storageFull: WebDAVError {
        WebDAVError(
            .insufficientStorage, "there is not enough space", condition: .sufficientDiskSpace)
    }
    /// A quota is exceeded: 507.
    public static var quotaExceeded: WebDAVError {
        WebDAVError(
            .insufficientStorage, "the quota is exceeded", condition: .quotaNotExceeded)
    }

    /// Status and reason.
    public var description: String {
        reason.isEmpty ? status.description : "\(status): \(reason)"
    }
}

/// A resource for which an operation on a tree failed.
public struct ResourceFailure: Hashable, Sendable {
    /// The path of the resource.
    public var path: ResourcePath
    /// The reason of the failure.
    public var error: WebDAVError

    /// Creates a failure.
    public init(_ path: ResourcePath, _ error: WebDAVError) {
        self.path = path
        self.error = error
    }
}

/// A change or a download, as ``WebDAVOptions/shouldPerform`` and ``WebDAVOptions/didPerform`` get
/// it.
public enum WebDAVOperation: Hashable, Sendable {
    /// A file is read.
    case download(ResourcePath)
    /// A file is created, or its content is changed.
    case upload(ResourcePath)
    /// A collection is made.
    case makeCollection(ResourcePath)
    /// A resource is removed, with all members.
    case remove(ResourcePath)
    /// A resource is copied.
    case copy(ResourcePath, to: ResourcePath)
    /// A resource is moved.
    case move(ResourcePath, to: ResourcePath)
    /// Properties are changed. To make a collection with properties (RFC 5689) is a
    /// `makeCollection` as well.
    case changeProperties(ResourcePath)
    /// A lock is taken or refreshed. A lock on a missing resource creates an empty file, which is
    /// an `upload` as well.
    case lock(ResourcePath)
    /// A lock is removed.
    case unlock(ResourcePath)
}

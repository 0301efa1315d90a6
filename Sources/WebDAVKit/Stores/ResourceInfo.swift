public import HTTPParser
internal import ToolkitSystem

/// The description of a resource, which a store finds without reading the content.
public struct ResourceInfo: Hashable, Sendable {
    /// Whether the resource is a collection.
    public var isCollection: Bool
    /// The length of the content in bytes; 0 for a collection.
    public var length: Int64
    /// When the content was last changed.
    public var modified: InternetTimestamp
    /// When the resource was created; `nil` if unknown.
    public var created: InternetTimestamp?
    /// A strong tag, which changes whenever the content changes; `nil` for a collection. A store
    /// does not reuse a tag for other content, not even after a restart.
    public var entityTag: EntityTag? {
        get { tag.entityTag }
        set { tag = newValue.map { .text($0) } ?? .none }
    }
    /// The source of the tag. Its text is made only when needed, which is never for many files.
    var tag: ResourceTag
    /// The language of the content, which is part of ``content``.
    public var language: String? {
        get { content.language }
        set { content.language = newValue }
    }
    /// Media type, language and checksums that came with the content.
    public var content = ContentDescription()

    /// Creates a description.
    public init(
        isCollection: Bool, length: Int64 = 0, modified: InternetTimestamp,
        created: InternetTimestamp? = nil, entityTag: EntityTag? = nil
    ) {
        self.isCollection = isCollection
        self.length = length
        self.modified = modified
        self.created = created
        tag = entityTag.map { .text($0) } ?? .none
    }
}

/// The source of a strong tag.
enum ResourceTag: Hashable, Sendable {
    case none
    case text(EntityTag)
    /// A file of this inode and length, and when it was changed and made, in nanoseconds.
    case file(inode: UInt64, length: Int64, modified: Int64, born: Int64)

    var entityTag: EntityTag? {
        switch self {
        case .none: return nil
        case .text(let tag): return tag
        case .file:
            // Four numbers of up to 16 digits, three hyphens and two quotes.
            var writer = XMLWriter(reservingCapacity: 4 * 16 + 5)
            writer.byte(0x22)
            append(to: &writer)
            writer.byte(0x22)
            return EntityTag(checked: writer.bytes)
        }
    }

    /// Writes the text between the quotes.
    func append(to writer: inout XMLWriter) {
        guard case .file(let inode, let length, let modified, let born) = self else { return }
        writer.hex(inode)
        for number in [length, modified, born] {
            writer.byte(0x2D)
            writer.hex(UInt64(bitPattern: number))
        }
    }
}

/// A member of a collection.
public struct ResourceMember: Hashable, Sendable {
    /// The name in the collection.
    public var name: [UInt8]
    /// The description of the member.
    public var info: ResourceInfo
    /// Whether the member is a link to a resource that is listed elsewhere. Links are not followed.
    public var isLink = false
    /// The dead properties, if they were requested.
    public var properties: [DeadProperty]

    /// Creates a member.
    public init(name: [UInt8], info: ResourceInfo, properties: [DeadProperty] = []) {
        self.name = name
        self.info = info
        self.properties = properties
    }
}

/// Media type, language and checksums that a client sent with content.
public struct ContentDescription: Hashable, Sendable {
    /// The media type; `nil` for the type that the extension implies.
    public var mediaType: String?
    /// The value of Content-Language: one language, or several separated by commas.
    public var language: String?
    /// Hashes of the content, which were checked when it arrived.
    public var checksums: [ContentChecksum]

    /// Creates a description.
    public init(mediaType: String? = nil, checksums: [ContentChecksum] = []) {
        self.mediaType = mediaType
        self.checksums = checksums
    }

    var isEmpty: Bool { mediaType == nil && language == nil && checksums.isEmpty }
}

/// Properties and description that a store keeps with the content of a resource.
public struct ResourceDetails: Hashable, Sendable {
    /// The dead properties.
    public var properties: [DeadProperty]
    /// Media type, language and checksums that came with the content.
    public var content: ContentDescription

    /// Creates details.
    public init(
        properties: [DeadProperty] = [], content: ContentDescription = ContentDescription()
    ) {
        self.properties = properties
        self.content = content
    }
}

extension ResourceMember {
    /// The dead properties and the description of the content.
    var details: ResourceDetails {
        get { ResourceDetails(properties: properties, content: info.content) }
        set {
            properties = newValue.properties
            info.content = newValue.content
        }
    }
}

/// The members of a collection in batches, so that a large collection needs little memory.
public struct ResourceMembers: Sendable {
    private let batch: @Sendable () async throws -> [ResourceMember]?

    /// Creates a source.
    /// - Parameter next: returns the next batch, `nil` after the last. One call ends before the
    ///   next begins.
    public init(_ next: @escaping @Sendable () async throws -> [ResourceMember]?) {
        batch = next
    }

    /// Creates a source from all members of a collection, in one batch.
    public init(_ members: [ResourceMember]) {
        let rest = Locked<[ResourceMember]?>(members)
        batch = {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
    }

    /// The next batch; `nil` after the last.
    public func next() async throws -> [ResourceMember]? { try await batch() }
}

/// Content that a store has received, but that is not yet the content of a resource.
///
/// Clients do not see it before it is placed. If it is never placed, it is removed with this
/// object.
public protocol StagedContent: AnyObject, Sendable {
    /// The number of bytes.
    var length: Int64 { get }
    /// Media type, language and checksums to store with the resource. A store that keeps none
    /// ignores them.
    var contentDescription: ContentDescription { get set }
}

extension StagedContent {
    /// Always empty; a new value is ignored.
    public var contentDescription: ContentDescription {
        get { ContentDescription() }
        set { _ = newValue }
    }
}

/// The free and used space of a store (RFC 4331).
public struct StorageQuota: Hashable, Sendable {
    /// The bytes that can still be stored; `nil` if unknown.
    public var available: Int64?
    /// The bytes that are in use; `nil` if unknown.
    public var used: Int64?
    /// Whether `available` comes from a limit of the store, not from the size of the disk.
    public var isLimit = false

    /// Creates a quota.
    public init(available: Int64?, used: Int64?) {
        self.available = available
        self.used = used
    }

    /// Refuses more bytes than can still be stored.
    package func require(_ count: Int64) throws(WebDAVError) {
        guard let available, count > available else { return }
        throw isLimit ? .quotaExceeded : .storageFull
    }
}

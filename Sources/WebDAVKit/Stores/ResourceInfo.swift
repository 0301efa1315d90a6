public import HTTPParser
internal import ToolkitSystem

/// The description of a resource, which a store has without reading the content.
public struct ResourceInfo: Hashable, Sendable {
    /// Whether it is a collection.
    public var isCollection: Bool
    /// The number of bytes of its content; 0 for a collection.
    public var length: Int64
    /// When its content was changed last.
    public var modified: InternetTimestamp
    /// When it was made; `nil` where that is not known.
    public var created: InternetTimestamp?
    /// A strong tag, which changes whenever the content changes; `nil` for a collection. A store
    /// does not reuse one for other content, not even after a restart.
    public var entityTag: EntityTag? {
        get { tag.entityTag }
        set { tag = newValue.map { .text($0) } ?? .none }
    }
    /// The source of the tag: its text is made only when needed; for many files that is never.
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
    /// Its name in the collection.
    public var name: [UInt8]
    /// Its description.
    public var info: ResourceInfo
    /// Whether it is a link to something that is listed elsewhere; it is not followed.
    public var isLink = false
    /// Its dead properties, if they were asked for.
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
    /// The media type; `nil` for that of the extension.
    public var mediaType: String?
    /// The language, or several with commas between them, as Content-Language names them.
    public var language: String?
    /// Hashes of the content, which were checked when it came.
    public var checksums: [ContentChecksum]

    /// Creates a description.
    public init(mediaType: String? = nil, checksums: [ContentChecksum] = []) {
        self.mediaType = mediaType
        self.checksums = checksums
    }

    var isEmpty: Bool { mediaType == nil && language == nil && checksums.isEmpty }
}

/// Properties and description that a store keeps beside the content of a resource.
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
    /// Its dead properties and what came with its content.
    var details: ResourceDetails {
        get { ResourceDetails(properties: properties, content: info.content) }
        set {
            properties = newValue.properties
            info.content = newValue.content
        }
    }
}

/// The members of a collection, some at a time, so that a large one needs little memory.
public struct ResourceMembers: Sendable {
    private let batch: @Sendable () async throws -> [ResourceMember]?

    /// Creates a source.
    /// - Parameter next: gives further members, `nil` after the last. One call ends before the next
    ///   begins.
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

    /// Further members; `nil` after the last.
    public func next() async throws -> [ResourceMember]? { try await batch() }
}

/// Content that a store has taken, to be given to a resource.
///
/// It is not seen in the store before it is placed, and is gone with this object otherwise.
public protocol StagedContent: AnyObject, Sendable {
    /// The number of bytes.
    var length: Int64 { get }
    /// Media type, language and checksums to store with the resource. A store that keeps none
    /// ignores them.
    var contentDescription: ContentDescription { get set }
}

extension StagedContent {
    /// Not kept.
    public var contentDescription: ContentDescription {
        get { ContentDescription() }
        set { _ = newValue }
    }
}

/// How much room a store has (RFC 4331).
public struct StorageQuota: Hashable, Sendable {
    /// Bytes that can still be stored; `nil` when that is not known.
    public var available: Int64?
    /// Bytes that are in use; `nil` when that is not known.
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

internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// Computes and writes the values of live properties.
struct PropertySource: Sendable {
    let mount: Mount
    private let mediaTypes: MediaTypeTable
    private let rootName: String
    private let isReadOnly: Bool
    /// All locks that may cover one of the resources.
    var locks = LocksByRoot([], of: .root, at: .root)
    var quota: StorageQuota?
    private let now = Syscalls.realtime().seconds
    /// The media type of each extension so far, escaped for XML; at most `knownLimit` of them.
    private var known: [[UInt8]: [UInt8]] = [:]
    private static let knownLimit = 64

    init(mount: Mount, _ options: WebDAVOptions) {
        self.mount = mount
        mediaTypes = options.mediaTypes
        rootName = options.rootName
        isReadOnly = options.isReadOnly
    }

    func has(_ property: LiveProperty, _ info: ResourceInfo) -> Bool {
        switch property {
        case .creationdate: info.created != nil
        case .getcontentlanguage: info.language != nil
        case .getcontentlength: !info.isCollection
        case .getetag: info.tag != .none
        case .checksums: !info.content.checksums.isEmpty
        case .quotaAvailable: quota?.available != nil && info.isCollection
        case .quotaUsed: quota?.used != nil && info.isCollection
        case .displayname, .getcontenttype, .getlastmodified, .lockdiscovery, .privileges,
            .resourcetype, .supportedlock:
            true
        }
    }

    mutating func write(
        _ property: LiveProperty, _ resource: Rendered, to writer: inout XMLWriter
    ) {
        let info = resource.info
        switch property {
        case .checksums:
            let texts = info.content.checksums.ownCloudTexts
            writer.markup("<oc:checksums xmlns:oc=\"\(LiveProperty.checksums.name.namespace)\">")
            writer.element("oc:checksum", texts.joined(separator: " "))
            writer.markup("</oc:checksums>")
        case .creationdate:
            writer.raw(Markup.creationDate)
            writer.timestamp(info.created ?? InternetTimestamp(secondsSinceEpoch: 0))
            writer.raw(Markup.creationDateEnd)
        case .displayname:
            writer.raw(Markup.displayName)
            if resource.name.isEmpty {
                writer.text(rootName)
            } else if ResourcePath.isText(resource.name) {
                writer.text(resource.name)
            } else {
                // XML cannot contain such a name (XML 1.0 section 2.2), only its percent-encoding.
                writer.pathSegment(resource.name)
            }
            writer.raw(Markup.displayNameEnd)
        case .getcontentlanguage: writer.element("D:getcontentlanguage", info.language ?? "")
        case .getcontentlength:
            writer.raw(Markup.length)
            writer.decimal(info.length)
            writer.raw(Markup.lengthEnd)
        case .getcontenttype:
            writer.raw(Markup.mediaType)
            writeMediaType(resource, to: &writer)
            writer.raw(Markup.mediaTypeEnd)
        case .getetag:
            writer.raw(Markup.tag)
            writeTag(info.tag, to: &writer)
            writer.raw(Markup.tagEnd)
        case .getlastmodified:
            writer.raw(Markup.modified)
            writer.date(info.modified.httpDate)
            writer.raw(Markup.modifiedEnd)
        case .lockdiscovery:
            writer.lockDiscovery(
                locks.isEmpty ? [] : locks.covering(resource.path), mount, now)
        case .resourcetype: writer.raw(info.isCollection ? Markup.collection : Markup.noCollection)
        case .supportedlock: writer.raw(Markup.supportedLock)
        case .quotaAvailable:
            writer.element("D:quota-available-bytes", "\(quota?.available ?? 0)")
        case .privileges: writer.privileges(isReadOnly: isReadOnly, isCollection: info.isCollection)
        case .quotaUsed: writer.element("D:quota-used-bytes", "\(quota?.used ?? 0)")
        }
    }

    private func writeTag(_ tag: ResourceTag, to writer: inout XMLWriter) {
        if case .text(let tag) = tag {
            writer.text(String(decoding: tag.bytes, as: UTF8.self))
        } else {
            writer.byte(0x22)
            tag.append(to: &writer)
            writer.byte(0x22)
        }
    }

    /// Writes the media type. A collection gets the same type as in Apache, by which some media
    /// players recognise a folder.
    private mutating func writeMediaType(_ resource: Rendered, to writer: inout XMLWriter) {
        if resource.info.isCollection { return writer.raw(Markup.folderType) }
        if let mediaType = resource.info.content.mediaType { return writer.text(mediaType) }
        // A dot at the beginning does not begin an extension.
        let dot = resource.name.lastIndex(of: 0x2E) ?? 0
        let ending = dot > 0 ? Array(resource.name[dot...]) : []
        if let text = known[ending] { return writer.raw(text) }
        var escaped = XMLWriter()
        escaped.text(mediaTypes.contentType(ofFile: resource.name))
        if known.count < Self.knownLimit { known[ending] = escaped.bytes }
        writer.raw(escaped.bytes)
    }
}

/// Locks by their root. A listing looks up the locks of each member.
struct LocksByRoot: Sendable {
    private let byRoot: [ResourcePath: [ActiveLock]]
    /// The roots of the deep locks.
    private let deepRoots: PathHashes
    private let shown: ResourcePath
    private let root: ResourcePath
    /// The deep locks on the last collection and its ancestors, which cover each of its members: a
    /// listing looks up one member after the other.
    private var last: (collection: ResourcePath, locks: [ActiveLock])?

    /// - Parameters:
    ///   - locks: the locks.
    ///   - shown: the path of the request.
    ///   - root: the canonical path of the same resource, by which it is locked.
    init(_ locks: [ActiveLock], of shown: ResourcePath, at root: ResourcePath) {
        byRoot = Dictionary(grouping: locks, by: \.root)
        var deepRoots = PathHashes()
        for lock in locks where lock.isDeep { deepRoots.insert(lock.root) }
        self.deepRoots = deepRoots
        (self.shown, self.root) = (shown, root)
    }

    var isEmpty: Bool { byRoot.isEmpty }

    /// The locks on a resource, the outermost first.
    /// - Parameter path: a path within the path of the request.
    mutating func covering(_ path: ResourcePath) -> [ActiveLock] {
        let path = shown == root ? path : path.moved(from: shown, to: root)
        let own = byRoot[path] ?? []
        guard let collection = path.parent else { return own }
        if let last, last.collection == collection { return last.locks + own }
        let outer = (deepRoots.ancestors(of: collection) + [collection])
            .flatMap { (byRoot[$0] ?? []).filter(\.isDeep) }
        last = (collection, outer)
        return outer + own
    }
}

/// The markup around values, as bytes.
private enum Markup {
    static let creationDate = Array("<D:creationdate>".utf8)
    static let creationDateEnd = Array("</D:creationdate>".utf8)
    static let displayName = Array("<D:displayname>".utf8)
    static let displayNameEnd = Array("</D:displayname>".utf8)
    static let length = Array("<D:getcontentlength>".utf8)
    static let lengthEnd = Array("</D:getcontentlength>".utf8)
    static let mediaType = Array("<D:getcontenttype>".utf8)
    static let mediaTypeEnd = Array("</D:getcontenttype>".utf8)
    static let folderType = Array("httpd/unix-directory".utf8)
    static let tag = Array("<D:getetag>".utf8)
    static let tagEnd = Array("</D:getetag>".utf8)
    static let modified = Array("<D:getlastmodified>".utf8)
    static let modifiedEnd = Array("</D:getlastmodified>".utf8)
    static let collection = Array("<D:resourcetype><D:collection/></D:resourcetype>".utf8)
    static let noCollection = Array("<D:resourcetype/>".utf8)
    static let supportedLock = Array(
        ("<D:supportedlock><D:lockentry><D:lockscope><D:exclusive/></D:lockscope>"
            + "<D:locktype><D:write/></D:locktype></D:lockentry><D:lockentry><D:lockscope>"
            + "<D:shared/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>"
            + "</D:supportedlock>").utf8)
}

extension XMLWriter {
    private static let deep = "</D:lockscope><D:depth>infinity</D:depth>"
    private static let flat = "</D:lockscope><D:depth>0</D:depth>"

    /// The path of a resource, like `Mount.href`.
    private mutating func href(_ path: ResourcePath, isCollection: Bool, in mount: Mount) {
        text(mount.prefix)
        byte(0x2F)
        if path.isRoot { return }
        self.path(path.bytes)
        if isCollection { byte(0x2F) }
    }

    /// The `DAV:current-user-privilege-set` element (RFC 3744 section 5.4): the same privileges for
    /// each user. The file system and the program may refuse more.
    mutating func privileges(isReadOnly: Bool, isCollection: Bool) {
        var names = ["read", "read-current-user-privilege-set"]
        if !isReadOnly {
            names += ["write", "write-properties", "write-content", "unlock"]
            if isCollection { names += ["bind", "unbind"] }
        }
        markup("<D:current-user-privilege-set>")
        for name in names { markup("<D:privilege><D:\(name)/></D:privilege>") }
        markup("</D:current-user-privilege-set>")
    }

    /// The `DAV:lockdiscovery` element (RFC 4918 section 15.8).
    mutating func lockDiscovery(_ locks: [ActiveLock], _ mount: Mount, _ now: Int64) {
        guard !locks.isEmpty else { return markup("<D:lockdiscovery/>") }
        markup("<D:lockdiscovery>")
        for lock in locks {
            markup("<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope>")
            markup(lock.scope == .exclusive ? "<D:exclusive/>" : "<D:shared/>")
            markup(lock.isDeep ? Self.deep : Self.flat)
            markup(lock.owner)
            markup("<D:timeout>Second-")
            decimal(max(lock.expiry - now, 0))
            markup("</D:timeout><D:locktoken><D:href>")
            text(lock.token.uri)
            markup("</D:href></D:locktoken><D:lockroot><D:href>")
            href(lock.root, isCollection: lock.isCollection, in: mount)
            markup("</D:href></D:lockroot></D:activelock>")
        }
        markup("</D:lockdiscovery>")
    }
}

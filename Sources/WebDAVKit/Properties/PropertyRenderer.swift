internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

/// Writes the response elements of a PROPFIND.
struct PropertyRenderer: Sendable {
    var all: Multistatus
    var source: PropertySource
    private let wish: PropertyWish

    init(_ mount: Mount, _ wish: PropertyWish, mediaTypes: MediaTypeTable) {
        all = Multistatus(mount)
        source = PropertySource(mount: mount, mediaTypes: mediaTypes)
        self.wish = wish
    }

    mutating func add(_ path: ResourcePath, _ info: ResourceInfo, _ dead: [DeadProperty]) {
        all.start(all.mount.href(path, isCollection: info.isCollection))
        switch wish {
        case .names: addNames(path, info, dead)
        case .all(let further): addAll(path, info, dead, further)
        case .some(let names): add(names, path, info, dead)
        }
        all.end()
    }

    private mutating func addNames(
        _ path: ResourcePath, _ info: ResourceInfo, _ dead: [DeadProperty]
    ) {
        let source = source
        all.propstat(.ok) { writer in
            for property in LiveProperty.allCases where source.has(property, path, info) {
                writer.empty(.dav(property.rawValue))
            }
            for property in dead where LiveProperty(property.name) == nil {
                writer.empty(property.name)
            }
        }
    }

    private mutating func addAll(
        _ path: ResourcePath, _ info: ResourceInfo, _ dead: [DeadProperty], _ further: [XMLName]
    ) {
        let more = further.filter { LiveProperty($0)?.isQuota ?? false }
        let source = source
        all.propstat(.ok) { writer in
            for property in LiveProperty.allCases {
                guard !property.isQuota || more.contains(.dav(property.rawValue)),
                    source.has(property, path, info),
                    !dead.contains(where: { LiveProperty($0.name) == property })
                else { continue }
                source.write(property, path, info, to: &writer)
            }
            for property in dead { writer.markup(property.xml) }
        }
    }

    private mutating func add(
        _ names: [XMLName], _ path: ResourcePath, _ info: ResourceInfo, _ dead: [DeadProperty]
    ) {
        let source = source
        var missing: [XMLName] = []
        var places: [XMLName: Int] = [:]
        for (index, property) in dead.enumerated() { places[property.name] = index }
        all.propstat(.ok) { writer in
            for name in names {
                if !dead.isEmpty, let property = places[name].map({ dead[$0] }) {
                    writer.markup(property.xml)
                } else if let property = LiveProperty(name), source.has(property, path, info) {
                    source.write(property, path, info, to: &writer)
                } else {
                    missing.append(name)
                }
            }
        }
        guard !missing.isEmpty else { return }
        all.propstat(.notFound) { writer in
            for name in missing { writer.empty(name) }
        }
    }
}

/// Where the values of live properties come from.
struct PropertySource: Sendable {
    let mount: Mount
    let mediaTypes: MediaTypeTable
    /// All locks that could be on any of the resources.
    var locks: [ActiveLock] = []
    var quota: StorageQuota?
    private let now = Syscalls.realtime().seconds

    init(mount: Mount, mediaTypes: MediaTypeTable) {
        self.mount = mount
        self.mediaTypes = mediaTypes
    }

    func has(_ property: LiveProperty, _ path: ResourcePath, _ info: ResourceInfo) -> Bool {
        switch property {
        case .creationdate: info.created != nil
        case .getcontentlanguage: info.language != nil
        case .getcontentlength: !info.isCollection
        case .getetag: info.entityTag != nil
        case .quotaAvailable: quota?.available != nil && info.isCollection
        case .quotaUsed: quota?.used != nil && info.isCollection
        case .displayname, .getcontenttype, .getlastmodified, .lockdiscovery, .resourcetype,
            .supportedlock:
            true
        }
    }

    func write(
        _ property: LiveProperty, _ path: ResourcePath, _ info: ResourceInfo,
        to writer: inout XMLWriter
    ) {
        switch property {
        case .creationdate:
            let seconds = info.created?.secondsSinceEpoch ?? 0
            writer.element(
                "D:creationdate", InternetTimestamp(secondsSinceEpoch: seconds).description)
        case .displayname:
            writer.element("D:displayname", String(decoding: path.name, as: UTF8.self))
        case .getcontentlanguage: writer.element("D:getcontentlanguage", info.language ?? "")
        case .getcontentlength:
            writer.markup("<D:getcontentlength>\(info.length)</D:getcontentlength>")
        case .getcontenttype:
            writer.element("D:getcontenttype", mediaType(path, info))
        case .getetag:
            let tag = info.entityTag.map { String(decoding: $0.bytes, as: UTF8.self) }
            writer.element("D:getetag", tag ?? "")
        case .getlastmodified:
            writer.element("D:getlastmodified", info.modified.httpDate.description)
        case .lockdiscovery:
            writer.lockDiscovery(locks.filter { $0.covers(path) }, mount, now)
        case .resourcetype:
            writer.markup(
                info.isCollection
                    ? "<D:resourcetype><D:collection/></D:resourcetype>" : "<D:resourcetype/>")
        case .supportedlock: writer.markup(Self.supportedLock)
        case .quotaAvailable:
            writer.element("D:quota-available-bytes", "\(quota?.available ?? 0)")
        case .quotaUsed: writer.element("D:quota-used-bytes", "\(quota?.used ?? 0)")
        }
    }

    /// A collection's is what Apache says, by which some players know a folder.
    private func mediaType(_ path: ResourcePath, _ info: ResourceInfo) -> String {
        if info.isCollection { return "httpd/unix-directory" }
        return info.mediaType
            ?? mediaTypes.contentType(ofFile: String(decoding: path.name, as: UTF8.self))
    }

    private static let supportedLock =
        "<D:supportedlock><D:lockentry><D:lockscope><D:exclusive/></D:lockscope>"
        + "<D:locktype><D:write/></D:locktype></D:lockentry><D:lockentry><D:lockscope><D:shared/>"
        + "</D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry></D:supportedlock>"
}

extension XMLWriter {
    /// The `DAV:lockdiscovery` element (RFC 4918 section 15.8).
    mutating func lockDiscovery(_ locks: [ActiveLock], _ mount: Mount, _ now: Int64) {
        guard !locks.isEmpty else { return markup("<D:lockdiscovery/>") }
        markup("<D:lockdiscovery>")
        for lock in locks {
            markup("<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope>")
            markup("<D:\(lock.scope.rawValue)/></D:lockscope>")
            markup("<D:depth>\(lock.isDeep ? "infinity" : "0")</D:depth>")
            markup(lock.owner)
            markup("<D:timeout>Second-\(max(lock.expiry - now, 0))</D:timeout><D:locktoken>")
            element("D:href", lock.token.uri)
            markup("</D:locktoken><D:lockroot>")
            element("D:href", mount.href(lock.root, isCollection: false))
            markup("</D:lockroot></D:activelock>")
        }
        markup("</D:lockdiscovery>")
    }
}

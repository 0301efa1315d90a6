internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

/// Writes the response elements of a PROPFIND.
///
/// Parts that are the same in every response are rendered once: a collection may have very many
/// members.
struct PropertyRenderer: Sendable {
    var all: Multistatus
    var source: PropertySource
    private let wanted: PropertyRequest
    private let isMinimal: Bool
    private let steps: [Step]
    /// The collection whose members are being written, as their paths begin with it.
    private var collection: (path: ResourcePath, href: [UInt8])?

    /// A property that is asked for.
    private struct Step: Sendable {
        var name: XMLName
        var live: LiveProperty?
    }

    /// - Parameter isMinimal: whether properties that are not there are left out (RFC 8144 section
    ///   2.1).
    init(_ mount: Mount, _ wanted: PropertyRequest, _ options: WebDAVOptions, isMinimal: Bool) {
        all = Multistatus(mount)
        source = PropertySource(mount: mount, options)
        self.wanted = wanted
        self.isMinimal = isMinimal
        switch wanted {
        case .names: steps = []
        case .some(let names): steps = names.map { Step(name: $0, live: LiveProperty($0)) }
        case .all(let further):
            steps = LiveProperty.allCases
                .filter { $0.isInAllprop || further.contains($0.name) }
                .map { Step(name: $0.name, live: $0) }
        }
    }

    /// Writes a resource by its path.
    mutating func add(_ path: ResourcePath, _ info: ResourceInfo, _ dead: [DeadProperty]) {
        all.start(all.mount.href(path, isCollection: info.isCollection))
        add(Rendered(name: path.name, info: info, place: .resource(path)), dead)
    }

    /// Writes a member of a collection.
    mutating func add(_ member: ResourceMember, of path: ResourcePath) {
        if collection?.path != path {
            let href = all.mount.href(path, isCollection: true)
            collection = (path, Array(href.utf8))
        }
        all.start(collection?.href ?? [], member.name, isCollection: member.info.isCollection)
        let resource = Rendered(
            name: member.name, info: member.info, place: .member(of: path))
        add(resource, member.properties)
    }

    private mutating func add(_ resource: Rendered, _ dead: [DeadProperty]) {
        switch wanted {
        case .names: addNames(resource, dead)
        case .all: addAll(resource, dead)
        case .some: addSome(resource, dead)
        }
        all.end()
    }

    private mutating func addNames(_ resource: Rendered, _ dead: [DeadProperty]) {
        all.propstat(.ok) { writer in
            for property in LiveProperty.allCases where source.has(property, resource.info) {
                writer.empty(property.name)
            }
            for property in dead where LiveProperty(property.name) == nil {
                writer.empty(property.name)
            }
        }
    }

    private mutating func addAll(_ resource: Rendered, _ dead: [DeadProperty]) {
        all.startProperties()
        for step in steps {
            guard let property = step.live, source.has(property, resource.info),
                dead.isEmpty || !dead.contains(where: { $0.name == step.name })
            else { continue }
            source.write(property, resource, to: &all.writer)
        }
        for property in dead { all.writer.markup(property.xml) }
        all.endProperties()
    }

    private mutating func addSome(_ resource: Rendered, _ dead: [DeadProperty]) {
        var missing: [XMLName] = []
        var places: [XMLName: Int] = [:]
        for (index, property) in dead.enumerated() { places[property.name] = index }
        all.startProperties()
        for step in steps {
            if !dead.isEmpty, let property = places[step.name].map({ dead[$0] }) {
                all.writer.markup(property.xml)
            } else if let property = step.live, source.has(property, resource.info) {
                source.write(property, resource, to: &all.writer)
            } else {
                missing.append(step.name)
            }
        }
        all.endProperties()
        guard !missing.isEmpty, !isMinimal else { return }
        all.propstat(.notFound) { writer in
            for name in missing { writer.empty(name) }
        }
    }
}

/// A resource whose properties are written.
struct Rendered: Sendable {
    enum Place: Sendable {
        case resource(ResourcePath)
        case member(of: ResourcePath)
    }

    /// Its name; empty for the root.
    let name: [UInt8]
    let info: ResourceInfo
    let place: Place

    var path: ResourcePath {
        switch place {
        case .resource(let path): path
        case .member(let collection): collection.appending(name)
        }
    }
}

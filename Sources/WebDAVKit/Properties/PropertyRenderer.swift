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
    /// The places of the steps for live properties.
    private let livePlaces: [Int]
    /// The places of the steps by name.
    private let places: [XMLName: Int]
    /// The collection whose members are being written, because their hrefs begin with its href.
    private var collection: (path: ResourcePath, href: [UInt8])?

    /// A requested property.
    private struct Step: Sendable {
        var name: XMLName
        var live: LiveProperty?
        /// The property as an empty element, if the request names properties.
        var empty: [UInt8] = []

        init(live: LiveProperty) {
            (name, self.live) = (live.name, live)
        }

        init(_ name: XMLName) {
            (self.name, live) = (name, LiveProperty(name))
            var writer = XMLWriter()
            writer.empty(name)
            empty = writer.bytes
        }
    }

    /// - Parameter isMinimal: whether missing properties are left out (RFC 8144 section 2.1).
    init(_ mount: Mount, _ wanted: PropertyRequest, _ options: WebDAVOptions, isMinimal: Bool) {
        all = Multistatus(mount)
        source = PropertySource(mount: mount, options)
        self.wanted = wanted
        self.isMinimal = isMinimal
        let steps: [Step]
        switch wanted {
        case .names: steps = []
        case .some(let names): steps = names.map { Step($0) }
        case .all(let further):
            steps = LiveProperty.allCases
                .filter { $0.isInAllprop || further.contains($0.name) }
                .map { Step(live: $0) }
        }
        self.steps = steps
        livePlaces = steps.indices.filter { steps[$0].live != nil }
        places = Dictionary(
            zip(steps.map(\.name), steps.indices), uniquingKeysWith: { first, _ in first })
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
            // A client may have set a property that is live on other resources, such as the
            // language.
            for property in dead
            where LiveProperty(property.name).map({ !source.has($0, resource.info) }) ?? true {
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

    /// Visits only properties that exist: a client may ask for thousands of names that no member of
    /// a long listing has.
    private mutating func addSome(_ resource: Rendered, _ dead: [DeadProperty]) {
        var kept: [Int: DeadProperty] = [:]
        for property in dead {
            if let place = places[property.name] { kept[place] = property }
        }
        var present = livePlaces.filter { place in
            steps[place].live.map { source.has($0, resource.info) } ?? false
        }
        if !kept.isEmpty { present = Set(present).union(kept.keys).sorted() }
        all.startProperties()
        for place in present {
            if !kept.isEmpty, let property = kept[place] {
                all.writer.markup(property.xml)
            } else if let property = steps[place].live {
                source.write(property, resource, to: &all.writer)
            }
        }
        all.endProperties()
        guard present.count < steps.count, !isMinimal else { return }
        all.propstat(.notFound) { writer in
            var next = 0
            for place in present + [steps.count] {
                for missing in next..<place { writer.raw(steps[missing].empty) }
                next = place + 1
            }
        }
    }
}

/// A resource whose properties are written.
struct Rendered: Sendable {
    enum Place: Sendable {
        case resource(ResourcePath)
        case member(of: ResourcePath)
    }

    /// The name of the resource; empty for the root.
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

internal import HTTPParser
internal import HTTPServerCore

/// The properties that a PROPFIND asks for (RFC 4918 section 14.20).
enum PropertyRequest: Hashable, Sendable {
    /// All dead properties, the live ones of RFC 4918, and the further live ones that are named.
    case all(including: [XMLName])
    /// The names of all properties.
    case names
    case some([XMLName])

    init(_ content: XMLElement) throws(WebDAVError) {
        guard content.name == .dav("propfind") else {
            throw WebDAVError(.badRequest, "expected the element propfind")
        }
        if let prop = content.child(.dav("prop")) {
            // A name counts once: otherwise each repetition would write the whole value.
            var seen: Set<XMLName> = []
            self = .some(prop.children.map(\.name).filter { seen.insert($0).inserted })
        } else if content.child(.dav("propname")) != nil {
            self = .names
        } else if content.child(.dav("allprop")) != nil {
            self = .all(including: content.child(.dav("include"))?.children.map(\.name) ?? [])
        } else {
            throw WebDAVError(.badRequest, "propfind names no properties")
        }
    }

    /// Whether dead properties have to be read.
    var needsDeadProperties: Bool {
        guard case .some(let names) = self else { return true }
        return names.contains { name in
            let live = LiveProperty(name)
            // The client's description of the content is stored beside the dead properties.
            return live?.isProtected != true || live == .getcontenttype || live == .checksums
        }
    }

    var needsQuota: Bool {
        switch self {
        case .all(let names), .some(let names):
            names.contains { LiveProperty($0)?.isQuota ?? false }
        case .names: false
        }
    }
}

extension WebDAVHandler {
    /// PROPFIND (RFC 4918 section 9.1): the resource itself first, then its members, which are sent
    /// while they are read.
    func propfind(_ call: WebDAVCall) async throws -> Response {
        let depth = try call.depth(orDefault: .infinity)
        // A request without content asks for all properties (RFC 4918 section 9.1).
        let wanted =
            try await call.meaning(propertyRequests) { try PropertyRequest($0) }
            ?? .all(including: [])
        guard depth != .infinity || options.allowsInfiniteDepth else {
            throw WebDAVError(
                .forbidden, "Depth: infinity is not allowed", condition: .propfindFiniteDepth)
        }
        let found = try await visibleInfo(call.path)
        guard var info = found ?? probe(call.path) else { throw WebDAVError.notFound }
        try await requireConditions(call, info)
        let isMinimal = call.prefersMinimal
        var renderer = PropertyRenderer(call.mount, wanted, options, isMinimal: isMinimal)
        let root = try await store.canonical(call.path, followsLast: info.isCollection)
        renderer.source.locks = LocksByRoot(
            try await locks.locks(on: root, andInside: depth != .zero), of: call.path, at: root)
        if wanted.needsQuota, found != nil {
            renderer.source.quota = try await store.quota(at: call.path)
        }
        var details = ResourceDetails()
        if wanted.needsDeadProperties, found != nil {
            details = try await store.details(of: call.path)
            info.content = details.content
        }
        renderer.add(call.path, info, details.properties)
        guard info.isCollection, depth != .zero else {
            renderer.all.finish()
            return Response(
                .multiStatus, fields: isMinimal ? WebDAVCall.minimalFields : [:],
                body: .bytes(renderer.all.writer.bytes, mediaType: Multistatus.mediaType))
        }
        let members = try await store.members(
            of: call.path, withProperties: wanted.needsDeadProperties)
        let walk = PropfindWalk(handler: self, wanted: wanted, isDeep: depth == .infinity)
        return Response(
            .multiStatus, fields: isMinimal ? WebDAVCall.minimalFields : [:],
            body: .stream(mediaType: Multistatus.mediaType) { [renderer] writer in
                var renderer = renderer
                try await walk.send(members, of: call.path, by: &renderer, to: writer)
                renderer.all.finish()
                try await writer.write(renderer.all.writer.take())
            })
    }
}

/// Walks a tree. Each level has one open collection and the rest of one batch in memory, without
/// long properties, because many levels of them would take much memory. The next collection is read
/// while the previous one is written.
///
/// A collection is written to the answer once it is open. If it cannot be opened, the answer has
/// the error in place of its properties: without an entry the collection would look deleted.
struct PropfindWalk: Sendable {
    /// The deepest nesting of collections; no real tree is deeper.
    private static let depthLimit = 128
    /// The number of levels on which the properties of a whole batch are read together.
    private static let batchDepth = 16
    /// The most bytes of properties that a member keeps until it is opened; longer properties are
    /// read again.
    private static let keptBytes = 1 << 10
    private static let pieceBytes = 64 << 10
    /// The work, counted in members, after which the walk yields to the loop's other connections.
    private static let workPerTurn = 512
    /// The work that sending a piece counts for, in members.
    private static let workPerPiece = 64

    let handler: WebDAVHandler
    let wanted: PropertyRequest
    let isDeep: Bool

    func send(
        _ members: ResourceMembers, of path: ResourcePath, by renderer: inout PropertyRenderer,
        to writer: ResponseWriter
    ) async throws {
        try await withThrowingTaskGroup(of: Level.self) { group in
            var progress = Progress(
                open: [Level(path: path, members: members, hasProperties: true)])
            // A second reference to `rest` would copy it for each collection.
            while let (path, members) = progress.open.last.map({ ($0.path, $0.members) }) {
                if let inner = progress.takeCollection() {
                    try await add(inner, of: path, &progress, &group, to: &renderer)
                    try await flush(&renderer, &progress.work, to: writer)
                } else if let batch = try await members.next() {
                    await readAhead(after: batch, &progress, &group, writer)
                    try await add(batch, of: path, &progress, to: &renderer, writer)
                } else {
                    progress.open.removeLast()
                }
            }
        }
    }

    /// Starts to read the collection that will be opened next, so that it is read while the batch
    /// is written. At most one collection is read ahead.
    private func readAhead(
        after batch: [ResourceMember], _ progress: inout Progress,
        _ group: inout ThrowingTaskGroup<Level, any Error>, _ writer: ResponseWriter
    ) async {
        guard isDeep, progress.ahead == nil else { return }
        let depth: Int
        let path: ResourcePath
        if let member = batch.last(where: { isOpened($0) && isVisible($0) }) {
            depth = progress.open.count
            path = progress.open[depth - 1].path.appending(member.name)
        } else if let index = progress.open.lastIndex(where: { !$0.rest.isEmpty }),
            let member = progress.open[index].rest.last
        {
            depth = index + 1
            path = progress.open[index].path.appending(member.value.name)
        } else {
            return
        }
        progress.ahead = path
        group.addTask { try await list(path, depth: depth) }
        // The loop starts the task before it resumes this one.
        await writer.yieldTurn()
        progress.work = 0
    }

    /// Writes the members of a batch, but keeps its collections, which are opened later.
    private func add(
        _ batch: [ResourceMember], of path: ResourcePath, _ progress: inout Progress,
        to renderer: inout PropertyRenderer, _ writer: ResponseWriter
    ) async throws {
        let index = progress.open.endIndex - 1
        let hasProperties = progress.open[index].hasProperties
        for member in batch where isVisible(member) {
            var member = Member(member, isComplete: hasProperties)
            if isOpened(member.value) {
                member.shorten(to: Self.keptBytes)
                progress.open[index].rest.append(member)
            } else {
                try await add(member, of: path, to: &renderer)
            }
            try await flush(&renderer, &progress.work, to: writer)
        }
    }

    /// Opens a collection and writes it.
    private func add(
        _ inner: Member, of parent: ResourcePath, _ progress: inout Progress,
        _ group: inout ThrowingTaskGroup<Level, any Error>, to renderer: inout PropertyRenderer
    ) async throws {
        let path = parent.appending(inner.value.name)
        do {
            let isAhead = progress.ahead == path
            if isAhead { progress.ahead = nil }
            // List the members first: an error in the collection's own properties does not hide
            // them.
            if isAhead, let level = try await group.next() {
                progress.open.append(level)
            } else {
                progress.open.append(try await list(path, depth: progress.open.count))
            }
            let inner = try await described(inner, at: path)
            renderer.add(path, inner.info, inner.properties)
        } catch let error as WebDAVError {
            // The collection was removed in the meantime.
            guard error.status != .notFound else { return }
            renderer.all.add(ResourceFailure(path, error), isCollection: true)
        }
    }

    private func isVisible(_ member: ResourceMember) -> Bool {
        handler.isVisible(member: member.name, isCollection: member.info.isCollection)
    }

    /// Whether the answer includes the members of this member.
    private func isOpened(_ member: ResourceMember) -> Bool {
        isDeep && member.info.isCollection && !member.isLink
    }

    /// The state of a walk.
    private struct Progress {
        /// The open collections; each is a member of the one before it.
        var open: [Level]
        /// The collection that the group's task reads.
        var ahead: ResourcePath?
        var work = 0

        /// Takes the next collection to open from the last open collection.
        mutating func takeCollection() -> Member? { open[open.endIndex - 1].rest.popLast() }
    }

    /// An open collection.
    private struct Level: Sendable {
        let path: ResourcePath
        let members: ResourceMembers
        /// Whether `members` includes the properties of members, if they are wanted.
        let hasProperties: Bool
        var rest: [Member] = []
    }

    /// A member, whose properties may have to be read.
    private struct Member: Sendable {
        var value: ResourceMember
        /// Whether `value` includes the properties.
        var isComplete: Bool

        init(_ value: ResourceMember, isComplete: Bool) {
            (self.value, self.isComplete) = (value, isComplete)
        }

        mutating func shorten(to limit: Int) {
            guard value.properties.reduce(0, { $0 + $1.xml.utf8.count }) > limit else { return }
            (value.details, isComplete) = (ResourceDetails(), false)
        }
    }

    /// Writes a member that is not opened, unless it was removed in the meantime.
    private func add(
        _ member: Member, of parent: ResourcePath, to renderer: inout PropertyRenderer
    ) async throws {
        guard !member.isComplete, wanted.needsDeadProperties else {
            return renderer.add(member.value, of: parent)
        }
        let path = parent.appending(member.value.name)
        do {
            renderer.add(try await described(member, at: path), of: parent)
        } catch let error as WebDAVError {
            guard error.status != .notFound else { return }
            let isCollection = member.value.info.isCollection
            renderer.all.add(ResourceFailure(path, error), isCollection: isCollection)
        }
    }

    /// A member with its properties, if they are wanted.
    private func described(
        _ member: Member, at path: ResourcePath
    ) async throws -> ResourceMember {
        guard !member.isComplete, wanted.needsDeadProperties else { return member.value }
        var value = member.value
        value.details = try await Self.mapped { try await handler.store.details(of: path) }
        return value
    }

    /// Turns errors of a custom store into a `WebDAVError` about the resource.
    private static func mapped<Result>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw error as? WebDAVError ?? WebDAVError(.internalServerError)
        }
    }

    /// - Parameter depth: how many collections are open.
    private func list(_ path: ResourcePath, depth: Int) async throws -> Level {
        guard depth < Self.depthLimit else {
            throw WebDAVError(.forbidden, condition: .propfindFiniteDepth)
        }
        let hasProperties = depth < Self.batchDepth
        let members = try await Self.mapped {
            try await handler.store.members(
                of: path, withProperties: hasProperties && wanted.needsDeadProperties)
        }
        return Level(path: path, members: members, hasProperties: hasProperties)
    }

    /// Sends the written bytes once they make a piece, and yields after some work. The yield is
    /// needed because nothing else may suspend: batches may be ready, and the client may read fast.
    private func flush(
        _ renderer: inout PropertyRenderer, _ work: inout Int, to writer: ResponseWriter
    ) async throws {
        work += 1
        if renderer.all.writer.bytes.count >= Self.pieceBytes {
            try await writer.write(renderer.all.writer.take())
            work += Self.workPerPiece
        }
        guard work >= Self.workPerTurn else { return }
        work = 0
        await writer.yieldTurn()
    }
}

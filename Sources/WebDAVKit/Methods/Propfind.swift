internal import HTTPParser
internal import HTTPServerCore

/// The properties that a PROPFIND asks for (RFC 4918 section 14.20).
enum PropertyRequest: Hashable, Sendable {
    /// The dead ones, the live ones of RFC 4918, and those.
    case all(including: [XMLName])
    /// The names of all.
    case names
    case some([XMLName])

    init(_ content: XMLElement) throws(WebDAVError) {
        guard content.name == .dav("propfind") else {
            throw WebDAVError(.badRequest, "expected the element propfind")
        }
        if let prop = content.child(.dav("prop")) {
            // A name counts once: each repetition would be written with its whole value.
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

    /// Whether dead properties have to be looked at.
    var needsDeadProperties: Bool {
        guard case .some(let names) = self else { return true }
        return names.contains { name in
            let live = LiveProperty(name)
            // The description that came with the content is kept beside the dead ones.
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
    /// PROPFIND (RFC 4918 section 9.1): the resource itself first, then what is inside, sent while
    /// it is read.
    func propfind(_ call: WebDAVCall) async throws -> Response {
        let depth = try call.depth(.infinity)
        // No content asks for all (RFC 4918 section 9.1).
        let wanted =
            try await call.meaning(propertyRequests) { try PropertyRequest($0) }
            ?? .all(including: [])
        guard depth != .infinity || options.allowsInfiniteDepth else {
            throw WebDAVError(
                .forbidden, "whole trees are not listed", condition: .propfindFiniteDepth)
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

/// Goes through a tree, with one open collection for each level and nothing else in memory.
///
/// A collection is written to the answer once it is open. If its members cannot be listed, the
/// answer has the error in place of its properties: leaving the collection out would look as if it
/// were gone.
struct PropfindWalk: Sendable {
    /// The deepest nesting of collections; no real tree is deeper.
    private static let depthLimit = 128
    private static let pieceBytes = 64 << 10
    /// How much work is done before the other connections of the event loop get their turn, in
    /// members.
    private static let turn = 512
    /// The work of a piece that is written.
    private static let pieceWork = 64

    let handler: WebDAVHandler
    let wanted: PropertyRequest
    let isDeep: Bool

    func send(
        _ members: ResourceMembers, of path: ResourcePath, by renderer: inout PropertyRenderer,
        to writer: ResponseWriter
    ) async throws {
        var open = [(path: path, members: members, rest: [ResourceMember]())]
        var work = 0
        while var level = open.popLast() {
            if let inner = level.rest.popLast() {
                let path = level.path.appending(inner.name)
                open.append(level)
                do {
                    let inside = try await list(path, depth: open.count)
                    renderer.add(path, inner.info, inner.properties)
                    open.append((path, inside, []))
                } catch let error as WebDAVError {
                    // It has gone meanwhile.
                    guard error.status != .notFound else { continue }
                    renderer.all.add(ResourceFailure(path, error), isCollection: true)
                }
                try await flush(&renderer, &work, to: writer)
                continue
            }
            guard let batch = try await level.members.next() else { continue }
            for member in batch {
                let isCollection = member.info.isCollection
                guard handler.isVisible(member: member.name, isCollection: isCollection) else {
                    continue
                }
                if isDeep, isCollection, !member.isLink {
                    level.rest.append(member)
                } else {
                    renderer.add(member, of: level.path)
                }
                try await flush(&renderer, &work, to: writer)
            }
            open.append(level)
        }
    }

    /// - Parameter depth: how many collections are open.
    private func list(_ path: ResourcePath, depth: Int) async throws -> ResourceMembers {
        guard depth < Self.depthLimit else {
            throw WebDAVError(.forbidden, condition: .propfindFiniteDepth)
        }
        do {
            return try await handler.store.members(
                of: path, withProperties: wanted.needsDeadProperties)
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw error as? WebDAVError ?? WebDAVError(.internalServerError)
        }
    }

    /// Sends what has become long enough, and suspends after some work: a batch that is ready does
    /// not suspend, nor does a client that reads fast or gets little.
    private func flush(
        _ renderer: inout PropertyRenderer, _ work: inout Int, to writer: ResponseWriter
    ) async throws {
        work += 1
        if renderer.all.writer.bytes.count >= Self.pieceBytes {
            try await writer.write(renderer.all.writer.take())
            work += Self.pieceWork
        }
        guard work >= Self.turn else { return }
        work = 0
        await Task.yield()
    }
}

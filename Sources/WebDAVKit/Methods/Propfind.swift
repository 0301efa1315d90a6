internal import HTTPParser
internal import HTTPServerCore

/// The properties that a PROPFIND asks for (RFC 4918 section 14.20).
enum PropertyWish: Hashable, Sendable {
    /// The dead ones, the live ones of RFC 4918, and those.
    case all(including: [XMLName])
    /// The names of all.
    case names
    case some([XMLName])

    init(_ content: XMLElement) throws(WebDAVError) {
        guard content.name == .dav("propfind") else {
            throw WebDAVError(.badRequest, "propfind is expected")
        }
        if let prop = content.child(.dav("prop")) {
            self = .some(prop.children.map(\.name))
        } else if content.child(.dav("propname")) != nil {
            self = .names
        } else if content.child(.dav("allprop")) != nil {
            self = .all(including: content.child(.dav("include"))?.children.map(\.name) ?? [])
        } else {
            throw WebDAVError(.badRequest, "propfind has to ask for something")
        }
    }

    /// Whether dead properties have to be looked at.
    var needsDeadProperties: Bool {
        guard case .some(let names) = self else { return true }
        return names.contains { LiveProperty($0)?.isProtected != true }
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
        let wish =
            try await call.meaning(propertyWishes) { try PropertyWish($0) } ?? .all(including: [])
        guard depth != .infinity || options.allowsInfiniteDepth else {
            throw WebDAVError(
                .forbidden, "whole trees are not listed", condition: .propfindFiniteDepth)
        }
        guard let info = try await visibleInfo(call.path) else { throw WebDAVError.notFound }
        try await requireConditions(call, info)
        var renderer = PropertyRenderer(call.mount, wish, mediaTypes: options.mediaTypes)
        renderer.source.locks = try await locks.locks(on: call.path, andInside: depth != .zero)
        if wish.needsQuota { renderer.source.quota = try await store.quota(at: call.path) }
        let dead = wish.needsDeadProperties ? try await store.properties(of: call.path) : []
        renderer.add(call.path, info, dead)
        guard info.isCollection, depth != .zero else {
            renderer.all.finish()
            return Response(
                .multiStatus,
                body: .bytes(renderer.all.writer.bytes, mediaType: Multistatus.mediaType))
        }
        let members = try await store.members(
            of: call.path, withProperties: wish.needsDeadProperties)
        let walk = PropfindWalk(handler: self, wish: wish, isDeep: depth == .infinity)
        return Response(
            .multiStatus,
            body: .stream(mediaType: Multistatus.mediaType) { [renderer] writer in
                var renderer = renderer
                try await walk.send(members, of: call.path, by: &renderer, to: writer)
                renderer.all.finish()
                try await writer.write(renderer.all.writer.take())
            })
    }
}

/// Goes through a tree, with one open collection for each level and nothing else in memory.
struct PropfindWalk: Sendable {
    /// Collections inside of each other, more than which nobody has.
    private static let depthLimit = 128
    private static let pieceBytes = 64 << 10

    let handler: WebDAVHandler
    let wish: PropertyWish
    let isDeep: Bool

    func send(
        _ members: ResourceMembers, of path: ResourcePath, by renderer: inout PropertyRenderer,
        to writer: ResponseWriter
    ) async throws {
        var open = [(path: path, members: members, rest: [ResourcePath]())]
        while var level = open.popLast() {
            if let inner = level.rest.popLast() {
                open.append(level)
                guard open.count < Self.depthLimit,
                    let members = try? await handler.store.members(
                        of: inner, withProperties: wish.needsDeadProperties)
                else { continue }
                open.append((inner, members, []))
                continue
            }
            guard let batch = try await level.members.next() else { continue }
            for member in batch {
                let isCollection = member.info.isCollection
                guard handler.isVisible(member: member.name, isCollection: isCollection) else {
                    continue
                }
                renderer.add(member, of: level.path)
                if isDeep, isCollection, !member.isLink {
                    level.rest.append(level.path.appending(member.name))
                }
                if renderer.all.writer.bytes.count >= Self.pieceBytes {
                    try await writer.write(renderer.all.writer.take())
                }
            }
            open.append(level)
        }
    }
}

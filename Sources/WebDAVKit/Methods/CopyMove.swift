internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

extension WebDAVHandler {
    /// COPY and MOVE (RFC 4918 sections 9.8 and 9.9).
    ///
    /// A tree is neither copied nor moved into itself or onto one of its ancestors: replacing the
    /// destination would remove the source.
    func copyOrMove(_ call: WebDAVCall, isMove: Bool) async throws -> Response {
        let (source, found) = (call.path, try await destination(call))
        // If the store ignores case, a MOVE may ask for another spelling of its source.
        let spelled = isMove && found == source ? try respelled(source, call) : nil
        let target = spelled ?? found
        guard let overwrite = Overwrite.parse(call.request.fields[.overwrite]) else {
            throw WebDAVError(.badRequest, "expected Overwrite T or F")
        }
        let depth = try call.depth(orDefault: .infinity)
        guard !target.isRoot, !isMove || !source.isRoot else { throw WebDAVError.forbidden }
        return try await change([source, target], call) {
            guard let info = try await visibleInfo(source) else { throw WebDAVError.notFound }
            guard !info.isCollection || depth == .infinity || (depth == .zero && !isMove) else {
                throw WebDAVError(.badRequest, "this method does not support that Depth")
            }
            try requireVisible(target, isCollection: info.isCollection)
            var old: ResourceInfo?
            if spelled == nil {
                guard !(try await store.overlap(source, target)) else {
                    throw WebDAVError(.forbidden, "source and destination overlap")
                }
                old = try await store.infoIfThere(target)
            }
            if old == nil {
                try requireTextName(target)
                try await store.requireParent(of: target)
                try await removeLocks(onMissing: target)
            }
            try await requireConditions(call, info)
            if !overwrite, spelled == nil {
                // A link that leads out of the root is not a resource, but its name is taken.
                guard old == nil, !(try await store.isTaken(target)) else {
                    throw WebDAVError.taken
                }
            }
            if isMove { try await requireUnlocked(source, andMembership: true, call) }
            try await requireUnlocked(target, andMembership: old == nil, call)
            var locked = isMove ? try await lockedMembers(of: source, call) : []
            if old != nil { locked += try await lockedMembers(of: target, call) }
            guard locked.isEmpty else { return await response(locked, call) }
            let operation =
                isMove
                ? WebDAVOperation.move(source, to: target) : .copy(source, to: target)
            try await require(operation, call)
            try await transfer(
                source, to: target, isMove: isMove, deep: depth == .infinity,
                replaces: overwrite || spelled != nil, call)
            // Locks do not move with a resource, so they are removed at the source (section 7.6).
            if isMove { await giveUpLocks(inside: source, includingRoot: true, call) }
            if old != nil { await giveUpLocks(inside: target, includingRoot: false, call) }
            await tell(operation, call)
            var response = Response(old == nil ? .created : .noContent)
            if !info.isCollection {
                response.entityTag = (try? await store.info(at: target))?.entityTag
            }
            return response
        }
    }

    /// Copies or moves. A failure may leave both trees incomplete, for example in a move to another
    /// volume. Then the locks on missing members are removed.
    private func transfer(
        _ source: ResourcePath, to target: ResourcePath, isMove: Bool, deep: Bool,
        replaces: Bool, _ call: WebDAVCall
    ) async throws {
        do {
            if isMove {
                try await store.move(source, to: target, replaces: replaces)
            } else {
                try await store.copy(source, to: target, deep: deep, replaces: replaces)
            }
        } catch {
            for path in [source, target] { await giveUpLocks(onMissingWithin: path, call) }
            throw error
        }
    }

    private func destination(_ call: WebDAVCall) async throws -> ResourcePath {
        guard let field = call.request.fields[.destination] else {
            throw WebDAVError(.badRequest, "Destination is missing")
        }
        guard let path = try await resourcePath(field, call) else {
            throw WebDAVError(.badGateway, "the destination is outside of this share")
        }
        return path
    }

    /// The source's path with the spelling in Destination; `nil` if the spelling is the same.
    private func respelled(
        _ source: ResourcePath, _ call: WebDAVCall
    ) throws(WebDAVError) -> ResourcePath? {
        guard let field = call.request.fields[.destination],
            let name = try inner(field, call)?.last(where: { !$0.isEmpty }), name != source.name
        else { return nil }
        return source.parent?.appending(name)
    }
}

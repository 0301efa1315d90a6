internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import Logging
internal import ToolkitSystem

extension WebDAVHandler {
    /// LOCK (RFC 4918 section 9.10): creates a lock or, without content, refreshes one.
    func lock(_ call: WebDAVCall) async throws -> Response {
        guard let wanted = try await call.meaning(lockRequests, { try LockRequest($0) }) else {
            return try await refresh(call)
        }
        // Windows omits Depth, even with files.
        let depth = try call.depth(orDefault: .infinity)
        guard depth != .one else { throw WebDAVError(.badRequest, "expected Depth 0 or infinity") }
        let path = call.path
        if let answer = try await hold([path], call, { try await grant(wanted, depth, path, call) })
        {
            return answer
        }
        // Hold the path of the locked resource as well.
        let root = try await lockRoot(path, isCollection: true)
        let answer = try await hold([path, root], call) {
            try await grant(wanted, depth, root, call)
        }
        guard let answer else {
            throw Self.changedLink
        }
        return answer
    }

    /// - Parameter held: a path that is held in addition to the path of the request.
    /// - Returns: `nil`, with nothing changed, if the lock would be on a path that is not held.
    private func grant(
        _ wanted: LockRequest, _ depth: Depth, _ held: ResourcePath, _ call: WebDAVCall
    ) async throws -> Response? {
        let info = try await store.infoIfThere(call.path)
        let isCollection = info?.isCollection ?? false
        try requireVisible(call.path, isCollection: isCollection)
        try await requireRealFolder(call.path)
        let root = try await lockRoot(call.path, isCollection: isCollection)
        guard root == held || root == call.path else { return nil }
        if info == nil {
            try requireTextName(call.path)
            try await store.requireParent(of: call.path)
            try await removeLocks(onMissing: call.path)
        }
        try await requireConditions(call, info)
        if info == nil {
            try await requireUnlocked(call.path, andMembership: true, call)
        }
        try await require(.lock(call.path), call)
        if info == nil { try await require(.upload(call.path), call) }
        // A LOCK of a missing resource creates an empty file (section 7.3), before the lock, so
        // that no lock is on a missing resource.
        if info == nil { try await makeEmpty(call) }
        let lock: ActiveLock
        do {
            lock = try await add(newLock(wanted, depth, root, isCollection: isCollection, call))
        } catch {
            if info == nil { await takeBackEmpty(call.path, call) }
            guard let members = membersInTheWay(error, of: root, call) else { throw error }
            return await response(members, call)
        }
        if info == nil { await tell(.upload(call.path), call) }
        await tell(.lock(call.path), call)
        return answer(lock, info == nil ? .created : .ok, call)
    }

    /// Locks an existing file without waiting, if no other lock conflicts.
    func lockNow(
        _ content: [UInt8], _ call: WebDAVCall, _ access: ImmediateAccess
    ) throws -> Response? {
        guard !content.isEmpty else { return nil }
        let wanted = try lockRequests.meaning(of: content) { bytes in
            try LockRequest(try XMLReader.read(bytes))
        }
        let depth = try call.depth(orDefault: .infinity)
        guard depth != .one, let info = try access.store.infoNow(call.path), !info.isCollection
        else { return nil }
        try requireVisible(call.path, isCollection: false)
        if let folder = call.path.parent, !folder.isRoot {
            // If not, another request has replaced the folder with a link since the path was read.
            guard try access.store.canonicalNow(folder, followsLast: true) == folder else {
                return nil
            }
        }
        let lock = try access.locks.addNow(
            newLock(wanted, depth, call.path, isCollection: false, call))
        return answer(lock, .ok, call)
    }

    /// Refuses a path whose folder has become a link since the path was read. Other requests follow
    /// the link, so they would never meet a lock on this path.
    private func requireRealFolder(_ path: ResourcePath) async throws {
        guard let folder = path.parent, !folder.isRoot,
            try await store.canonical(folder, followsLast: true) != folder
        else { return }
        throw Self.changedLink
    }

    private static var changedLink: WebDAVError {
        WebDAVError(.conflict, "another request has changed a link on the path")
    }

    private func newLock(
        _ wanted: LockRequest, _ depth: Depth, _ root: ResourcePath, isCollection: Bool,
        _ call: WebDAVCall
    ) -> ActiveLock {
        ActiveLock(
            root: root, isCollection: isCollection, isDeep: depth == .infinity,
            scope: wanted.scope, owner: wanted.owner, user: call.request.identity?.name,
            timeout: timeout(call))
    }

    /// Takes a lock. Locks on removed members do not conflict.
    private func add(_ lock: ActiveLock) async throws -> ActiveLock {
        do {
            return try await locks.add(lock)
        } catch let error as WebDAVError where error.condition == .noConflictingLock {
            let inside = error.resources.filter { $0 != lock.root && $0.isWithin(lock.root) }
            guard try await !removeLocks(onMissingOf: Set(inside)).isEmpty else { throw error }
            return try await locks.add(lock)
        }
    }

    /// The answer for a tree with locked members (section 9.10.3); `nil` when the conflicting lock
    /// is on the resource itself or on a collection around it.
    private func membersInTheWay(
        _ error: any Error, of root: ResourcePath, _ call: WebDAVCall
    ) -> [ResourceFailure]? {
        guard let error = error as? WebDAVError, error.condition == .noConflictingLock,
            !error.resources.isEmpty,
            error.resources.allSatisfy({ $0 != root && $0.isWithin(root) })
        else { return nil }
        let roots = Set(error.resources)
        return [ResourceFailure(call.path, WebDAVError(.failedDependency))]
            + roots.sorted().map { root in
                ResourceFailure(
                    root,
                    WebDAVError(
                        .locked, condition: .noConflictingLock, resources: [root],
                        collections: error.collections.intersection([root])))
            }
    }

    /// The path to lock: for a link to a collection, the path of the collection, because its
    /// members are locked by that path.
    private func lockRoot(
        _ path: ResourcePath, isCollection: Bool
    ) async throws -> ResourcePath {
        isCollection ? try await store.canonical(path, followsLast: true) : path
    }

    private func makeEmpty(_ call: WebDAVCall) async throws {
        guard !call.namesCollection else { throw WebDAVError.noParent }
        let content = try await store.stage(.empty, for: call.path, expected: 0)
        _ = try await store.place(content, at: call.path, modified: nil) { info in
            // The resource may have been created while the delegate decided.
            guard info == nil else {
                throw WebDAVError(.conflict, "another request has created the resource")
            }
        }
    }

    /// Removes the empty file of a refused lock, unless another program has written to the file. A
    /// failure to remove it is only logged: the client gets the reason why the lock was refused.
    private func takeBackEmpty(_ path: ResourcePath, _ call: WebDAVCall) async {
        do {
            guard try await store.infoIfThere(path)?.length == 0 else { return }
            if let failure = try await store.remove(path).first { throw failure.error }
        } catch {
            call.request.logger.error(
                "the empty file of a refused lock could not be removed",
                metadata: ["error": "\(error)"])
        }
    }

    private func refresh(_ call: WebDAVCall) async throws -> Response {
        guard call.ifHeader != nil else {
            throw WebDAVError(
                .badRequest, "expected content to create a lock, or If to refresh one")
        }
        // No path is held: no resource changes, and the lock could expire while the request waits.
        let info = try await store.infoIfThere(call.path)
        try requireVisible(call.path, isCollection: info?.isCollection ?? false)
        guard let lock = try await lock(on: call.path, where: { isTokenSubmitted($0, call) }) else {
            throw Self.noSuchLock(.preconditionFailed)
        }
        // A token after `Not` counts as submitted, but its condition is false: the lock exists.
        try await requireConditions(call, info)
        try await require(.lock(call.path), call)
        guard let fresh = try await locks.refresh(lock.token, timeout: timeout(call)) else {
            throw Self.noSuchLock(.preconditionFailed)
        }
        await tell(.lock(call.path), call)
        return answer(fresh, .ok, call, isNew: false)
    }

    private static func noSuchLock(_ status: HTTPStatus) -> WebDAVError {
        WebDAVError(status, "the resource has no such lock", condition: .lockTokenMatchesRequestURI)
    }

    private func timeout(_ call: WebDAVCall) -> Int {
        let wanted = call.request.fields.list(.timeout).flatMap { Timeout.seconds($0) }
        return max(1, min(wanted ?? options.lockTimeout, options.lockTimeout))
    }

    private func answer(
        _ lock: ActiveLock, _ status: HTTPStatus, _ call: WebDAVCall, isNew: Bool = true
    ) -> Response {
        var writer = XMLWriter(reservingCapacity: 768)
        writer.markup("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:prop xmlns:D=\"DAV:\">")
        writer.lockDiscovery([lock], call.mount, Syscalls.realtime().seconds)
        writer.markup("</D:prop>\n")
        let fields: HTTPFields = isNew ? [.lockToken: "<" + lock.token.uri + ">"] : [:]
        return Response(
            status, fields: fields,
            body: .bytes(writer.bytes, mediaType: Multistatus.mediaType))
    }

    /// UNLOCK (RFC 4918 section 9.11), at any resource that the lock covers.
    func unlock(_ call: WebDAVCall) async throws -> Response {
        guard let field = call.request.fields[.lockToken], let token = LockToken(field: field)
        else { throw WebDAVError(.badRequest, "Lock-Token is missing") }
        return try await hold([call.path], call) {
            // The If field applies to every method (section 10.4).
            if call.ifHeader != nil || call.request.hasConditions {
                try await requireConditions(call, try await store.infoIfThere(call.path))
            }
            guard let lock = try await lock(on: call.path, where: { $0.token == token }) else {
                throw Self.noSuchLock(.conflict)
            }
            guard UserKey(lock.user) == UserKey(call.request.identity?.name) else {
                throw WebDAVError.forbidden
            }
            try await require(.unlock(call.path), call)
            try await locks.remove(token)
            await tell(.unlock(call.path), call)
            return Response(.noContent)
        }
    }
}

extension WebDAVHandler {
    /// UNLOCK without waiting, if the lock covers the request's path and belongs to the request's
    /// user.
    func unlockNow(_ call: WebDAVCall, _ access: ImmediateAccess) -> Response? {
        guard let field = call.request.fields[.lockToken], let token = LockToken(field: field)
        else { return nil }
        let user = UserKey(call.request.identity?.name)
        let isRemoved = access.locks.removeNow(token) { lock in
            lock.covers(call.path) && UserKey(lock.user) == user
        }
        return isRemoved ? Response(.noContent) : nil
    }
}

/// The body of a LOCK request (RFC 4918 section 14.11).
struct LockRequest: Hashable, Sendable {
    var scope: ActiveLock.Scope
    /// The `DAV:owner` element as XML that declares all namespaces it uses.
    var owner = ""

    init(_ content: XMLElement) throws(WebDAVError) {
        guard content.name == .dav("lockinfo"), let scope = content.child(.dav("lockscope")),
            content.child(.dav("locktype"))?.child(.dav("write")) != nil
        else { throw WebDAVError(.badRequest, "expected lockinfo with a write lock") }
        if scope.child(.dav("exclusive")) != nil {
            self.scope = .exclusive
        } else if scope.child(.dav("shared")) != nil {
            self.scope = .shared
        } else {
            throw WebDAVError(.badRequest, "expected an exclusive or a shared lock")
        }
        guard let owner = content.child(.dav("owner")) else { return }
        self.owner = owner.fragment(
            scope: NamespaceScope(content.declarations), language: content.languageIfSet)
        // Locks are kept in memory and shown to every client that asks.
        guard self.owner.utf8.count <= 8 << 10 else {
            throw WebDAVError(.contentTooLarge, "the owner element is too long")
        }
    }
}

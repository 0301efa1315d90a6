internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// Checks before a change: If, the conditions of HTTP, and locks.
extension WebDAVHandler {
    /// Checks If and the conditional fields of HTTP against a resource.
    /// - Parameter info: the description of the request's resource; `nil` if it is missing.
    func requireConditions(_ call: WebDAVCall, _ info: ResourceInfo?) async throws {
        guard try await isIfTrue(call, info) else { throw WebDAVError(.preconditionFailed) }
        // Most requests have no conditions, and do not need the tag and the date.
        guard call.request.hasConditions else { return }
        try call.request.requireConditions(
            entityTag: info?.entityTag, lastModified: info?.modified.httpDate, exists: info != nil)
    }

    /// Whether If holds; true without an If field.
    func isIfTrue(_ call: WebDAVCall, _ info: ResourceInfo?) async throws -> Bool {
        guard let header = call.ifHeader else { return true }
        return try await holds(header, call, info)
    }

    /// RFC 4918 section 10.4: one list has to hold, with all of its conditions.
    private func holds(
        _ header: IfHeader, _ call: WebDAVCall, _ info: ResourceInfo?
    ) async throws -> Bool {
        // Each resource is looked up once, even if many conditions are about it.
        var subjects: [ByteText?: ConditionSubject] = [:]
        for list in header.lists {
            let tag = list.resource.map { ByteText($0) }
            let subject: ConditionSubject
            if let known = subjects[tag] {
                subject = known
            } else {
                subject = try await self.subject(list.resource, header.tokens, call, info)
                subjects[tag] = subject
            }
            if subject.meets(list.conditions) { return true }
        }
        return false
    }

    /// Looks up a resource that conditions are about.
    /// - Parameters:
    ///   - tag: the resource as If names it; `nil` for the resource of the request.
    ///   - tokens: all tokens of the conditions.
    ///   - info: the description of the request's resource.
    private func subject(
        _ tag: String?, _ tokens: Set<LockToken>, _ call: WebDAVCall, _ info: ResourceInfo?
    ) async throws -> ConditionSubject {
        let named: ResourcePath? =
            if let tag { try await taggedPath(tag, call) } else { call.path }
        guard let path = named else { return ConditionSubject(info: nil, tokens: []) }
        let known = try await path == call.path ? info : store.infoIfThere(path)
        return ConditionSubject(info: known, tokens: try await locked(path, by: tokens))
    }

    /// The resource that a tag of an If field names; `nil` for one on another server or outside of
    /// this mount, which has neither entity tags nor locks here.
    ///
    /// Other errors are thrown: a `Not` condition would hold for a resource that only could not be
    /// looked up.
    private func taggedPath(
        _ resource: String, _ call: WebDAVCall
    ) async throws -> ResourcePath? {
        do {
            return try await resourcePath(resource, call)
        } catch let error as WebDAVError
            where [.badRequest, .badGateway, .notFound].contains(error.status)
        {
            return nil
        }
    }

    /// The tokens among `tokens` whose locks cover a path. A lock on a link to a collection is on
    /// the collection.
    private func locked(
        _ path: ResourcePath, by tokens: Set<LockToken>
    ) async throws -> Set<LockToken> {
        guard !tokens.isEmpty else { return [] }
        let known = try await store.canonical(path, followsLast: false)
        let found = tokens.intersection(
            try await locks.locks(on: known, andInside: false).map(\.token))
        guard found.count < tokens.count else { return found }
        let root = try await store.canonical(known, followsLast: true)
        guard root != known else { return found }
        let others = try await locks.locks(on: root, andInside: false).map(\.token)
        return found.union(tokens.intersection(others))
    }

    /// A lock that covers a path. A lock on a link to a collection is on the collection.
    func lock(
        on path: ResourcePath, where isWanted: (ActiveLock) -> Bool
    ) async throws -> ActiveLock? {
        let found = try await locks.locks(on: path, andInside: false).first(where: isWanted)
        if let found { return found }
        let root = try await store.canonical(path, followsLast: true)
        guard root != path else { return nil }
        return try await locks.locks(on: root, andInside: false).first(where: isWanted)
    }

    /// Checks that the client has submitted a token for each locked resource that changes.
    ///
    /// One token for each resource is enough: several locks on it are shared locks, and each allows
    /// changes (RFC 4918 sections 6.2 and 7).
    /// - Parameters:
    ///   - path: the changed resource.
    ///   - andMembership: whether the collection around it gets or loses a member (section 7.4).
    @inline(never)  // Each caller would have a copy of it.
    func requireUnlocked(
        _ path: ResourcePath, andMembership: Bool, _ call: WebDAVCall
    ) async throws {
        try requireToken(try await locks.locks(on: path, andInside: false), call)
        if andMembership, let parent = path.parent {
            try requireToken(try await locks.locks(on: parent, andInside: false), call)
        }
    }

    /// Removes the locks on missing resources: another program removed the resource, or a process
    /// died before it could remove the lock. Call it while the path is held.
    @inline(never)  // Each caller would have a copy of it.
    package func removeLocks(onMissing path: ResourcePath) async throws {
        try await locks.removeAll(inside: path, includingRoot: true)
    }

    /// Whether the path does not exist; `false` if that cannot be determined.
    private func isGone(_ path: ResourcePath) async -> Bool {
        do {
            return try await !store.isTaken(path)
        } catch let error as WebDAVError {
            return error.status == .notFound || error.status == .conflict
        } catch {
            return false
        }
    }

    /// Removes the locks on missing resources among `roots`. Call it while the path lock on their
    /// ancestors is held.
    /// - Returns: the missing resources.
    package func removeLocks(
        onMissingOf roots: Set<ResourcePath>
    ) async throws -> Set<ResourcePath> {
        var gone: Set<ResourcePath> = []
        var last: ResourcePath?
        for root in roots.sorted() {
            // Members of the removed resource follow it in the order, and are gone, too.
            if let last, root.isWithin(last) {
                gone.insert(root)
                continue
            }
            guard await isGone(root) else { continue }
            try await removeLocks(onMissing: root)
            gone.insert(root)
            last = root
        }
        return gone
    }

    /// Removes the locks on missing resources: another program removed the resource, or a process
    /// died before it could remove the lock.
    ///
    /// A server whose locks survive restarts calls this before its first request. Later, such locks
    /// are removed when a request meets them. A resource on a volume that is not mounted yet looks
    /// like a removed one: mount all volumes below the root first.
    /// - Throws: errors of the lock store.
    public func removeStaleLocks() async throws {
        let roots = Set(try await locks.locks(on: .root, andInside: true).map(\.root))
        for root in roots.sorted() {
            _ = try await pathLock.hold([root]) { try await removeLocks(onMissingOf: [root]) }
        }
    }

    private func requireToken(_ found: [ActiveLock], _ call: WebDAVCall) throws(WebDAVError) {
        guard !found.isEmpty, !found.contains(where: { isTokenSubmitted($0, call) }) else { return }
        throw WebDAVError(
            .locked, "the resource is locked", condition: .lockTokenSubmitted, locks: found)
    }

    /// Whether the client has submitted the token and owns the lock.
    func isTokenSubmitted(_ lock: ActiveLock, _ call: WebDAVCall) -> Bool {
        call.tokens.contains(lock.token)
            && UserKey(lock.user) == UserKey(call.request.identity?.name)
    }

    /// The members of a tree with locks whose tokens were not submitted.
    func lockedMembers(
        of path: ResourcePath, _ call: WebDAVCall
    ) async throws -> [ResourceFailure] {
        let inside = try await locks.locks(on: path, andInside: true).filter {
            $0.root != path && $0.root.isWithin(path)
        }
        guard !inside.isEmpty else { return [] }
        let closed = Dictionary(grouping: inside, by: \.root)
            .filter { _, locks in !locks.contains { isTokenSubmitted($0, call) } }
        // A lock on a missing member does not conflict, even if the lock store still has it.
        let gone = try await removeLocks(onMissingOf: Set(closed.keys))
        return closed.filter { !gone.contains($0.key) }.sorted { $0.key < $1.key }
            .map { root, locks in
                ResourceFailure(
                    root,
                    WebDAVError(
                        .locked, condition: .lockTokenSubmitted, locks: Array(locks.prefix(1))))
            }
    }

    /// Runs `body` with exclusive access to these paths, their ancestors and their descendants. A
    /// request that had to wait is dropped once its client has gone.
    func change<Result: Sendable>(
        _ paths: [ResourcePath], _ call: WebDAVCall, _ body: () async throws -> Result
    ) async throws -> Result {
        try await hold(paths, call) { try await store.perform(body) }
    }

    /// The same as `change`, but `body` runs on the caller's thread.
    func hold<Result>(
        _ paths: [ResourcePath], _ call: WebDAVCall, _ body: () async throws -> Result
    ) async throws -> Result {
        try await pathLock.hold(paths, isWanted: { await call.request.isAwaited() }, body)
    }

    /// A 207 answer with the members that failed.
    func response(_ failures: [ResourceFailure], _ call: WebDAVCall) async -> Response {
        var all = Multistatus(call.mount)
        for failure in failures { all.add(failure, isCollection: await isCollection(failure)) }
        all.finish()
        return Response(
            .multiStatus, body: .bytes(all.writer.bytes, mediaType: Multistatus.mediaType))
    }

    private func isCollection(_ failure: ResourceFailure) async -> Bool {
        let error = failure.error
        guard !error.resources.contains(failure.path) else {
            return error.collections.contains(failure.path)
        }
        return (try? await store.infoIfThere(failure.path))?.isCollection ?? false
    }
}

/// A resource that conditions of If are about.
private struct ConditionSubject {
    /// The description of the resource; `nil` if it is missing.
    var info: ResourceInfo?
    /// The tokens of the field whose locks cover the resource.
    var tokens: Set<LockToken>

    /// Whether all conditions of a list hold.
    func meets(_ conditions: [IfHeader.Condition]) -> Bool {
        conditions.allSatisfy { condition in
            let holds =
                switch condition.kind {
                case .token(let token): tokens.contains(LockToken(uri: token))
                case .tag(let tag): info?.entityTag?.strongMatches(tag) ?? false
                }
            return holds != condition.isNegated
        }
    }
}

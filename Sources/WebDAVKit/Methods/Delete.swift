internal import HTTPParser
internal import HTTPServerCore

extension WebDAVHandler {
    /// DELETE (RFC 4918 section 9.6): removes a resource, and a collection with all its members. If
    /// a member is locked, nothing is removed.
    func delete(_ call: WebDAVCall) async throws -> Response {
        let path = call.path
        guard !path.isRoot else { throw WebDAVError.forbidden }
        let depth = try call.depth(orDefault: .infinity)
        return try await change([path], call) {
            guard let info = try await visibleInfo(path) else { throw WebDAVError.notFound }
            guard !info.isCollection || depth == .infinity else {
                throw WebDAVError(
                    .badRequest, "a collection can only be removed as a whole; omit Depth")
            }
            try await requireConditions(call, info)
            try await requireUnlocked(path, andMembership: true, call)
            let locked = try await lockedMembers(of: path, call)
            guard locked.isEmpty else { return await response(locked, call) }
            try await require(.remove(path), call)
            let failures = try await store.remove(path)
            guard failures.isEmpty else {
                // The other members are gone. New resources must not inherit their locks.
                await giveUpLocks(onMissingWithin: path, call)
                if failures.count == 1, failures[0].path == path { throw failures[0].error }
                return await response(failures, call)
            }
            await giveUpLocks(inside: path, includingRoot: true, call)
            await tell(.remove(path), call)
            return Response(.noContent)
        }
    }
}

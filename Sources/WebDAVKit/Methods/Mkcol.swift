internal import HTTPParser
internal import HTTPServerCore

extension WebDAVHandler {
    /// MKCOL (RFC 4918 section 9.3).
    func mkcol(_ call: WebDAVCall) async throws -> Response {
        let path = call.path
        guard !path.isRoot else { throw WebDAVError(.methodNotAllowed) }
        try requireVisible(path, isCollection: true)
        guard try await call.request.body.collect(upTo: 1 << 20).isEmpty else {
            throw WebDAVError(.unsupportedMediaType, "content has no meaning here")
        }
        return try await change([path]) {
            let info = try await store.infoIfThere(path)
            guard info == nil else { throw WebDAVError(.methodNotAllowed, "it is there already") }
            try await store.requireParent(of: path)
            try await forgetLocks(onNothingAt: path)
            try await requireConditions(call, nil)
            try await requireUnlocked(path, andMembership: true, call)
            try await require(.makeCollection(path), call)
            try await store.makeCollection(at: path)
            await tell(.makeCollection(path), call)
            return Response(.created)
        }
    }
}

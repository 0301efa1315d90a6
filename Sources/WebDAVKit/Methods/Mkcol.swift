internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import Logging

extension WebDAVHandler {
    /// MKCOL (RFC 4918 section 9.3), which may set properties (RFC 5689). The collection is created
    /// with all of them, or not at all.
    func mkcol(_ call: WebDAVCall) async throws -> Response {
        let path = call.path
        guard !path.isRoot else { throw WebDAVError(.methodNotAllowed) }
        try requireVisible(path, isCollection: true)
        let updates = try await collectionProperties(call)
        return try await change([path], call) {
            let info = try await store.infoIfThere(path)
            guard info == nil else {
                throw WebDAVError(.methodNotAllowed, "the resource exists already")
            }
            try requireTextName(path)
            try await store.requireParent(of: path)
            try await removeLocks(onMissing: path)
            try await requireConditions(call, nil)
            try await requireUnlocked(path, andMembership: true, call)
            try await require(.makeCollection(path), call)
            let hasProperties = updates.contains { $0.name != .dav("resourcetype") }
            if hasProperties { try await require(.changeProperties(path), call) }
            if let refusal = Self.refusal(updates) { return answer(updates, refusal, call) }
            try await store.makeCollection(at: path)
            if let refusal = try await describe(path, updates, call) {
                return answer(updates, refusal, call)
            }
            await tell(.makeCollection(path), call)
            if hasProperties { await tell(.changeProperties(path), call) }
            return Response(.created)
        }
    }

    /// MKCOL of a request without content, without waiting.
    func mkcolNow(_ call: WebDAVCall, _ access: ImmediateAccess) throws -> Response? {
        let path = call.path
        guard !path.isRoot else { return nil }
        try requireVisible(path, isCollection: true)
        try requireTextName(path)
        guard access.isUnlocked(path, isNew: true), try access.store.makeCollectionNow(at: path)
        else { return nil }
        return Response(.created)
    }

    /// The requested properties of the collection; none without content.
    private func collectionProperties(_ call: WebDAVCall) async throws -> [PropertyUpdate] {
        // Content of other kinds has no meaning: RFC 4918 section 9.3 asks for 415.
        let type = call.request.fields[.contentType]
            .flatMap { $0.utf8.count <= 255 ? MediaType($0) : nil }
        guard type?.isXML == true else {
            guard try await call.request.body.collect(upTo: 1 << 20).isEmpty else {
                throw WebDAVError(
                    .unsupportedMediaType, "expected an XML element mkcol, or no content")
            }
            return []
        }
        guard let content = try await call.content() else { return [] }
        let updates = try PropertyUpdate.all(content, root: "mkcol")
        guard updates.allSatisfy({ $0.value != nil }) else {
            throw WebDAVError(.badRequest, "a new collection has no properties to remove")
        }
        return updates
    }

    /// The reason why a new collection cannot have some properties; `nil` if it can have all.
    private static func refusal(_ updates: [PropertyUpdate]) -> PropertyRefusal? {
        let kinds = updates.filter { $0.name == .dav("resourcetype") && !$0.isPlainCollection }
        guard kinds.isEmpty else {
            return PropertyRefusal(kinds, WebDAVError(.forbidden, condition: .validResourceType))
        }
        let refused = updates.filter { $0.name != .dav("resourcetype") && $0.isRefused }
        guard !refused.isEmpty else { return nil }
        return PropertyRefusal(
            refused, WebDAVError(.forbidden, condition: .cannotModifyProtectedProperty))
    }

    /// Sets the properties of a new collection, or removes the collection if that fails.
    private func describe(
        _ path: ResourcePath, _ updates: [PropertyUpdate], _ call: WebDAVCall
    ) async throws -> PropertyRefusal? {
        let others = updates.filter { $0.name != .dav("resourcetype") }
        guard !others.isEmpty else { return nil }
        do {
            let info = try await store.info(at: path)
            guard let refusal = try await apply(others, info, call) else { return nil }
            await takeBack(path, call)
            return refusal
        } catch {
            await takeBack(path, call)
            throw error
        }
    }

    /// Removes a new collection again, unless another program has put something into it. The client
    /// learns why the properties were refused; an error of this removal is only logged.
    private func takeBack(_ path: ResourcePath, _ call: WebDAVCall) async {
        do {
            let members = try await store.members(of: path, withProperties: false)
            while let batch = try await members.next() {
                guard batch.isEmpty else { return }
            }
            if let failure = try await store.remove(path).first { throw failure.error }
        } catch {
            call.request.logger.error(
                "a collection whose properties were refused could not be removed",
                metadata: ["error": "\(error)"])
        }
    }

    /// RFC 5689 section 3: a `DAV:mkcol-response` gives the reason.
    private func answer(
        _ updates: [PropertyUpdate], _ refusal: PropertyRefusal, _ call: WebDAVCall
    ) -> Response {
        var all = Multistatus(call.mount, root: "mkcol-response")
        all.propstats(updates, refusal)
        all.finish()
        return Response(
            refusal.error.status,
            body: .bytes(all.writer.bytes, mediaType: Multistatus.mediaType))
    }
}

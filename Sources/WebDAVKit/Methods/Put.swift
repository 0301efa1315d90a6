internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

extension WebDAVHandler {
    /// PUT (RFC 4918 section 9.7). What can be refused is refused before the content is read; what
    /// may have changed meanwhile is checked again.
    func put(_ call: WebDAVCall) async throws -> Response {
        let path = call.path
        guard !path.isRoot else { throw WebDAVError(.methodNotAllowed) }
        try requireVisible(path, isCollection: false)
        // A client that sends a part would have the file cut (RFC 9110 section 14.5).
        guard !call.request.fields.contains(.contentRange) else {
            throw WebDAVError(.badRequest, "parts of a file are not taken")
        }
        let isCoded = call.request.fields.contains(.contentEncoding)
        let announced = isCoded ? nil : call.request.contentLength
        if !isOnItsWay(announced, call) { _ = try await requireWritable(call, isHeld: false) }
        try await require(.upload(path), call)
        try await refuse(announced, hint: Self.expectedLength(call.request), path)
        let content = try await store.stage(observed(call), for: path, expected: announced)
        try refuse(content.length)
        let modified = Self.clientTime(call.request)
        let (isNew, info) = try await change([path]) {
            let isNew = try await requireWritable(call, isHeld: true) == nil
            return (isNew, try await store.place(content, at: path, modified: modified))
        }
        await tell(.upload(path), call)
        var response = Response(isNew ? .created : .noContent)
        response.entityTag = info.entityTag
        if modified != nil { response.fields.append("X-OC-MTime", "accepted") }
        return response
    }

    /// Whether content is so short that it is sent before an answer could keep it back, and costs
    /// nothing to take: it is enough to check once, when it is there.
    private func isOnItsWay(_ announced: Int64?, _ call: WebDAVCall) -> Bool {
        guard let announced, announced <= LocalContent.memoryLimit else { return false }
        return !call.request.fields.contains(.expect) && options.shouldPerform == nil
    }

    /// Checks all that stands against new content.
    /// - Returns: what is there now.
    private func requireWritable(
        _ call: WebDAVCall, isHeld: Bool
    ) async throws -> ResourceInfo? {
        let info = try await store.infoIfThere(call.path)
        guard info?.isCollection != true, !call.namesCollection else {
            throw WebDAVError(.methodNotAllowed, "it is a collection")
        }
        if info == nil {
            try await requireParent(of: call.path)
            if isHeld {
                try await forgetLocks(onNothingAt: call.path)
            } else if try await hasOwnLock(call.path) {
                // Somebody is about to make it, or a lock is left over: that is seen later.
                return nil
            }
        }
        try await requireConditions(call, info)
        try await requireUnlocked(call.path, andMembership: info == nil, call)
        return info
    }

    /// 409 unless there is a collection around a resource.
    func requireParent(of path: ResourcePath) async throws {
        guard let parent = path.parent, !parent.isRoot else { return }
        guard let info = try await store.infoIfThere(parent), info.isCollection
        else { throw WebDAVError.noParent }
    }

    private func hasOwnLock(_ path: ResourcePath) async throws -> Bool {
        try await locks.locks(on: path, andInside: false).contains { $0.root == path }
    }

    /// Refuses what is announced to be too long, before any of it is read. What is only a hint is
    /// compared with the room that there is; a length that is certain the store looks at itself.
    private func refuse(_ announced: Int64?, hint: Int64?, _ path: ResourcePath) async throws {
        try refuse(announced ?? hint)
        guard announced == nil, let hint, let parent = path.parent,
            let available = try await store.quota(at: parent)?.available, hint > available
        else { return }
        throw WebDAVError.storageFull
    }

    private func observed(_ call: WebDAVCall) -> RequestBody {
        guard let told = options.uploadProgress else { return call.request.body }
        let (path, request) = (call.path, call.request)
        let total = request.contentLength ?? Self.expectedLength(request)
        let received = Locked<Int64>(0)
        return request.body.observed { count in
            let bytes = received.withLock { received in
                received += Int64(count)
                return received
            }
            told(path, bytes, total, request)
        }
    }

    private func refuse(_ length: Int64?) throws(WebDAVError) {
        guard let length, length > options.contentLimit else { return }
        throw WebDAVError(.contentTooLarge, "at most \(options.contentLimit) bytes are taken here")
    }

    /// Finder sends chunked content and tells the length in a field of its own.
    private static func expectedLength(_ request: Request) -> Int64? {
        request.fields["X-Expected-Entity-Length"].flatMap { FieldValues.parseDecimal($0) }
    }

    /// X-OC-Mtime: when the content was changed, in seconds since the epoch. rclone and the clients
    /// of ownCloud send it.
    private static func clientTime(_ request: Request) -> Int64? {
        request.fields["X-OC-Mtime"].flatMap { field in
            FieldValues.parseDecimal(String(field.prefix { $0 != "." }))
        }
    }
}

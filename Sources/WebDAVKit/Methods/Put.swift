internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

extension WebDAVHandler {
    /// PUT (RFC 4918 section 9.7). What can be refused is refused before the content is read; what
    /// may have changed meanwhile is checked again.
    func put(_ call: WebDAVCall) async throws -> Response {
        let path = call.path
        guard !path.isRoot, !call.namesCollection else {
            throw WebDAVError(.methodNotAllowed, "it is a collection")
        }
        try requireVisible(path, isCollection: false)
        // A client that sends a part would have the file cut (RFC 9110 section 14.5).
        guard !call.request.fields.contains(.contentRange) else {
            throw WebDAVError(.badRequest, "parts of a file are not taken")
        }
        let isCoded = call.request.fields.contains(.contentEncoding)
        let announced = isCoded ? nil : call.request.contentLength
        if !isOnItsWay(announced, call) {
            let info = try await store.infoIfThere(path)
            if info == nil { try await store.requireParent(of: path) }
            // Somebody may be about to make it, or a lock is left over: that is seen later.
            let isAwaited = info == nil ? try await hasOwnLock(path) : false
            if !isAwaited { try await requireWritable(call, info) }
        }
        try await require(.upload(path), call)
        try await refuse(announced, hint: Self.expectedLength(call.request), path)
        let content = try await store.stage(observed(call), for: path, expected: announced)
        try refuse(content.length)
        let modified = Self.clientTime(call.request)
        let (isNew, info) = try await change([path]) {
            try await store.place(content, at: path, modified: modified) { info in
                if info == nil { try await forgetLocks(onNothingAt: path) }
                try await requireWritable(call, info)
            }
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
    /// - Parameter info: what is there now, if anything is.
    private func requireWritable(_ call: WebDAVCall, _ info: ResourceInfo?) async throws {
        guard info?.isCollection != true else {
            throw WebDAVError(.methodNotAllowed, "it is a collection")
        }
        try await requireConditions(call, info)
        try await requireUnlocked(call.path, andMembership: info == nil, call)
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

internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import Logging
internal import ToolkitSystem

extension WebDAVHandler {
    /// PUT (RFC 4918 section 9.7). Everything that can be refused early is refused before the
    /// content is read; conditions that may have changed are checked again before the file is
    /// replaced.
    func put(_ call: WebDAVCall) async throws -> Response {
        let path = call.path
        try requireWholeFile(call)
        let isCoded = call.request.fields.contains(.contentEncoding)
        let announced = isCoded ? nil : call.request.contentLength
        if !isOnItsWay(announced, call) { try await requireWritable(call) }
        try await require(.upload(path), call)
        try await refuse(announced, hint: Self.expectedLength(call.request), path)
        let checks = try contentChecks(call, isCoded: isCoded)
        let content = try await store.stage(
            observed(call, announced, checks), for: path, expected: announced)
        try refuse(content.length)
        if let checks { content.contentDescription.checksums = try checks.finish() }
        if let kept = keptMediaType(call) { content.contentDescription.mediaType = kept }
        let language = Self.language(call.request)
        if let language { content.contentDescription.language = language }
        let modified = Self.clientTime(call.request)
        let (isNew, info) = try await change([path], call) {
            let placed = try await store.place(content, at: path, modified: modified) { info in
                if info == nil { try await removeLocks(onMissing: path) }
                try await requireWritable(call, info)
            }
            if language != nil { await removeSetLanguage(of: path, call) }
            return placed
        }
        await tell(.upload(path), call)
        return Self.answer(isNew: isNew, info, to: call.request, keepsTime: modified != nil)
    }

    /// The answer has no entity tag if content was decoded, because a client would take it for the
    /// tag of the coded bytes that it has sent (RFC 9110 section 9.3.4).
    private static func answer(
        isNew: Bool, _ info: ResourceInfo, to request: Request, keepsTime: Bool
    ) -> Response {
        var response = Response(isNew ? .created : .noContent)
        if request.body.codings == nil, let tag = info.entityTag {
            response.fields.append(.eTag, tag.description)
        }
        if keepsTime { response.fields.append("X-OC-MTime", "accepted") }
        return response
    }

    /// PUT of short content to an unlocked file, without waiting.
    func putNow(
        _ content: [UInt8], _ call: WebDAVCall, _ access: ImmediateAccess
    ) throws -> Response? {
        let (path, fields) = (call.path, call.request.fields)
        try requireWholeFile(call)
        guard call.request.contentLength == Int64(content.count),
            !fields.contains(.contentEncoding), !fields.contains(.contentLanguage),
            try contentChecks(call, isCoded: false) == nil
        else { return nil }
        try refuse(Int64(content.count))
        let modified = Self.clientTime(call.request)
        let placed = try access.store.placeNow(
            content, ContentDescription(mediaType: keptMediaType(call)), at: path,
            modified: modified
        ) { info in
            if info == nil { try requireTextName(path) }
            return access.isUnlocked(path, isNew: info == nil)
        }
        return placed.map { isNew, info in
            Self.answer(isNew: isNew, info, to: call.request, keepsTime: modified != nil)
        }
    }

    /// The media type of the request, if it differs from the type that the file's name implies.
    private func keptMediaType(_ call: WebDAVCall) -> String? {
        call.request.fields[.contentType].flatMap { field in
            KeptMediaType.worthKeeping(
                field, derived: options.mediaTypes.contentType(ofFile: call.path.name))
        }
    }

    /// Refuses a PUT before its content is sent, as ``put(_:)`` would.
    func precheckPut(_ call: WebDAVCall) async throws {
        try requireWholeFile(call)
        try await requireWritable(call)
        try await require(.upload(call.path), call)
        let isCoded = call.request.fields.contains(.contentEncoding)
        let announced = isCoded ? nil : call.request.contentLength
        try await refuse(nil, hint: announced ?? Self.expectedLength(call.request), call.path)
        _ = try contentChecks(call, isCoded: isCoded)
    }

    /// Refuses a request that is not for a file, or only for a part of one.
    private func requireWholeFile(_ call: WebDAVCall) throws(WebDAVError) {
        guard !call.path.isRoot, !call.namesCollection else {
            throw WebDAVError(.methodNotAllowed, "the resource is a collection")
        }
        try requireVisible(call.path, isCollection: false)
        // The part would replace the whole file (RFC 9110 section 14.5).
        guard !call.request.fields.contains(.contentRange) else {
            throw WebDAVError(.badRequest, "Content-Range is not supported")
        }
    }

    /// Checks before the content is read whether it may be written.
    private func requireWritable(_ call: WebDAVCall) async throws {
        let info = try await store.infoIfThere(call.path)
        if info == nil { try await store.requireParent(of: call.path) }
        // A missing resource with a lock: another request is about to create it, or the lock is
        // stale. The check after the content decides.
        let isAwaited = info == nil ? try await hasOwnLock(call.path) : false
        if !isAwaited { try await requireWritable(call, info) }
    }

    /// The checksums that the client sent with the content. Checksums of coded content are ignored:
    /// they cover the coded bytes, and the file has them decoded.
    private func contentChecks(
        _ call: WebDAVCall, isCoded: Bool
    ) throws(WebDAVError) -> RunningChecks? {
        isCoded ? nil : try RunningChecks.of(call.request)
    }

    /// Whether content is so short that the client sends it before it could get a refusal. Then one
    /// check after the content is enough.
    private func isOnItsWay(_ announced: Int64?, _ call: WebDAVCall) -> Bool {
        guard let announced, announced <= LocalContent.memoryLimit else { return false }
        return !call.request.fields.contains(.expect) && options.shouldPerform == nil
    }

    /// Checks the name, the conditions and the locks for new content.
    /// - Parameter info: the description of the existing resource, if any.
    private func requireWritable(_ call: WebDAVCall, _ info: ResourceInfo?) async throws {
        guard info?.isCollection != true else {
            throw WebDAVError(.methodNotAllowed, "the resource is a collection")
        }
        if info == nil { try requireTextName(call.path) }
        try await requireConditions(call, info)
        try await requireUnlocked(call.path, andMembership: info == nil, call)
    }

    private func hasOwnLock(_ path: ResourcePath) async throws -> Bool {
        try await locks.locks(on: path, andInside: false).contains { $0.root == path }
    }

    /// Refuses content whose announced length is too great, before it is read. A hint is compared
    /// with the free space; the store itself checks an exact length.
    private func refuse(_ announced: Int64?, hint: Int64?, _ path: ResourcePath) async throws {
        try refuse(announced ?? hint)
        guard announced == nil, let hint, let parent = path.parent else { return }
        try await store.quota(at: parent)?.require(hint)
    }

    /// The content, with progress reported to the program. Reading throws once the content is too
    /// long; an announced length was checked before.
    private func observed(
        _ call: WebDAVCall, _ announced: Int64?, _ checks: RunningChecks?
    ) -> RequestBody {
        let told = options.uploadProgress
        let isLimited = announced == nil && options.contentLimit != .max
        guard told != nil || isLimited || checks != nil else { return call.request.body }
        let (path, request) = (call.path, call.request)
        let total = request.contentLength ?? Self.expectedLength(request)
        let received = Locked<Int64>(0)
        return request.body.observed { piece in
            checks?.update(piece)
            let count = piece.count
            let bytes = received.withLock { received in
                received += Int64(count)
                return received
            }
            try refuse(bytes)
            told?(path, bytes, total, request)
        }
    }

    private func refuse(_ length: Int64?) throws(WebDAVError) {
        guard let length, length > options.contentLimit else { return }
        throw WebDAVError(
            .contentTooLarge, "at most \(options.contentLimit) bytes are accepted")
    }

    /// The value of Content-Language, if it looks like a list of languages.
    private static func language(_ request: Request) -> String? {
        guard let field = request.fields[.contentLanguage], (1...256).contains(field.utf8.count)
        else { return nil }
        let isList = field.utf8.allSatisfy { byte in
            byte == 0x20 || byte == 0x2C || byte == 0x2D || (0x30...0x39).contains(byte)
                || (0x61...0x7A).contains(byte | 0x20)
        }
        return isList ? field : nil
    }

    /// Removes the language that a client has set as a property, which would hide the language of
    /// the new content. The content is stored already, so an error is only logged.
    private func removeSetLanguage(of path: ResourcePath, _ call: WebDAVCall) async {
        let name = LiveProperty.getcontentlanguage.name
        do {
            let properties = try await store.properties(of: path)
            guard properties.contains(where: { $0.name == name }) else { return }
            try await store.change([.remove(name)], of: path)
        } catch {
            call.request.logger.notice(
                "the old language of content could not be removed", metadata: ["error": "\(error)"])
        }
    }

    /// The length that Finder sends with chunked content, in a field that Apple defined.
    private static func expectedLength(_ request: Request) -> Int64? {
        request.fields[.expectedLength].flatMap { FieldValues.parseDecimal($0) }
    }

    /// The value of X-OC-Mtime: when the content was changed, in seconds since the epoch. rclone
    /// and ownCloud's clients send it.
    private static func clientTime(_ request: Request) -> Int64? {
        request.fields[.ownCloudTime].flatMap { field in
            FieldValues.parseDecimal(String(Substring(field.utf8.prefix { $0 != 0x2E })))
        }
    }
}

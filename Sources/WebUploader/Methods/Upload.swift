internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem
internal import WebDAVKit

/// The result of an upload or of another change.
struct Changed: Sendable, Encodable {
    var name: String
    var path: String
    var link: String
    var size: Int64?
    /// The key by which a deletion can be undone.
    var undo: String?

    init(_ path: ResourcePath, isFolder: Bool, size: Int64? = nil) {
        name = String(decoding: path.name, as: UTF8.self)
        self.path = PathText.shown(path, isFolder: isFolder)
        link = PathText.link(path, isFolder: isFolder)
        self.size = size
    }
}

extension UploaderSite {
    /// `POST upload`: a form with files, or the content of one file whose name is in the query.
    func upload(_ call: UploaderCall) async throws -> Response {
        try call.require(call.role.mayUpload)
        guard let name = call.parameter("name") else {
            return call.request.isPrecheck ? Response(.noContent) : try await uploadForm(call)
        }
        try requireToken(call, FormFields())
        guard !call.request.fields.contains(.contentRange) else {
            throw UploaderError(.badRequest, .field, "Content-Range is not supported")
        }
        let folder = try await files.canonical(
            try UploaderCall.path(call.parameter("path") ?? []))
        let conflict = try call.conflict(call.parameter("conflict"), options)
        let names = name.split(separator: 0x2F).map { Array($0) }
        guard !names.isEmpty, names.count <= 64, let relative = ResourcePath(segments: names) else {
            throw UploaderError(.badRequest, .path, "malformed name")
        }
        let wished = relative.moved(from: .root, to: folder)
        let isCoded = call.request.fields.contains(.contentEncoding)
        let announced = isCoded ? nil : call.request.contentLength
        // A file name that contains folder names comes from a dropped folder.
        let changed = try await take(
            try call.checkedContent(), wished, announced, conflict, makesFoldersIn: folder, call)
        if call.request.isPrecheck { return Response(.noContent) }
        return try answer([changed], in: folder, .created, call)
    }

    /// `multipart/form-data`: fields, then files. Each file is stored as soon as it is complete.
    private func uploadForm(_ call: UploaderCall) async throws -> Response {
        var limits = MultipartLimits.standard
        let (parts, isBeyondInt) = options.fileCountLimit.addingReportingOverflow(16)
        limits.parts = isBeyondInt ? .max : parts
        limits.fieldBytes = 64 << 10
        limits.fileBytes = options.contentLimit
        limits.totalBytes = .max
        var fields = FormFields()
        var folder: ResourcePath?
        var changed: [Changed] = []
        for try await part in try call.request.multipart(limits: limits) {
            guard let fileName = part.fileName else {
                guard folder == nil else {
                    throw UploaderError(.badRequest, .field, "fields must come before files")
                }
                fields.append(part.name ?? "", try await part.collect(upTo: 64 << 10))
                guard fields.all.count <= 16 else {
                    throw UploaderError(.contentTooLarge, .field, "there are too many fields")
                }
                continue
            }
            // Check before writing to the disk: the form may be from a page of another site.
            try requireToken(call, fields)
            // A file field without a chosen file is sent with an empty name.
            if fileName.isEmpty { continue }
            guard changed.count < options.fileCountLimit else {
                throw UploaderError(.contentTooLarge, nil, "there are too many files")
            }
            let target: ResourcePath
            if let folder { target = folder } else { target = try await self.folder(fields, call) }
            folder = target
            guard let name = ContentDisposition.safeFileName(of: fileName) else {
                throw UploaderError(.badRequest, .path, "malformed file name")
            }
            let conflict = try call.conflict(
                fields["conflict"] ?? call.parameter("conflict"), options)
            let content = part.content
            let body = RequestBody.pieces {
                var iterator = content.makeAsyncIterator()
                return try await iterator.next()
            }
            let path = target.appending(Array(name.utf8))
            do {
                changed.append(
                    try await take(body, path, nil, conflict, makesFoldersIn: nil, call))
            } catch let error as CodecError where error.kind == .partTooLong {
                throw UploaderError(tooLong: path, limit: options.contentLimit)
            }
        }
        if changed.isEmpty {
            try requireToken(call, fields)
            throw UploaderError(.badRequest, .field, "the form contains no file")
        }
        return try answer(changed, in: folder ?? .root, .created, call)
    }

    private func folder(_ fields: FormFields, _ call: UploaderCall) async throws -> ResourcePath {
        let path = try UploaderCall.path(fields["path"] ?? call.parameter("path") ?? [])
        return try await files.canonical(path)
    }

    /// Stores an uploaded file, whole or not at all. Everything that can be refused early is
    /// refused before the content is read; conditions that may have changed are checked again. A
    /// precheck ends before the content is read.
    /// - Parameters:
    ///   - body: the content of the file.
    ///   - wished: the requested path.
    ///   - announced: the announced length in bytes; `nil` if unknown.
    ///   - conflict: what happens when the name is taken.
    ///   - top: missing folders below this one are made; with `nil` none are made.
    private func take(
        _ body: RequestBody, _ wished: ResourcePath, _ announced: Int64?,
        _ conflict: NameConflict, makesFoldersIn top: ResourcePath?, _ call: UploaderCall
    ) async throws -> Changed {
        var hold: UploaderQuota.Hold?
        // Reserve the bytes until the program was notified of the upload and counts them itself.
        defer { withExtendedLifetime(hold) {} }
        return try await perform(.upload(wished), call) {
            try files.requireName(wished, isFolder: false)
            try refuse(announced, wished)
            hold = try await quota.hold(announced, for: call.request)
            if call.request.isPrecheck {
                try await precheck(wished, announced, conflict, makesFolders: top != nil)
                return (Changed(wished, isFolder: false), .upload(wished))
            }
            if let top { try await makeFolders(around: wished, below: top, call) }
            let path = try await files.canonical(wished)
            try await requireUsableName(path, conflict)
            let content = try await files.store.stage(
                observed(body, path, announced, hold, call), for: path, expected: announced)
            try refuse(content.length, path)
            let placed = try await files.withName(path, isFolder: false, conflict, call) {
                (path, old) in
                _ = try await files.store.place(content, at: path, modified: nil) { info in
                    // Another program may have made a file of that name since.
                    guard info == nil || old != nil else {
                        throw UploaderError(.conflict, .exists, "the name is taken")
                    }
                }
                return path
            }
            hold?.place()
            return (Changed(placed, isFolder: false, size: content.length), .upload(placed))
        }
    }

    /// Checks whether an upload would be accepted, before its content is sent.
    private func precheck(
        _ wished: ResourcePath, _ announced: Int64?, _ conflict: NameConflict, makesFolders: Bool
    ) async throws {
        if let announced { try await files.store.quota(at: .root)?.require(announced) }
        if makesFolders, let folder = wished.parent {
            // The upload will make the folder.
            guard try await files.store.infoIfThere(folder) != nil else { return }
        }
        try await requireUsableName(try await files.canonical(wished), conflict)
    }

    /// Checks before any content is read: the name must be free or replaceable, and not locked.
    private func requireUsableName(_ path: ResourcePath, _ conflict: NameConflict) async throws {
        try await files.store.requireParent(of: path)
        let old = try await files.store.infoIfThere(path)
        guard old != nil, conflict != .keepBoth else {
            if let parent = path.parent {
                try await files.requireUnlocked(parent, andMembership: false)
            }
            return
        }
        guard conflict == .replace, old?.isCollection == false else {
            throw UploaderError(.conflict, .exists, "the name is taken")
        }
        try await files.requireUnlocked(path, andMembership: false)
    }

    private func refuse(_ length: Int64?, _ path: ResourcePath) throws(UploaderError) {
        guard let length, length > options.contentLimit else { return }
        throw UploaderError(tooLong: path, limit: options.contentLimit)
    }

    /// The content, with progress reported to the program. Reading throws once the content exceeds
    /// the limit or the quota.
    private func observed(
        _ body: RequestBody, _ path: ResourcePath, _ announced: Int64?,
        _ hold: UploaderQuota.Hold?, _ call: UploaderCall
    ) -> RequestBody {
        let isLimited = options.contentLimit != .max || hold != nil
        guard options.uploadProgress != nil || isLimited else { return body }
        let received = Locked<Int64>(0)
        let (told, limit, request) = (options.uploadProgress, options.contentLimit, call.request)
        return body.observed { piece in
            let count = Int64(piece.count)
            let bytes = received.withLock { received in
                received += count
                return received
            }
            guard bytes <= limit else { throw UploaderError(tooLong: path, limit: limit) }
            try hold?.reach(bytes)
            told?(UploadProgress(path: path, bytes: bytes, total: announced, request: request))
        }
    }

    /// Makes the missing folders between `top` and a file.
    private func makeFolders(
        around path: ResourcePath, below top: ResourcePath, _ call: UploaderCall
    ) async throws {
        var missing: [ResourcePath] = []
        var next = path.parent
        while let folder = next, folder != top {
            missing.append(folder)
            next = folder.parent
        }
        for folder in missing.reversed() {
            if try await files.store.infoIfThere(folder)?.isCollection == true { continue }
            do {
                _ = try await make(folder, .refuse, call)
            } catch let error as UploaderError where error.code == .exists {
                // Another upload of the same folder was faster.
                guard try await files.store.infoIfThere(folder)?.isCollection == true else {
                    throw error
                }
            }
        }
    }

    /// Returns the changes: as JSON, or for a page as a redirect to the folder.
    func answer(
        _ changed: [Changed], in folder: ResourcePath, _ status: HTTPStatus, _ call: UploaderCall
    ) throws -> Response {
        guard !call.wantsPage else { return back(to: folder) }
        struct Answer: Encodable { var items: [Changed] }
        var response = try Response.json(Answer(items: changed), status: status)
        response.fields.append(.cacheControl, "no-store")
        return response
    }

    func back(to folder: ResourcePath) -> Response {
        .redirect(to: "./?path=" + PathText.link(folder, isFolder: true), .seeOther)
    }
}

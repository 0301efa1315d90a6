internal import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Staging content, combining it with a file, and placing it.
extension LocalStore {
    /// Stages content: in memory if it is short, otherwise in a file on the same volume.
    public func stage(
        _ body: RequestBody, for path: ResourcePath, expected: Int64?
    ) async throws -> any StagedContent {
        let hold = try hold(expected ?? 0)
        if let expected, expected <= LocalContent.memoryLimit {
            let bytes = try await body.collect(upTo: Int(expected))
            try Self.requireWhole(Int64(bytes.count), of: expected)
            let content = LocalContent(bytes: bytes)
            content.hold = hold
            return content
        }
        if let given = body.file, let content = try await taken(given, for: path) {
            try reach(content.length, hold)
            content.hold = hold
            return content
        }
        let (file, place) = try await shortWork { [self] () throws in
            let target = try self.place(of: path)
            if let expected, expected > (try FileTree.space(of: target.directory.file)).available {
                throw WebDAVError.storageFull
            }
            return try staging.create(beside: target)
        }
        let content = LocalContent(file: file, place: place)
        content.hold = hold
        var writer = FileWriter(file)
        do {
            for try await piece in body {
                try reach(writer.count + Int64(piece.count), hold)
                try await writer.write(piece)
            }
            try await writer.flush()
        } catch let error as CodecError where error.kind == .fileNotWritable {
            throw WebDAVError.storageFull
        }
        try Self.requireWhole(writer.count, of: expected)
        content.length = writer.count
        return content
    }

    /// Replaces the content of a file in one step, or creates the file.
    public func write(
        _ bytes: [UInt8], to path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        let content = try await stage(
            .bytes(bytes), for: path, expected: Int64(bytes.count))
        return try await place(content, at: path, modified: modified)
    }

    private static func requireWhole(_ count: Int64, of expected: Int64?) throws(WebDAVError) {
        guard let expected, count != expected else { return }
        throw WebDAVError(.badRequest, "received \(count) bytes, expected \(expected)")
    }

    /// Replaces a file by one rename.
    public func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        try await place(content, at: path, modified: modified, ifAllowed: { _ in }).info
    }

    /// Replaces a file after a last check of it. The directory is looked up once for both.
    public func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?,
        ifAllowed check: (ResourceInfo?) async throws -> Void
    ) async throws -> (isNew: Bool, info: ResourceInfo) {
        guard let content = content as? LocalContent else { throw WebDAVError.forbidden }
        // The store's own files do not exist from a client's point of view.
        if let parent = path.parent, Self.isOwn(parent) { throw WebDAVError.noParent }
        let (target, old) = try await shortWork { [self] () throws in
            try Self.requireForeign(path)
            let target = try place(of: path)
            return (target, try target.directory.statusIfThere(of: target.name))
        }
        let known =
            old?.isLink == true ? try await infoIfThere(path) : old.flatMap { ResourceInfo($0) }
        // Clients must not replace sockets and devices, though they do not see them.
        if let old, old.kind == .other, !old.isLink { throw WebDAVError.forbidden }
        try await check(known)
        guard old?.kind != .directory else { throw WebDAVError(.methodNotAllowed) }
        // Waiting for the disk, or freeing the blocks of a long file, is not short work.
        let isShort =
            content.isInMemory && !synchronizes && (old?.size ?? 0) <= Self.shortFileLimit
        let run = { @Sendable [self] () throws in
            try put(content, at: target, in: old, modified: modified)
        }
        return (known == nil, try await isShort ? shortWork(run) : work(run))
    }

    /// The longest file, in bytes, whose removal is short work for the system.
    static let shortFileLimit: Int64 = 1 << 20

    func put(
        _ content: LocalContent, at target: FilePlace, in old: FileStatus?, modified: Int64?
    ) throws -> ResourceInfo {
        let wasStaged = !content.isInMemory
        let (file, from) = try content.written(in: staging, for: target)
        // Another volume may be mounted in the tree.
        let isLocal = target.isOnRootVolume ? isLocal : FileTree.isLocal(file)
        // A remote file system may set the time again when the file is closed.
        if old != nil || modified != nil || wasStaged || !isLocal || clock.mayRepeat {
            let time = clock.next()
            try file.setModified(modified ?? time.seconds, nanoseconds: time.nanoseconds)
        }
        let status = try file.status()
        properties.files.forgetUnborn(status)
        // Otherwise properties in a separate file would stay without their file, and count.
        defer { if !content.isPlaced { properties.files.forget(status) } }
        let isReplaced = old?.kind == .regular
        let description = content.contentDescription
        if isReplaced || !description.isEmpty {
            try properties.replace(isReplaced ? target : nil, by: file, status, description)
        }
        if let old, isReplaced {
            // New content must not keep the set-user-ID and set-group-ID bits.
            let permissions = old.permissions & 0o777
            if permissions != status.permissions { try file.setPermissions(permissions) }
        }
        guard let info = ResourceInfo(status) else { throw WebDAVError.notFound }
        // A remote file system may report only then that its disk is full. The old content must
        // still exist at this point.
        if synchronizes || !isLocal { try file.synchronize() }
        do throws(SystemError) {
            if old == nil {
                try Self.rename(from, toFree: target)
            } else {
                try clock.replace(target, by: from)
            }
        } catch {
            guard error.isMissing, staging.renewIfGone() else { throw error }
            throw WebDAVError(.internalServerError, "the received content is no longer on the disk")
        }
        content.isPlaced = true
        if let old, old.isSameFile(as: status) {
            // The content was placed before. A rename between two names of one file does nothing
            // (rename(2)), so nothing was replaced, and the file counts already.
            try? from.directory.remove(from.name, isDirectory: false)
        } else {
            content.hold?.keep()
            if let old { forget(old) }
        }
        try synchronize([target])
        return info
    }

    /// Renames to a name that was free, without replacing a file that another program has made
    /// since.
    static func rename(_ place: FilePlace, toFree target: FilePlace) throws(SystemError) {
        do throws(SystemError) {
            try place.directory.rename(place.name, to: target, .creating)
        } catch {
            guard error.isUnsupported else { throw error }
            try place.directory.rename(place.name, to: target, .replacing)
        }
    }

    /// Copies a file and writes other content into the copy at an offset. The copy shares blocks
    /// with the file if the file system can.
    public func splice(
        _ content: any StagedContent, into path: ResourcePath, at offset: Int64
    ) async throws -> any StagedContent {
        guard let content = content as? LocalContent else { throw WebDAVError.forbidden }
        return try await work { [self] () throws in
            try Self.requireForeign(path)
            let target = try place(of: path)
            let old = try target.directory.open(target.name)
            let status = try old.status()
            guard status.kind == .regular, offset <= status.size else { throw WebDAVError.notFound }
            let room = try FileTree.space(of: target.directory.file).available
            guard status.size <= room else { throw WebDAVError.storageFull }
            // Properties can be written only while the owner may write.
            let permissions = status.permissions & 0o777 | 0o200
            let (file, place) = try staging.create(beside: target, permissions)
            let whole = LocalContent(file: file, place: place)
            try file.copyContent(of: old, size: status.size)
            try content.write(into: file, at: offset)
            whole.length = try file.status().size
            whole.hold = try hold(whole.length)
            return whole
        }
    }
}

public import HTTPParser
public import HTTPServerCore

/// The members that a store need not implement.
extension ResourceStore {
    // MARK: Names

    /// The path itself.
    public func resolved(_ path: ResourcePath) async throws -> ResourcePath { path }

    /// The path itself.
    public func canonical(
        _ path: ResourcePath, followsLast: Bool
    ) async throws -> ResourcePath { path }

    /// Whether a resource exists at the path.
    public func isTaken(_ path: ResourcePath) async throws -> Bool {
        try await infoIfThere(path) != nil
    }

    /// Compares the paths.
    public func overlap(
        _ path: ResourcePath, _ other: ResourcePath
    ) async throws -> Bool {
        path.isWithin(other) || other.isWithin(path)
    }

    // MARK: Large content

    /// 64 MiB.
    public var stagedByteLimit: Int { 64 << 20 }

    /// Collects the content in memory, up to `stagedByteLimit`.
    public func stage(
        _ body: RequestBody, for path: ResourcePath, expected: Int64?
    ) async throws -> any StagedContent {
        let limit = stagedByteLimit
        if let expected, expected > Int64(limit) { throw WebDAVError.storageFull }
        var bytes: [UInt8] = []
        for try await piece in body {
            guard piece.count <= limit - bytes.count else { throw WebDAVError.storageFull }
            bytes += piece
        }
        return CollectedContent(bytes)
    }

    /// Writes the bytes of `CollectedContent`; refuses any other content with 403.
    public func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?
    ) async throws -> ResourceInfo {
        guard let content = content as? CollectedContent else { throw WebDAVError.forbidden }
        return try await write(content.bytes, to: path, modified: modified)
    }

    /// Looks up the resource, or its parent if it is missing, and then places the content.
    public func place(
        _ content: any StagedContent, at path: ResourcePath, modified: Int64?,
        ifAllowed check: (ResourceInfo?) async throws -> Void
    ) async throws -> (isNew: Bool, info: ResourceInfo) {
        let old = try await infoIfThere(path)
        if old == nil { try await requireParent(of: path) }
        try await check(old)
        return (old == nil, try await place(content, at: path, modified: modified))
    }

    /// Refused: 501.
    public func splice(
        _ content: any StagedContent, into path: ResourcePath, at offset: Int64
    ) async throws -> any StagedContent {
        throw WebDAVError(.notImplemented, "this store does not replace parts of files")
    }

    // MARK: Trees

    /// Copies member by member. An existing file is replaced once its new content is staged. An
    /// existing collection is removed once the content of the source is known to be readable.
    /// - Throws: `WebDAVError` with 501 for content that `read` returns as a file or a stream.
    public func copy(
        _ path: ResourcePath, to destination: ResourcePath, deep: Bool, replaces: Bool
    ) async throws {
        try await requireParent(of: destination)
        let info = try await info(at: path)
        let old = try await infoIfThere(destination)
        guard old == nil || replaces else { throw WebDAVError.taken }
        guard info.isCollection else {
            return try await copyFile(path, info, to: destination, replacing: old)
        }
        if old != nil {
            if deep { try await requireContent(inside: path) }
            try await removeAll(destination)
        }
        try await makeCollection(at: destination)
        try await copyProperties(of: path, to: destination, replaces: false)
        guard deep else { return }
        let members = try await members(of: path, withProperties: false)
        while let batch = try await members.next() {
            for member in batch where !member.isLink {
                try await copy(
                    path.appending(member.name), to: destination.appending(member.name), deep: true,
                    replaces: true)
            }
        }
    }

    private func copyFile(
        _ path: ResourcePath, _ info: ResourceInfo, to destination: ResourcePath,
        replacing old: ResourceInfo?
    ) async throws {
        let bytes = try await bytes(of: path)
        let content = try await stage(
            .bytes(bytes), for: destination, expected: Int64(bytes.count))
        content.contentDescription = info.content
        if old?.isCollection == true { try await removeAll(destination) }
        _ = try await place(content, at: destination, modified: nil)
        try await copyProperties(
            of: path, to: destination, replaces: old?.isCollection == false)
    }

    private func bytes(of path: ResourcePath) async throws -> [UInt8] {
        guard let bytes = try await read(path).body.bytesInMemory else {
            throw WebDAVError(.notImplemented, "this store copies only content in memory")
        }
        return bytes
    }

    private func requireContent(inside path: ResourcePath) async throws {
        let members = try await members(of: path, withProperties: false)
        while let batch = try await members.next() {
            for member in batch where !member.isLink {
                let inner = path.appending(member.name)
                if member.info.isCollection {
                    try await requireContent(inside: inner)
                } else {
                    _ = try await bytes(of: inner)
                }
            }
        }
    }

    /// - Parameter replaces: whether the destination may have other properties; they are removed.
    private func copyProperties(
        of path: ResourcePath, to destination: ResourcePath, replaces: Bool
    ) async throws {
        let properties = try await properties(of: path)
        var changes: [PropertyChange] = []
        if replaces {
            let kept = Set(properties.map(\.name))
            for old in try await self.properties(of: destination) where !kept.contains(old.name) {
                changes.append(.remove(old.name))
            }
        }
        changes += properties.map { .set($0) }
        if !changes.isEmpty { try await change(changes, of: destination) }
    }

    private func removeAll(_ path: ResourcePath) async throws {
        if let failure = try await remove(path).first { throw failure.error }
    }

    /// Copies the tree, then removes the source.
    public func move(
        _ path: ResourcePath, to destination: ResourcePath, replaces: Bool
    ) async throws {
        try await copy(path, to: destination, deep: true, replaces: replaces)
        try await removeAll(path)
    }

    // MARK: The bin

    /// Changes nothing: there is no bin.
    public func discard(_ path: ResourcePath) async throws -> String? { nil }

    /// Not found: there is no bin.
    public func restore(_ name: String, to path: ResourcePath) async throws {
        throw WebDAVError.notFound
    }

    /// Does nothing: there is no bin.
    public func forget(_ name: String) async {}

    // MARK: Properties

    /// No properties.
    public func properties(of path: ResourcePath) async throws -> [DeadProperty] { [] }

    /// Asks for the properties and the description of the resource.
    public func details(of path: ResourcePath) async throws -> ResourceDetails {
        ResourceDetails(
            properties: try await properties(of: path),
            content: try await info(at: path).content)
    }

    /// Refused: 403.
    public func change(_ changes: [PropertyChange], of path: ResourcePath) async throws {
        throw WebDAVError.forbidden
    }

    /// Refused: 403.
    public func setModified(_ seconds: Int64, of path: ResourcePath) async throws {
        throw WebDAVError.forbidden
    }

    /// Sets the time in whole seconds, by the other `setModified`.
    public func setModified(_ time: InternetTimestamp, of path: ResourcePath) async throws {
        try await setModified(time.secondsSinceEpoch, of: path)
    }

    // MARK: Space and threads

    /// Unknown.
    public func quota(at path: ResourcePath) async throws -> StorageQuota? { nil }

    /// Runs `body` directly, on the caller's executor.
    public func perform<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await body()
    }
}

extension ResourceStore {
    /// Throws 409 unless the parent of a resource is a collection.
    package func requireParent(of path: ResourcePath) async throws {
        guard let parent = path.parent, !parent.isRoot else { return }
        guard let info = try await infoIfThere(parent), info.isCollection
        else { throw WebDAVError.noParent }
    }

    /// Describes a resource; `nil` if it is missing.
    package func infoIfThere(_ path: ResourcePath) async throws -> ResourceInfo? {
        do {
            return try await info(at: path)
        } catch let error as WebDAVError where error.status == .notFound {
            return nil
        }
    }
}

extension ResponseBody {
    /// The bytes, unless they are in a file or a stream.
    fileprivate var bytesInMemory: [UInt8]? {
        switch content {
        case .empty, .upgrade: return []
        case .text(let text): return Array(text.utf8)
        case .bytes(let bytes): return bytes
        case .pieces(let pieces):
            var all: [UInt8] = []
            for piece in pieces {
                guard case .bytes(let bytes) = piece else { return nil }
                all += bytes
            }
            return all
        case .file, .stream: return nil
        }
    }
}

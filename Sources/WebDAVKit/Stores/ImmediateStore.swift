internal import HTTPServerCore
internal import ToolkitSystem

/// A store that can do short work on the calling thread, even an event loop.
///
/// If the work is not short or cannot be done, a call returns `nil` or `false` or throws, and
/// changes nothing. The caller then uses the members of `ResourceStore`, which do the work or
/// report the error.
package protocol ImmediateStore: ResourceStore {
    /// Runs short work on this thread.
    /// - Returns: `nil`, without a call of `body`, when the thread might have to wait.
    func performNow<Result>(_ body: () throws -> Result?) rethrows -> Result?

    /// Whether a path is known to be canonical; reads nothing from the disk.
    func isCanonical(_ path: ResourcePath) -> Bool

    /// As `resolved`, and then `canonical`.
    func canonicalNow(_ path: ResourcePath, followsLast: Bool) throws -> ResourcePath

    /// Describes a resource.
    func infoNow(_ path: ResourcePath) throws -> ResourceInfo?

    /// Writes short content to a file.
    /// - Parameters:
    ///   - bytes: the content.
    ///   - description: the description that the client sent with the content.
    ///   - path: the file.
    ///   - modified: as for `place`.
    ///   - check: gets the description of the existing file, if any, and returns whether to write.
    /// - Returns: whether the file is new, and its description.
    func placeNow(
        _ bytes: [UInt8], _ description: ContentDescription, at path: ResourcePath,
        modified: Int64?, ifAllowed check: (ResourceInfo?) throws -> Bool
    ) throws -> (isNew: Bool, info: ResourceInfo)?

    /// Creates a collection.
    func makeCollectionNow(at path: ResourcePath) throws -> Bool

    /// Applies changes of dead properties.
    func changeNow(_ changes: [PropertyChange], of path: ResourcePath) throws -> Bool
}

extension LocalStore: ImmediateStore {
    package func performNow<Result>(_ body: () throws -> Result?) rethrows -> Result? {
        try inlineIO.runNow(body)
    }

    package func isCanonical(_ path: ResourcePath) -> Bool {
        path.isASCII && canonicalNames.isKnown(path)
    }

    package func canonicalNow(_ path: ResourcePath, followsLast: Bool) throws -> ResourcePath {
        if !followsLast, isCanonical(path) { return path }
        let resolved = path.isASCII ? path : try canonicalNames.resolved(path)
        return try canonicalNames.canonical(resolved, followsLast: followsLast)
    }

    package func infoNow(_ path: ResourcePath) throws -> ResourceInfo? {
        guard !Self.isOwn(path) else { return nil }
        return ResourceInfo(try tree.status(of: path.bytes))
    }

    package func placeNow(
        _ bytes: [UInt8], _ description: ContentDescription, at path: ResourcePath,
        modified: Int64?, ifAllowed check: (ResourceInfo?) throws -> Bool
    ) throws -> (isNew: Bool, info: ResourceInfo)? {
        guard !synchronizes, bytes.count <= LocalContent.memoryLimit, !Self.isOwn(path) else {
            return nil
        }
        let target = try tree.place(of: path.bytes)
        let old = try target.directory.statusIfThere(of: target.name)
        // Freeing the blocks of a long file may take long.
        if let old, old.kind != .regular || old.size > Self.shortFileLimit { return nil }
        let known = old.flatMap { ResourceInfo($0) }
        guard try check(known) else { return nil }
        let content = LocalContent(bytes: bytes)
        content.hold = try hold(Int64(bytes.count))
        content.contentDescription = description
        return (known == nil, try put(content, at: target, in: old, modified: modified))
    }

    package func makeCollectionNow(at path: ResourcePath) throws -> Bool {
        guard !synchronizes, !Self.isOwn(path) else { return false }
        try makeDirectory(try tree.place(of: path.bytes))
        return true
    }

    package func changeNow(_ changes: [PropertyChange], of path: ResourcePath) throws -> Bool {
        guard !synchronizes else { return false }
        try apply(changes, to: path)
        return true
    }
}

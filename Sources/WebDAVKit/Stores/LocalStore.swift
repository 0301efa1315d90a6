public import HTTPParser
public import HTTPServerCore
internal import HTTPServerKit
public import ToolkitSystem

/// Resources in a directory of a disk.
///
/// No path leads out of the directory, whatever its spelling and its links. A file is written under
/// a hidden name and then renamed, and a copy is completed before it replaces anything. If the
/// program dies, at any moment, each file is the old or the new one, and every answered change is
/// done; unfinished files are removed when the next store of the directory starts.
///
/// After a power failure or a crash of the system, this is guaranteed only with `synchronizes`:
/// such a store answers a change once the change is on the disk. Otherwise the system keeps changes
/// in memory, usually for up to half a minute: a change answered within that time may be undone,
/// and a new file may exist without its content.
///
/// Dead properties are stored in an extended attribute of the file, so that they move and vanish
/// with the file. If the file system has no such attributes, or the properties are too long for
/// them, they are stored in the folder `.httpkit-dav` at the root, which no client sees. Unfinished
/// files are in this folder, too.
///
/// A file or directory has several paths if links lead to it, or if the volume ignores case. Locks
/// and changes use its canonical path (see `canonical`), which is looked up once for each directory
/// and cached. A change opens the directory in a way that fails if the path contains a link
/// nevertheless. A link itself is a name like any other: it is moved, removed, and replaced by a
/// PUT, without its target, and a lock on the link is on that name. Only a lock on a link to a
/// collection is on the collection.
public final class LocalStore: ResourceStore {
    let tree: FileTree
    let staging: StagingDirectory
    let properties: LocalProperties
    /// Whether the root is on a local file system.
    let isLocal: Bool
    let inlineIO: InlineIOPolicy
    let canonicalNames: CanonicalNameCache
    let clock: UniqueTimestamps
    let synchronizes: Bool
    let usage: StoreUsage?
    /// Discarded resources that can be restored, by name.
    let bin = Locked<[String: FilePlace]>([:])

    /// Opens a directory.
    /// - Parameters:
    ///   - root: the path of the directory.
    ///   - followsLinks: whether symbolic links that stay inside the directory are followed, on
    ///     systems that can check this.
    ///   - synchronizes: whether each change waits until it is on the disk: content, properties,
    ///     and the names in each directory that the change has touched. This costs one or two waits
    ///     for the disk for each change, and more for trees.
    ///   - byteLimit: the most bytes of all files; above it 507. The files are counted now, which
    ///     blocks, and then with each change of this store. Staged content, the bin, and dead
    ///     properties in separate files count, too. A replaced file counts until the new one is
    ///     complete. `nil` for the space of the disk.
    /// - Throws: when the directory is missing; with `synchronizes`, when its file system cannot
    ///   flush a directory.
    public convenience init(
        root: String, followsLinks: Bool = true, synchronizes: Bool = false,
        byteLimit: Int64? = nil
    ) throws(SystemError) {
        try self.init(
            root: root, followsLinks: followsLinks, synchronizes: synchronizes,
            byteLimit: byteLimit, clock: .shared)
    }

    /// Opens a directory with another source of timestamps.
    package init(
        root: String, followsLinks: Bool = true, synchronizes: Bool = false,
        byteLimit: Int64? = nil, clock: UniqueTimestamps
    ) throws(SystemError) {
        self.clock = clock
        tree = try FileTree(root, followsLinks: followsLinks)
        staging = StagingDirectory(tree)
        isLocal = tree.isLocal
        inlineIO = InlineIOPolicy(isLocal: isLocal ? try !tree.hasRemoteMounts() : false)
        properties = LocalProperties(
            try PropertyFiles(tree, staging, synchronizes: synchronizes))
        canonicalNames = CanonicalNameCache(tree)
        self.synchronizes = synchronizes
        // Fail now rather than at the first change, which could then not be answered.
        if synchronizes { try tree.directory([]).file.synchronize() }
        let isAlone = staging.sweep { [tree] in ReplacementJournal.finishAll(in: $0, of: tree) }
        properties.files.sweep(isAlone: isAlone)
        staging.removeIfEmpty()
        // Count last: the sweep restores trees whose replacement was interrupted.
        usage = if let byteLimit { try StoreUsage(limit: byteLimit, of: tree) } else { nil }
        if let usage { try properties.files.count(in: usage) }
    }

    /// Empties the bin and removes the staging directory; the next write creates it again. Call it
    /// with no request in progress. It blocks. A collection whose replacement has failed half-way
    /// first gets its name back; if that fails, the staging directory stays for the next store at
    /// this root.
    ///
    /// A program need not call it: an empty staging directory is removed when `main` returns or the
    /// program calls `exit`. It stays if it contains discarded files, or if a signal ends the
    /// program; the next store at this root removes it.
    public func close() {
        emptyBin()
        staging.close()
    }

    // MARK: Reading

    /// The path with each name as stored in its directory, maybe in the other Unicode form.
    public func resolved(_ path: ResourcePath) async throws -> ResourcePath {
        guard path.bytes.contains(where: { $0 >= 0x80 }) else { return path }
        return try await shortWork(isReading: true) { [canonicalNames] () throws in
            try canonicalNames.resolved(path)
        }
    }

    /// The path without links, with the case of the stored names.
    public func canonical(
        _ path: ResourcePath, followsLast: Bool
    ) async throws -> ResourcePath {
        if !followsLast, canonicalNames.isKnown(path) { return path }
        return try await shortWork(isReading: true) { [canonicalNames] () throws in
            try canonicalNames.canonical(path, followsLast: followsLast)
        }
    }

    /// Whether a name is taken, also by a link, a socket or a device.
    public func isTaken(_ path: ResourcePath) async throws -> Bool {
        guard !path.isRoot else { return true }
        return try await shortWork(isReading: true) { [tree] () throws in
            let place = try tree.place(of: path.bytes)
            return try place.directory.statusIfThere(of: place.name) != nil
        }
    }

    /// Describes a resource.
    public func info(at path: ResourcePath) async throws -> ResourceInfo {
        guard !Self.isOwn(path) else { throw WebDAVError.notFound }
        guard let info = ResourceInfo(try await status(of: path)) else {
            throw WebDAVError.notFound
        }
        return info
    }

    private func status(of path: ResourcePath) async throws -> FileStatus {
        // While the disk is slow, the attributes are usually cached. Remote file systems, and those
        // of programs, may not even answer from a cache without waiting.
        if inlineIO.isLocal, !inlineIO.isQuick {
            do throws(SystemError) {
                if let known = try tree.statusIfCached(of: path.bytes) { return known }
            } catch {
                throw WebDAVError(error)
            }
        }
        return try await shortWork(isReading: true) { [tree] () throws in
            try tree.status(of: path.bytes)
        }
    }

    /// Runs `body` on a thread that may block, unless short work runs on the calling thread.
    public func perform<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        guard !inlineIO.isQuick else { return try await body() }
        return try await BlockingPool.files.perform(body)
    }

    /// The members of a collection, read in batches.
    public func members(
        of path: ResourcePath, withProperties: Bool
    ) async throws -> ResourceMembers {
        let (reader, first) = try await work(isReading: true) { [self] () throws in
            let reader = try LocalMembers(self, path, withProperties: withProperties)
            return (reader, try reader.next(of: self))
        }
        guard let first, !reader.isAtEnd else { return ResourceMembers(first ?? []) }
        let ahead = MemberPrefetcher(first) { [self] in
            do throws(SystemError) {
                return try reader.next(of: self)
            } catch {
                throw WebDAVError(error)
            }
        }
        return ResourceMembers { try await ahead.next() }
    }

    /// Describes a file and returns its content.
    public func read(_ path: ResourcePath) async throws -> (info: ResourceInfo, body: ResponseBody)
    {
        try await shortWork(isReading: true) { [tree, properties] () throws in
            guard !Self.isOwn(path) else { throw WebDAVError.notFound }
            let file = try tree.open(path.bytes)
            let status = try file.status()
            guard var info = ResourceInfo(status), !info.isCollection else {
                throw WebDAVError.notFound
            }
            // The file is readable even if its properties are not.
            info.content = try properties.detailsIfReadable(of: file, status).content
            return (info, .file(file, count: status.size, mediaType: ""))
        }
    }

    /// The free space of the volume, or the rest of the limit if that is less.
    public func quota(at path: ResourcePath) async throws -> StorageQuota? {
        try await shortWork(isReading: true) { [tree, usage] () throws in
            let space = try FileTree.space(of: try tree.open(path.bytes))
            guard let usage else {
                return StorageQuota(available: space.available, used: space.used)
            }
            let left = usage.left
            var quota = StorageQuota(
                available: min(space.available, left), used: usage.limit - left)
            quota.isLimit = left < space.available
            return quota
        }
    }

    // MARK: Names

    /// Makes a directory.
    public func makeCollection(at path: ResourcePath) async throws {
        let make = { @Sendable [self] () throws in
            try Self.requireForeign(path)
            try makeDirectory(try place(of: path))
        }
        try await synchronizes ? work(make) : shortWork(make)
    }

    func makeDirectory(_ target: FilePlace) throws {
        do throws(SystemError) {
            try target.directory.makeDirectory(target.name)
            properties.files.forgetUnborn(target)
            guard synchronizes else { return }
            try target.directory.directory(target.name).file.synchronize()
        } catch {
            throw error.isTaken ? WebDAVError(.methodNotAllowed) : WebDAVError(error)
        }
        try synchronize([target])
    }

    /// Removes a file or a tree.
    public func remove(_ path: ResourcePath) async throws -> [ResourceFailure] {
        let target: FilePlace? = try await shortWork { [self] () throws in
            try Self.requireForeign(path)
            let target = try place(of: path)
            let status = try target.directory.status(of: target.name)
            guard status.kind == .regular, status.size <= Self.shortFileLimit, !synchronizes else {
                return target
            }
            try clock.removing { () throws(SystemError) in
                try target.directory.remove(target.name, isDirectory: false)
            }
            forget(status)
            return nil
        }
        guard let target else { return [] }
        return try await work { [self] () throws in
            defer { canonicalNames.forget() }
            let faults = clock.removing {
                target.directory.removeTree(target.name, onRemoval: onRemoval)
            }
            try synchronize([target])
            return faults.map { ResourceFailure(path, $0) }
        }
    }

    /// Sets the time of the last change.
    public func setModified(_ seconds: Int64, of path: ResourcePath) async throws {
        try await setModified(InternetTimestamp(secondsSinceEpoch: seconds), of: path)
    }

    /// Sets the time of the last change, to the nanosecond.
    public func setModified(_ time: InternetTimestamp, of path: ResourcePath) async throws {
        try await work { [self] () throws in
            let file = try tree.open(path.bytes)
            try properties.setModified(time, of: file)
            if synchronizes { try file.synchronize() }
        }
    }

    // MARK: Dead properties

    /// The dead properties of a file or directory; none if it must not be read, as in a listing of
    /// its parent.
    public func properties(of path: ResourcePath) async throws -> [DeadProperty] {
        try await details(of: path).properties
    }

    /// The dead properties, and the description that a client sent with the content.
    public func details(of path: ResourcePath) async throws -> ResourceDetails {
        try await shortWork(isReading: true) { [self] () throws in
            do throws(SystemError) {
                let file = try tree.open(path.bytes)
                return try properties.details(of: file, try file.status())
            } catch {
                guard error.isForbidden else { throw error }
                // Throw if the file does not exist.
                _ = try tree.status(of: path.bytes)
                return ResourceDetails()
            }
        }
    }

    /// Changes dead properties; all of them are rewritten together.
    public func change(_ changes: [PropertyChange], of path: ResourcePath) async throws {
        try await work { [self] () throws in try apply(changes, to: path) }
    }

    func apply(_ changes: [PropertyChange], to path: ResourcePath) throws {
        let file = try tree.open(path.bytes)
        var all = try properties.read(file)
        all.apply(changes)
        try properties.write(all, to: file)
        if synchronizes { try file.synchronize() }
    }

    // MARK: Helpers

    /// The opened parent directory of a path, and the name in it; 409 if the parent is missing.
    func place(of path: ResourcePath) throws -> FilePlace {
        guard !path.isRoot else { throw WebDAVError.forbidden }
        do throws(SystemError) {
            return try tree.place(of: path.bytes)
        } catch {
            // Another program has replaced a directory by a link.
            if error.isLink { canonicalNames.forget() }
            throw error.isMissing ? WebDAVError.noParent : WebDAVError(error)
        }
    }

    /// Whether a path leads to the store's own files.
    static func isOwn(_ path: ResourcePath) -> Bool {
        path.hasDotName && ReservedNames.areIn(path.bytes.span)
    }

    static func requireForeign(_ path: ResourcePath) throws(WebDAVError) {
        guard !isOwn(path) else { throw .forbidden }
    }

    /// Runs `body` on a thread that may block, and turns its errors into `WebDAVError`.
    /// - Parameter isReading: whether it changes nothing, and is skipped in a cancelled task.
    func work<Result: Sendable>(
        isReading: Bool = false, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let pool = BlockingPool.files
        do {
            return try await isReading ? pool.runUnlessCancelled(body) : pool.run(body)
        } catch {
            throw Self.told(error)
        }
    }

    /// The same for a few calls that are usually answered from memory (see `InlineIOPolicy`).
    /// - Parameter isReading: as for `work`, if the calls have to wait for a thread.
    func shortWork<Result: Sendable>(
        isReading: Bool = false, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        do {
            return try await inlineIO.run(isReading: isReading, body)
        } catch {
            throw Self.told(error)
        }
    }

    private static func told(_ error: any Error) -> any Error {
        if let error = error as? SystemError { return WebDAVError(error) }
        if let fault = error as? TreeFault { return WebDAVError(fault.error) }
        return error
    }
}

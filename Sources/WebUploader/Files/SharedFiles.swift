internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import WebDAVKit

/// The files as the page shows them: hidden files count as missing, and files that a WebDAV client
/// has locked do not change. Each change holds the ``PathLock`` that WebDAV requests use, too.
struct SharedFiles: Sendable {
    let dav: WebDAVHandler
    let options: UploaderOptions

    var store: any ResourceStore { dav.store }

    // MARK: Visibility

    /// The path under which the store holds a file or folder.
    @inline(never)  // Each caller would have a copy of it.
    func resolved(_ path: ResourcePath) async throws -> ResourcePath {
        try requireShown(path)
        return try await store.resolved(path)
    }

    /// The canonical path of a file or folder that is about to change.
    @inline(never)  // Each caller would have a copy of it.
    func canonical(_ path: ResourcePath) async throws -> ResourcePath {
        let path = try await store.canonical(try await resolved(path), followsLast: false)
        // A link may have led to a hidden path.
        try requireShown(path)
        return path
    }

    /// Refuses a hidden path with 404.
    func requireShown(_ path: ResourcePath) throws(UploaderError) {
        guard options.allowsHidden || !path.hasDotName else {
            throw UploaderError(.notFound, nil)
        }
    }

    /// Whether a member of a visible folder is visible, too.
    func isShown(_ name: [UInt8], isFolder: Bool) -> Bool {
        guard options.allowsHidden || !ReservedNames.isHidden(name.span) else { return false }
        return isFolder || hasAllowedExtension(name)
    }

    private func hasAllowedExtension(_ name: [UInt8]) -> Bool {
        guard let allowed = options.allowedExtensions else { return true }
        // No file system has longer extensions.
        guard let dot = name.lastIndex(of: 0x2E), name.count - dot <= 255 else { return false }
        return allowed.contains(String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased())
    }

    /// Describes a visible file or folder.
    func info(_ path: ResourcePath) async throws -> ResourceInfo {
        let info = try await store.info(at: path)
        guard info.isCollection || hasAllowedExtension(path.name) else {
            throw UploaderError(.notFound, nil)
        }
        return info
    }

    /// Refuses the path of a new file or folder that would be hidden, or whose name is not text.
    func requireName(_ path: ResourcePath, isFolder: Bool) throws(UploaderError) {
        guard !path.isRoot else {
            throw UploaderError(.forbidden, .path, "the root cannot be changed")
        }
        guard options.allowsHidden || !path.hasDotName else {
            throw UploaderError(
                .forbidden, .hidden, "names that begin with a dot are not allowed")
        }
        guard isFolder || hasAllowedExtension(path.name) else {
            throw UploaderError(
                .forbidden, .fileType, "files with this extension are not allowed")
        }
        guard ResourcePath.isText(path.name) else {
            throw UploaderError(
                .badRequest, .path, "a new name must be UTF-8 without control characters")
        }
    }

    // MARK: Locks

    /// Runs `body` with exclusive access to these paths, their ancestors and their descendants. A
    /// request that had to wait is dropped once its client has gone.
    func hold<Result: Sendable>(
        _ paths: [ResourcePath], _ call: UploaderCall, _ body: () async throws -> Result
    ) async throws -> Result {
        try await dav.pathLock.hold(paths, isWanted: { await call.request.isAwaited() }) {
            try await store.perform(body)
        }
    }

    /// Refuses to change a resource that a WebDAV client has locked: the page has no lock token.
    /// - Parameters:
    ///   - path: the path of the resource.
    ///   - andMembership: whether the folder around it gets or loses a member.
    ///   - andInside: whether the members of a folder are removed, too.
    func requireUnlocked(
        _ path: ResourcePath, andMembership: Bool, andInside: Bool = false
    ) async throws {
        var found = try await dav.locks.locks(on: path, andInside: false)
        if andMembership, let parent = path.parent {
            found += try await dav.locks.locks(on: parent, andInside: false)
        }
        if found.isEmpty, andInside {
            let roots = try await dav.locks.locks(on: path, andInside: true).map(\.root)
                .filter { $0 != path && $0.isWithin(path) }
            // A stale lock on a missing member is removed, and does not conflict.
            let gone = try await dav.removeLocks(onMissingOf: Set(roots))
            guard roots.allSatisfy({ gone.contains($0) }) else { throw Self.locked }
        }
        guard found.isEmpty else { throw Self.locked }
    }

    private static var locked: UploaderError {
        UploaderError(.locked, .locked, "a WebDAV client has locked the file or folder")
    }

    // MARK: Names

    /// Runs `body` with a free name that no other request can take, or with the wanted name if the
    /// existing file is to be replaced.
    /// - Parameters:
    ///   - path: the wanted path.
    ///   - others: further paths that `body` changes.
    ///   - isFolder: whether the name is a folder's; its number goes to the end of the whole name.
    ///   - conflict: what happens when the name is taken.
    ///   - body: gets the free or wanted path, and the file to be replaced, if any.
    func withName<Result: Sendable>(
        _ path: ResourcePath, and others: [ResourcePath] = [], isFolder: Bool,
        _ conflict: NameConflict, _ call: UploaderCall,
        _ body: (_ path: ResourcePath, _ old: ResourceInfo?) async throws -> Result
    ) async throws -> Result {
        var surprises = 0
        for number in 0...FreeName.limit {
            guard let parent = path.parent, let name = FreeName.name(path.name, number, isFolder)
            else { break }
            let candidate = number == 0 ? path : parent.appending(name)
            let result: Result? = try await hold(others + [candidate], call) {
                let isTaken = try await isTaken(candidate)
                if isTaken, conflict == .keepBoth { return nil }
                let old = isTaken ? try await replaceable(candidate, isFolder, conflict) : nil
                if !isTaken {
                    try await store.requireParent(of: candidate)
                    try await dav.removeLocks(onMissing: candidate)
                }
                try await requireUnlocked(candidate, andMembership: !isTaken)
                do {
                    return try await body(candidate, old)
                } catch let error as WebDAVError where error.status == .preconditionFailed {
                    // Usually another program has made a file of that name in the meantime.
                    guard conflict == .keepBoth, surprises < 3 else { throw Self.taken }
                    surprises += 1
                    return nil
                }
            }
            if let result { return result }
        }
        throw UploaderError(.conflict, .exists, "too many files have that name")
    }

    /// Whether a name is taken, even by something that is not shown. In a missing folder no name is
    /// taken.
    func isTaken(_ path: ResourcePath) async throws -> Bool {
        do {
            return try await store.isTaken(path)
        } catch let error as WebDAVError where error.status == .conflict {
            return false
        }
    }

    /// The existing file of that name, if the upload may replace it.
    private func replaceable(
        _ path: ResourcePath, _ isFolder: Bool, _ conflict: NameConflict
    ) async throws -> ResourceInfo {
        guard conflict == .replace, !isFolder, let info = try await store.infoIfThere(path),
            !info.isCollection
        else { throw Self.taken }
        return info
    }

    private static var taken: UploaderError {
        UploaderError(.conflict, .exists, "the name is taken")
    }
}

/// Adds a number to a name that is taken.
enum FreeName {
    /// The highest number that is tried.
    static let limit = 1_000

    /// A name with a number before its extension: `name (1).txt`. It has at most 255 bytes, as file
    /// systems require: a longer stem is cut at the border of a character.
    static func name(_ name: [UInt8], _ number: Int, _ isFolder: Bool) -> [UInt8]? {
        guard number > 0 else { return name }
        var dot = isFolder ? nil : name.lastIndex(of: 0x2E)
        // `.profile` has no extension, and a very long one does not count.
        if let found = dot, found == 0 || name.count - found > 32 { dot = nil }
        let suffix = Array(" (\(number))".utf8) + (dot.map { Array(name[$0...]) } ?? [])
        var stem = name[..<(dot ?? name.count)]
        guard suffix.count < 255 else { return nil }
        while stem.count + suffix.count > 255 { stem.removeLast() }
        if stem.count < (dot ?? name.count) {
            // The cut must not be within a character; the last one may go as a whole.
            while let last = stem.last, last & 0xC0 == 0x80 { stem.removeLast() }
            if let last = stem.last, last >= 0xC0 { stem.removeLast() }
        }
        return stem + suffix
    }
}

internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Copying and moving.
extension LocalStore {
    /// Copies a file or a tree under a hidden name, and renames the complete copy.
    public func copy(
        _ path: ResourcePath, to destination: ResourcePath, deep: Bool, replaces: Bool
    ) async throws {
        try await work { [self] () throws in
            try copyNow(path, to: destination, deep: deep, replaces: replaces)
        }
    }

    /// Renames a file or a tree. On another volume, it is copied first.
    public func move(
        _ path: ResourcePath, to destination: ResourcePath, replaces: Bool
    ) async throws {
        let rename = { @Sendable [self] () throws in try renameNow(path, to: destination) }
        if try await synchronizes ? work(rename) : shortWork(rename) { return }
        try await work { [self] () throws in
            defer { canonicalNames.forget() }
            staging.renewIfGone()
            let source = try place(of: path)
            let target = try place(of: destination)
            _ = try source.directory.status(of: source.name)
            do throws(SystemError) {
                try put(source, at: target, from: path, to: destination, replaces: replaces)
                try synchronize([target, source])
            } catch {
                guard error.isAcrossVolumes else {
                    throw error.isTaken && !replaces ? WebDAVError.taken : error
                }
                let start = try newStatus(beside: source)
                try copyNow(
                    path, to: destination, deep: true, replaces: replaces, isMove: true)
                let faults = clock.removing {
                    // Content written in the meantime exists nowhere else.
                    source.directory.removeTree(
                        source.name, keeping: { $0.hasChanged(since: start) },
                        onRemoval: onRemoval)
                }
                try synchronize([source])
                if let fault = faults.first {
                    throw WebDAVError(
                        WebDAVError(fault.error).status,
                        "the copy succeeded, but the source could not be removed completely")
                }
            }
        }
    }

    /// The status of a new temporary file. Its times show the clock of the volume, which may be the
    /// clock of another machine.
    private func newStatus(beside place: FilePlace) throws(SystemError) -> FileStatus {
        let (file, new) = try staging.create(beside: place)
        defer { _ = new.directory.removeTree(new.name) }
        return try file.status()
    }

    /// Moves by one rename, if the target is free.
    /// - Returns: whether that was possible.
    private func renameNow(_ path: ResourcePath, to destination: ResourcePath) throws -> Bool {
        try Self.requireForeign(path)
        try Self.requireForeign(destination)
        let source = try place(of: path)
        let target = try place(of: destination)
        do throws(SystemError) {
            try source.directory.rename(source.name, to: target, .creating)
            forgetSpellings(unlessFile: target)
            try synchronize([target, source])
            return true
        } catch {
            guard error.isTaken || error.isAcrossVolumes || error.isUnsupported else { throw error }
            return false
        }
    }

    /// - Parameter isMove: whether the source will be removed. A link is copied as its target, as
    ///   clients see it, and moved as a link.
    private func copyNow(
        _ path: ResourcePath, to destination: ResourcePath, deep: Bool, replaces: Bool,
        isMove: Bool = false
    ) throws {
        try Self.requireForeign(path)
        try Self.requireForeign(destination)
        let target = try place(of: destination)
        // Copying takes a while. A target that another program makes in the meantime is not
        // replaced.
        let isFree = try target.directory.statusIfThere(of: target.name) == nil
        guard isFree || replaces else { throw WebDAVError.taken }
        var source: FilePlace
        if path.isRoot {
            source = FilePlace(directory: try tree.directory([]), name: [0x2E])
        } else {
            source = try place(of: path)
        }
        if !isMove, try source.directory.status(of: source.name).isLink {
            let real = try tree.realPath(of: path.bytes, followsLast: true)
            guard !ReservedNames.areIn(real.span) else { throw WebDAVError.notFound }
            source =
                real.isEmpty
                ? FilePlace(directory: try tree.directory([]), name: [0x2E])
                : try tree.place(of: real)
        }
        staging.renewIfGone()
        let new = staging.place(beside: target)
        let own = try staging.ownFolderIfThere()?.status(of: [])
        do {
            // A move removes the source, so the copy must be on the disk before.
            let synchronizes = isMove || synchronizes
            try source.directory.copyTree(
                source.name, to: new, deep: deep, isMove: isMove, synchronizes: synchronizes,
                leavingOut: own,
                finish: { [properties, clock, usage] (old, new) throws(SystemError) in
                    properties.files.forgetUnborn(try new.status())
                    // A file that is refused here counts until it is removed.
                    if let usage, case let status = try new.status(), status.kind == .regular {
                        usage.change(by: status.size)
                        try usage.add(0)
                    }
                    if isMove {
                        let status = try old.status()
                        try new.setModified(
                            status.modifiedSeconds, nanoseconds: status.modifiedNanoseconds)
                    } else if clock.mayRepeat {
                        let time = clock.next()
                        try new.setModified(time.seconds, nanoseconds: time.nanoseconds)
                    }
                    try properties.copy(from: old, to: new)
                    // A remote file system may report only then that its disk is full.
                    if !FileTree.isLocal(new), try new.status().kind == .regular {
                        try new.synchronize()
                    }
                })
            defer { forgetSpellings(unlessFile: target) }
            if isFree {
                do throws(SystemError) {
                    try Self.rename(new, toFree: target)
                } catch {
                    throw error.isTaken && !replaces ? WebDAVError.taken : error
                }
            } else {
                try put(new, at: target, from: nil, to: destination, replaces: true)
            }
            if synchronizes { try target.directory.file.synchronize() }
        } catch {
            removeTree(new)
            throw error
        }
    }

    /// In a store that synchronizes, waits until the directories of some places are on the disk.
    func synchronize(_ places: [FilePlace]) throws(SystemError) {
        guard synchronizes else { return }
        for place in places { try place.directory.file.synchronize() }
    }

    /// Empties the name cache unless the place is a file: cached paths may be inside of a
    /// directory.
    private func forgetSpellings(unlessFile place: FilePlace) {
        let status = try? place.directory.status(of: place.name)
        if status?.kind != .regular { canonicalNames.forget() }
    }

    /// Gives `new` the name of `target`. An existing target is replaced in one step and then
    /// removed.
    /// - Parameters:
    ///   - source: the path of `new`; `nil` if clients cannot see it.
    ///   - path: the path of `target`.
    ///   - replaces: whether there may be a target.
    /// - Throws: an error with `isTaken` if a target exists and must not be replaced.
    private func put(
        _ new: FilePlace, at target: FilePlace, from source: ResourcePath?, to path: ResourcePath,
        replaces: Bool
    ) throws(SystemError) {
        // A target that cannot be examined is not treated as missing.
        guard let old = try target.directory.statusIfThere(of: target.name) else {
            return try Self.rename(new, toFree: target)
        }
        guard replaces else { throw SystemError.taken("rename") }
        // Clients must not replace sockets and devices, though they do not see them.
        guard old.kind != .other || old.isLink else { throw SystemError.forbidden("rename") }
        let status = try new.directory.status(of: new.name)
        // On a volume that ignores case, both may be spellings of one name: nothing is replaced.
        guard source == nil || !old.isSameFile(as: status) else {
            return try new.directory.rename(new.name, to: target, .replacing)
        }
        if old.kind != .directory, status.kind != .directory {
            try clock.replace(target, by: new)
            return forget(old)
        }
        let aside = staging.place(beside: target)
        let journal = Result { () throws(SystemError) in
            try staging.note(ReplacementJournal.prefix)
        }
        let note = try? journal.get()
        if let note {
            let text = ReplacementJournal(source: source, target: path, old: old, aside: aside.name)
            // The journal must be on the disk before a crash can leave the names half changed.
            try text.write(to: note) { () throws(SystemError) in
                try staging.synchronize(note, if: synchronizes)
            }
        }
        defer {
            // If the target's name is free, the next start restores the old target.
            if let note, (try? target.directory.status(of: target.name)) != nil {
                try? note.directory.remove(note.name, isDirectory: false)
            }
        }
        do throws(SystemError) {
            try new.directory.rename(new.name, to: target, .exchanging)
        } catch {
            guard error.isUnsupported else { throw error }
            // Between two renames only the journal knows where the old content is.
            _ = try journal.get()
            try putInTurn(new, at: target, aside: aside)
            return removeTree(aside)
        }
        // The old target now has the name that the new content had.
        guard source != nil else { return removeTree(new) }
        do throws(SystemError) {
            try new.directory.rename(new.name, to: aside, .replacing)
        } catch {
            // The old target cannot be moved out of its directory, so both get their names back.
            try new.directory.rename(new.name, to: target, .exchanging)
            throw error
        }
        removeTree(aside)
    }

    /// Replaces a target by two renames, on file systems that cannot exchange names.
    private func putInTurn(
        _ new: FilePlace, at target: FilePlace, aside: FilePlace
    ) throws(SystemError) {
        try target.directory.rename(target.name, to: aside, .replacing)
        do throws(SystemError) {
            try new.directory.rename(new.name, to: target, .replacing)
        } catch {
            try aside.directory.rename(aside.name, to: target, .replacing)
            throw error
        }
    }

    /// Removes a tree that clients can no longer see.
    private func removeTree(_ place: FilePlace) {
        _ = clock.removing {
            place.directory.removeTree(place.name, onRemoval: onRemoval)
        }
    }

    /// Whether the paths lead to the same file or directory, or one is inside of the other. This is
    /// decided by the disk: with links, or on volumes that ignore case, one file has several paths.
    public func overlap(_ path: ResourcePath, _ other: ResourcePath) async throws -> Bool {
        if path.isWithin(other) || other.isWithin(path) { return true }
        let known: Bool? = try await shortWork { [self] () throws in
            let isAround = try isAbove(path, other, looksInside: false)
            return isAround == false ? try isAbove(other, path, looksInside: false) : isAround
        }
        if let known { return known }
        return try await work { [self] () throws in
            let isAround = try isAbove(path, other, looksInside: true)
            return try isAround == true || isAbove(other, path, looksInside: true) == true
        }
    }

    private func statusIfThere(_ path: ResourcePath) throws -> FileStatus? {
        do throws(SystemError) {
            return try tree.status(of: path.bytes)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    private func directoryIfThere(_ path: ResourcePath) throws -> OpenDirectory? {
        do throws(SystemError) {
            return try tree.directory(path.bytes)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Whether the target of `path` is `inner`, or one of its ancestors.
    /// - Parameter looksInside: whether to search all of `path` if necessary.
    /// - Returns: `nil` if a search is necessary.
    private func isAbove(
        _ path: ResourcePath, _ inner: ResourcePath, looksInside: Bool
    ) throws -> Bool? {
        // An entry that cannot be examined is an error: to treat one file as two could destroy it.
        guard let wanted = try statusIfThere(path) else { return false }
        let found = try statusIfThere(inner)
        if let found, found.isSameFile(as: wanted) { return true }
        guard wanted.kind == .directory, let parent = inner.parent else { return false }
        let root = try tree.status(of: [])
        // A missing directory has no members; opening it reports the error.
        guard let directory = try directoryIfThere(parent) else { return false }
        let status = try directory.status(of: [])
        // A volume mounted a second time has no path to the first mount point.
        for status in [status, found] {
            guard let status, status.kind == .directory, status.device == wanted.device,
                status.mount != wanted.mount
            else { continue }
            guard looksInside else { return nil }
            if try tree.directory(path.bytes).holds(status) { return true }
        }
        return try directory.isWithin(wanted, upTo: root)
    }
}

extension FileStatus {
    /// Whether content, attributes or name have changed since the last change of another file on
    /// the same volume.
    fileprivate func hasChanged(since other: FileStatus) -> Bool {
        (changedSeconds, changedNanoseconds) > (other.changedSeconds, other.changedNanoseconds)
    }
}

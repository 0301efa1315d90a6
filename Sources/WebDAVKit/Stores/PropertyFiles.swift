internal import HTTPServerCore
internal import Synchronization
internal import ToolkitSystem

/// The properties that do not fit into an attribute, or whose file system has none: for each file,
/// a separate file in the store's folder, named after the inode of the file that has them.
final class PropertyFiles: Sendable {
    static let folder = Array("properties".utf8)

    private let tree: FileTree
    private let staging: StagingDirectory
    private let synchronizes: Bool
    private let names: PropertyFileNames
    /// Whether there may be some. Usually there are none, and no lookup is made.
    private let exist = Atomic(false)
    /// Counts them; `nil` without a limit.
    private let usage = Locked<StoreUsage?>(nil)

    /// - Parameter synchronizes: whether they are flushed to the disk; attributes are flushed with
    ///   their file.
    init(
        _ tree: FileTree, _ staging: StagingDirectory, synchronizes: Bool
    ) throws(SystemError) {
        (self.tree, self.staging, self.synchronizes) = (tree, staging, synchronizes)
        names = try PropertyFileNames(tree)
    }

    /// Whether there may be some.
    var mayExist: Bool { exist.load(ordering: .relaxed) }

    /// Makes the lookups start: another store of this folder may have made the first one.
    func noteExistence() { exist.store(true, ordering: .relaxed) }

    /// - Returns: `nil` where there is none.
    @inline(never)  // Each caller would have a copy of it.
    private func existingFolder() throws(SystemError) -> OpenDirectory? {
        guard mayExist else { return nil }
        return try staging.ownFolderIfThere()?.directoryIfThere(Self.folder)
    }

    /// The properties of a file.
    /// - Returns: `nil` where it has no separate file.
    func content(of file: OpenFile) throws(SystemError) -> [UInt8]? {
        guard let folder = try existingFolder() else { return nil }
        let name = try names.name(of: try file.status())
        do throws(SystemError) {
            return try folder.open(name).content(upTo: PropertyFile.byteLimit)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    func write(_ bytes: [UInt8], of file: OpenFile) throws(SystemError) {
        let own = try staging.ownFolder()
        do throws(SystemError) {
            try own.makeDirectory(Self.folder, 0o700)
        } catch {
            guard error.isTaken else { throw error }
        }
        noteExistence()
        let target = FilePlace(
            directory: try own.directory(Self.folder), name: try names.name(of: try file.status()))
        let usage = usage.withLock { $0 }
        let old = try usage == nil ? nil : target.directory.statusIfThere(of: target.name)
        let growth = Int64(bytes.count) - (old?.size ?? 0)
        if growth > 0 { try usage?.add(growth) }
        do throws(SystemError) {
            try replace(target, by: bytes, in: own)
        } catch {
            if growth > 0 { usage?.change(by: -growth) }
            throw error
        }
        if growth < 0 { usage?.change(by: growth) }
    }

    private func replace(
        _ target: FilePlace, by bytes: [UInt8], in own: OpenDirectory
    ) throws(SystemError) {
        let (file, new) = try staging.create(beside: target)
        do throws(SystemError) {
            try file.write(bytes)
            // A remote file system may say only then that its disk is full: the old properties must
            // still be there.
            if synchronizes || !FileTree.isLocal(file) { try file.synchronize() }
            try new.directory.rename(new.name, to: target, .replacing)
            guard synchronizes else { return }
            // Each folder may be new.
            for folder in [target.directory, own, try tree.directory([])] {
                try folder.file.synchronize()
            }
        } catch {
            try? new.directory.remove(new.name, isDirectory: false)
            throw error
        }
    }

    /// Removes the separate file of a file, if there is one.
    func remove(of file: OpenFile) throws(SystemError) {
        guard let folder = try existingFolder() else { return }
        do throws(SystemError) {
            try removeCounted(try names.name(of: try file.status()), in: folder)
            if synchronizes { try folder.file.synchronize() }
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Removes the properties that a removed file has left to a new one, where files have no time of
    /// birth that tells them apart.
    func forgetUnborn(_ status: FileStatus) {
        if status.bornSeconds == 0 { forget(status) }
    }

    /// The same for a new directory.
    func forgetUnborn(_ place: FilePlace) {
        guard mayExist,
            let status = try? place.directory.status(of: place.name)
        else { return }
        forgetUnborn(status)
    }

    /// Removes a separate file, which counts no longer.
    private func removeCounted(
        _ name: [UInt8], in folder: OpenDirectory
    ) throws(SystemError) {
        let usage = usage.withLock { $0 }
        let status = try usage == nil ? nil : folder.statusIfThere(of: name)
        try folder.remove(name, isDirectory: false)
        if let status { usage?.forget(status) }
    }

    /// Counts the separate files from now on, and those that are there.
    func count(in usage: StoreUsage) throws(SystemError) {
        self.usage.withLock { $0 = usage }
        guard let folder = try existingFolder() else { return }
        usage.change(by: try folder.contentBytes(leavingOut: { _ in false }))
    }

    /// Removes the properties of a removed file, if possible; they belong to no other file.
    func forget(_ status: FileStatus) {
        do throws(SystemError) {
            guard let folder = try existingFolder() else { return }
            try removeCounted(try names.name(of: status), in: folder)
        } catch {
            // The next start removes it.
        }
    }

    /// Called while trees are removed; `nil` when no properties are in separate files.
    var onRemoval: ((FileStatus) -> Void)? {
        guard let folder = try? existingFolder() else { return nil }
        return { [self] status in
            do throws(SystemError) {
                try removeCounted(try names.name(of: status), in: folder)
            } catch {
                // Most have none; the next start removes others.
            }
        }
    }

    // MARK: The start

    /// Removes the properties of missing files, which other programs have removed or a dead process
    /// has left. If all properties are in attributes, there is nothing to do.
    /// - Parameter isAlone: whether no other process writes here.
    func sweep(isAlone: Bool) {
        noteExistence()
        let folder: OpenDirectory
        var left: Set<[UInt8]> = []
        do throws(SystemError) {
            guard let found = try existingFolder() else {
                return exist.store(false, ordering: .relaxed)
            }
            folder = found
            let reader = try DirectoryReader(folder)
            while let name = try reader.next() { left.insert(name) }
        } catch {
            // There may be files.
            return
        }
        guard isAlone else { return }
        if !left.isEmpty {
            do throws(SystemError) {
                try names.removeNamesInUse(from: &left)
            } catch {
                // The properties may be those of an unreadable file.
                return
            }
            for name in left { try? folder.remove(name, isDirectory: false) }
        }
        do throws(SystemError) {
            // It fails if the folder is not empty.
            try staging.ownFolderIfThere()?.remove(Self.folder, isDirectory: true)
            exist.store(false, ordering: .relaxed)
        } catch {
            // There are files.
        }
    }
}

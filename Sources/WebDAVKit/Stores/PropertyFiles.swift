internal import HTTPServerCore
internal import Synchronization
internal import ToolkitSystem

/// The properties of files that do not fit into an attribute, or whose file system has no
/// attributes. They are in a separate file in the store's folder (see `PropertyFileNames`).
final class PropertyFiles: Sendable {
    static let folder = Array("properties".utf8)

    private let tree: FileTree
    private let staging: StagingDirectory
    private let synchronizes: Bool
    private let names: PropertyFileNames
    /// Whether separate files may exist. Usually none exists, and lookups are omitted.
    private let exist = Atomic(false)
    /// Counts the bytes of separate files; `nil` without a limit.
    private let usage = Locked<StoreUsage?>(nil)

    /// - Parameter synchronizes: whether separate files are flushed to the disk; attributes are
    ///   flushed with their file.
    init(
        _ tree: FileTree, _ staging: StagingDirectory, synchronizes: Bool
    ) throws(SystemError) {
        (self.tree, self.staging, self.synchronizes) = (tree, staging, synchronizes)
        names = try PropertyFileNames(tree)
    }

    /// Whether separate files may exist.
    var mayExist: Bool { exist.load(ordering: .relaxed) }

    /// Enables lookups: another store of this folder may have made the first separate file.
    func noteExistence() { exist.store(true, ordering: .relaxed) }

    /// - Returns: `nil` if the folder does not exist.
    @inline(never)  // Each caller would have a copy of it.
    private func existingFolder() throws(SystemError) -> OpenDirectory? {
        guard mayExist else { return nil }
        return try staging.ownFolderIfThere()?.directoryIfThere(Self.folder)
    }

    /// The properties of a file.
    /// - Returns: `nil` if the file has no separate file.
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
            // A remote file system may report only then that its disk is full. The old properties
            // must still exist at this point.
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

    /// Removes the separate file of a file, if it exists.
    func remove(of file: OpenFile) throws(SystemError) {
        guard let folder = try existingFolder() else { return }
        do throws(SystemError) {
            try removeCounted(try names.name(of: try file.status()), in: folder)
            if synchronizes { try folder.file.synchronize() }
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Removes the properties of a removed file with the same inode as a new file. Without times of
    /// birth, the new file would inherit them.
    func forgetUnborn(_ status: FileStatus) {
        if status.bornSeconds == 0 { forget(status) }
    }

    /// The same for a new directory at `place`.
    func forgetUnborn(_ place: FilePlace) {
        guard mayExist,
            let status = try? place.directory.status(of: place.name)
        else { return }
        forgetUnborn(status)
    }

    /// Removes a separate file, and no longer counts it.
    private func removeCounted(
        _ name: [UInt8], in folder: OpenDirectory
    ) throws(SystemError) {
        let usage = usage.withLock { $0 }
        let status = try usage == nil ? nil : folder.statusIfThere(of: name)
        try folder.remove(name, isDirectory: false)
        if let status { usage?.forget(status) }
    }

    /// Counts the existing separate files now, and new ones from now on.
    func count(in usage: StoreUsage) throws(SystemError) {
        self.usage.withLock { $0 = usage }
        guard let folder = try existingFolder() else { return }
        usage.change(by: try folder.contentBytes(leavingOut: { _ in false }))
    }

    /// Removes the properties of a removed file, if possible. No other file can use them.
    func forget(_ status: FileStatus) {
        do throws(SystemError) {
            guard let folder = try existingFolder() else { return }
            try removeCounted(try names.name(of: status), in: folder)
        } catch {
            // The next start removes the separate file.
        }
    }

    /// Removes the properties of each file of a tree that is being removed; `nil` if no separate
    /// files exist.
    var onRemoval: ((FileStatus) -> Void)? {
        guard let folder = try? existingFolder() else { return nil }
        return { [self] status in
            do throws(SystemError) {
                try removeCounted(try names.name(of: status), in: folder)
            } catch {
                // Most files have no separate file; the next start removes any that stay.
            }
        }
    }

    // MARK: The start

    /// Removes the properties of missing files, which other programs have removed, or whose
    /// properties a dead process has left. Does nothing if all properties are in attributes.
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
            // Separate files may exist.
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
            // This fails if the folder is not empty.
            try staging.ownFolderIfThere()?.remove(Self.folder, isDirectory: true)
            exist.store(false, ordering: .relaxed)
        } catch {
            // Separate files exist.
        }
    }
}

internal import HTTPServerCore
internal import HTTPServerKit
internal import Synchronization
internal import ToolkitSystem

/// The place where files and trees are made before they get their names: a folder below
/// `.httpkit-dav`. This process holds a file lock on it, so that other processes recognise the
/// leftovers of a dead process.
final class StagingDirectory: Sendable {
    private struct Session: Sendable {
        var folder: OpenDirectory
        var name: [UInt8]
        var status: FileStatus
        /// Whether the folder is on the volume and the mount of the root.
        var isOnRootVolume: Bool
        /// The number of the session's action in `ProcessExit`: not every program closes its store.
        var exitAction: UInt64 = 0
    }

    private let tree: FileTree
    private let session = Locked<Session?>(nil)
    private let made = Atomic<UInt64>(0)
    /// Keys of the directories that have a note, or whose old content was removed.
    private let noted = Locked<Set<[UInt8]>>([])
    /// The prefix of the names of session folders.
    private static let sessionPrefix = Array("new-".utf8)
    /// The prefix of the names of notes, in the folder of the session.
    private static let besidePrefix = Array("beside-".utf8)
    private static let contentPrefix = ReservedNames.folder + Array("-put-".utf8)

    init(_ tree: FileTree) {
        self.tree = tree
    }

    deinit {
        // A folder that was not closed is removed when possible.
        guard let session = session.withLock({ $0 }) else { return }
        BlockingPool.files.submit { [tree] in Self.end(session, in: tree) }
    }

    /// A free name on the volume of `target`. It blocks.
    ///
    /// If the staging directory cannot be created, or is on another volume, files are staged beside
    /// the target. A note in the staging directory records the place, so that the next process can
    /// clean up if this one dies.
    /// - Parameter isContent: whether the name is for content that is not yet part of any resource,
    ///   and can be removed without loss.
    func place(beside target: FilePlace, isContent: Bool = false) -> FilePlace {
        if let place = placeInSession(for: target) { return place }
        return FilePlace(
            directory: target.directory, name: name(in: target.directory, isContent))
    }

    /// A name in the directory of this process, on the volume of `target`. It blocks.
    /// - Returns: `nil` if the folder cannot be created, or is on another volume.
    func placeInSession(for target: FilePlace) -> FilePlace? {
        guard let session = try? current(), isReachable(session, from: target) else { return nil }
        return FilePlace(directory: session.folder, name: nextName())
    }

    private func isReachable(_ session: Session, from target: FilePlace) -> Bool {
        if session.isOnRootVolume, target.isOnRootVolume { return true }
        guard let status = try? target.directory.status(of: []) else { return false }
        return session.status.isOnVolume(of: status)
    }

    /// Creates a file on the volume of `target`, to be renamed to it. It blocks.
    /// - Parameter permissions: the permissions of the file, which the process's mask restricts.
    func create(
        beside target: FilePlace, _ permissions: UInt16 = 0o666
    ) throws(SystemError) -> (OpenFile, FilePlace) {
        let place = place(beside: target, isContent: true)
        do throws(SystemError) {
            return (try place.directory.create(place.name, permissions), place)
        } catch {
            guard error.isMissing, renewIfGone() else { throw error }
            let place = self.place(beside: target, isContent: true)
            return (try place.directory.create(place.name, permissions), place)
        }
    }

    /// Gives up the session's folder if another program has removed it; the next name is in a new
    /// folder.
    /// - Returns: whether the folder was gone.
    @discardableResult
    func renewIfGone() -> Bool {
        guard let current = session.withLock({ $0 }) else { return false }
        do throws(SystemError) {
            let there = try ownFolderIfThere()?.statusIfThere(of: current.name)
            if let there, there.isSameFile(as: current.status) { return false }
        } catch {
            // The folder may exist.
            return false
        }
        session.withLock { session in
            if session?.name == current.name { session = nil }
        }
        ProcessExit.remove(current.exitAction)
        return true
    }

    // MARK: Beside the target

    private func name(in directory: OpenDirectory, _ isContent: Bool) -> [UInt8] {
        if let session = try? current(), isNoted(directory, session) {
            return Self.besideNames(session.name) + nextName()
        }
        if isContent { removeOldContent(in: directory) }
        let prefix = isContent ? Self.contentPrefix : ReservedNames.folder + [0x2D]
        return Self.randomName(String(decoding: prefix, as: UTF8.self))
    }

    /// The prefix of a session's names in other directories.
    private static func besideNames(_ session: [UInt8]) -> [UInt8] {
        ReservedNames.folder + [0x2D] + session.dropFirst(sessionPrefix.count) + [0x2D]
    }

    private func isNoted(_ directory: OpenDirectory, _ session: Session) -> Bool {
        guard let path = tree.path(of: directory) else { return false }
        let key = session.name + [0x2F] + path
        if noted.withLock({ $0.contains(key) }) { return true }
        do throws(SystemError) {
            try session.folder.create(Self.besidePrefix + nextName()).write(path)
        } catch {
            return false
        }
        noted.withLock { _ = $0.insert(key) }
        return true
    }

    /// Removes old content from a directory for which no note can be written. Content that was not
    /// changed for a day belongs to a dead process. Each directory is checked once.
    private func removeOldContent(in directory: OpenDirectory) {
        guard let status = try? directory.status(of: []) else { return }
        let key = Array("\(status.device) \(status.inode)".utf8)
        guard noted.withLock({ $0.insert(key).inserted }) else { return }
        let end = Syscalls.realtime().seconds - 86_400
        let names = (try? directory.names()) ?? []
        for name in names where name.starts(with: Self.contentPrefix) {
            guard let status = try? directory.status(of: name), status.kind == .regular,
                status.changedSeconds < end
            else { continue }
            try? directory.remove(name, isDirectory: false)
        }
    }

    /// Removes the leftovers that the notes of a dead process record, as far as possible.
    private func sweepBeside(_ folder: OpenDirectory, of session: [UInt8]) {
        let notes = (try? folder.names()) ?? []
        for note in notes where note.starts(with: Self.besidePrefix) {
            guard let path = try? folder.open(note).content(upTo: 64 << 10),
                let directory = try? tree.place(of: path + [0x2F, 0x2E]).directory,
                let names = try? directory.names()
            else { continue }
            let prefix = Self.besideNames(session)
            for name in names where name.starts(with: prefix) {
                _ = directory.removeTree(name)
            }
        }
    }

    /// The place of a note about a change in progress, which the next process reads if this one
    /// dies.
    func note(_ kind: String) throws(SystemError) -> FilePlace {
        FilePlace(directory: try current().folder, name: Self.randomName(kind))
    }

    /// Waits until a note and its directories are on the disk.
    func synchronize(_ note: FilePlace, if isWished: Bool) throws(SystemError) {
        guard isWished else { return }
        try note.directory.open(note.name).synchronize()
        let own = try ownFolder()
        for folder in [note.directory, own, try tree.directory([])] {
            try folder.file.synchronize()
        }
    }

    private func current() throws(SystemError) -> Session {
        let made: Result<Session, SystemError> = session.withLock { session in
            if let session { return .success(session) }
            do throws(SystemError) {
                var new = try makeSession()
                new.exitAction = ProcessExit.add { [new, tree] in Self.removeIfEmpty(new, in: tree)
                }
                session = new
                return .success(new)
            } catch {
                return .failure(error)
            }
        }
        return try made.get()
    }

    /// Makes and locks a new folder. Until it is locked, another process may treat it as abandoned
    /// and remove it, so this tries several times.
    private func makeSession() throws(SystemError) -> Session {
        var tries = 8
        while true {
            do throws(SystemError) {
                let own = try ownFolder()
                let name = Self.randomName(String(decoding: Self.sessionPrefix, as: UTF8.self))
                try own.makeDirectory(name, 0o700)
                let folder = try own.directory(name)
                let status = try folder.status(of: [])
                if folder.file.hold(), try own.status(of: name).isSameFile(as: status) {
                    let root = try tree.directory([]).status(of: [])
                    return Session(
                        folder: folder, name: name, status: status,
                        isOnRootVolume: status.isOnVolume(of: root))
                }
                // Another process has removed the folder, or the volume has no file locks.
                try? own.remove(name, isDirectory: true)
                throw SystemError("open", code: 2)
            } catch {
                tries -= 1
                guard error.isMissing, tries > 0 else { throw error }
            }
        }
    }

    /// `.httpkit-dav` at the root, created if it is missing.
    func ownFolder() throws(SystemError) -> OpenDirectory {
        let root = try tree.directory([])
        do throws(SystemError) {
            try root.makeDirectory(ReservedNames.folder, 0o700)
        } catch {
            guard error.isTaken else { throw error }
        }
        return try root.directory(ReservedNames.folder)
    }

    /// `.httpkit-dav`, if it exists.
    func ownFolderIfThere() throws(SystemError) -> OpenDirectory? {
        try tree.directory([]).directoryIfThere(ReservedNames.folder)
    }

    // MARK: The end

    /// Removes the folder of this process, and `.httpkit-dav` if nothing else is in it.
    /// Replacements that have failed half-way are completed first.
    func close() {
        let ended = session.withLock { session in
            defer { session = nil }
            return session
        }
        if let ended { Self.end(ended, in: tree) } else { removeIfEmpty() }
    }

    /// Called at the end of the process, when requests may still be in progress. A folder that is
    /// not empty stays, and the next process removes it.
    private static func removeIfEmpty(_ session: Session, in tree: FileTree) {
        inOwnFolder(of: tree) { try? $0.remove(session.name, isDirectory: true) }
    }

    /// Removes the folder of a session. A folder that may contain the only name of replaced content
    /// stays; the next start tries again.
    private static func end(_ session: Session, in tree: FileTree) {
        defer { ProcessExit.remove(session.exitAction) }
        inOwnFolder(of: tree) { own in
            guard ReplacementJournal.finishAll(in: session.folder, of: tree) else { return }
            _ = own.removeTree(session.name)
        }
    }

    /// Removes something from `.httpkit-dav`, and then that folder if nothing else is in it.
    private static func inOwnFolder(of tree: FileTree, _ remove: (OpenDirectory) -> Void) {
        guard let root = try? tree.directory([]),
            let own = try? root.directoryIfThere(ReservedNames.folder)
        else { return }
        remove(own)
        try? root.remove(ReservedNames.folder, isDirectory: true)
    }

    /// Removes the leftovers of dead processes.
    /// - Parameter finish: gets each folder of a dead process before it is removed, and returns
    ///   whether it may be removed.
    /// - Returns: whether no other process has a folder here, and no folder of a dead process had
    ///   to stay; `false` if the folders cannot be read.
    func sweep(_ finish: (OpenDirectory) -> Bool) -> Bool {
        let own: OpenDirectory
        let names: [[UInt8]]
        do throws(SystemError) {
            guard let found = try ownFolderIfThere() else { return true }
            own = found
            names = try own.names()
        } catch {
            return false
        }
        var isAlone = true
        for name in names where name.starts(with: Self.sessionPrefix) {
            let folder: OpenDirectory
            do throws(SystemError) {
                guard let found = try own.directoryIfThere(name) else { continue }
                folder = found
            } catch {
                isAlone = false
                continue
            }
            guard folder.file.hold() else {
                isAlone = false
                continue
            }
            // The folder has the only copy of a file that could not be restored, so the next start
            // tries again. Until then the file needs its properties, which may be in separate
            // files.
            guard finish(folder) else {
                isAlone = false
                continue
            }
            sweepBeside(folder, of: name)
            _ = own.removeTree(name)
        }
        return isAlone
    }

    /// Removes `.httpkit-dav` if nothing is in it.
    func removeIfEmpty() {
        try? tree.directory([]).remove(ReservedNames.folder, isDirectory: true)
    }

    /// A name in the folder of the session, which no other process uses.
    private func nextName() -> [UInt8] {
        Array(String(made.add(1, ordering: .relaxed).newValue, radix: 36).utf8)
    }

    private static func randomName(_ prefix: String) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let random = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
        return Array((prefix + random).utf8)
    }
}

extension OpenDirectory {
    /// - Returns: `nil` if the directory does not exist.
    func directoryIfThere(_ name: [UInt8]) throws(SystemError) -> OpenDirectory? {
        do throws(SystemError) {
            return try directory(name)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }
}

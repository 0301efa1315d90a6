internal import HTTPCodecs
internal import HTTPServerCore
internal import Synchronization

/// Where files and trees are made before they get their names: a folder below `.httpkit-dav` that
/// this process holds by a lock, so that others can tell what a dead one has left.
final class ScratchFolder: Sendable {
    private struct Session: Sendable {
        var folder: OpenDirectory
        var name: [UInt8]
        var status: FileStatus
    }

    private let tree: FileTree
    private let session = Locked<Session?>(nil)
    private let made = Atomic<UInt64>(0)
    /// Names of folders of sessions begin like this.
    private static let sessionPrefix = Array("new-".utf8)

    init(_ tree: FileTree) {
        self.tree = tree
    }

    deinit {
        // Where nobody has closed it, it goes when it can.
        guard let session = session.withLock({ $0 }) else { return }
        BlockingPool.files.submit { [tree] in Self.end(session, in: tree) }
    }

    /// A name for something new on the volume of `target`. It blocks.
    ///
    /// Where our own folder cannot be made, or is on another volume, it is beside the target.
    func place(beside target: FilePlace) -> FilePlace {
        if let status = try? target.directory.status(of: []), let session = try? current(),
            session.status.isOnVolume(of: status)
        {
            return FilePlace(directory: session.folder, name: nextName())
        }
        return FilePlace(
            directory: target.directory,
            name: Self.randomName(String(decoding: OwnNames.folder, as: UTF8.self) + "-"))
    }

    /// Makes a file on the volume of `target`, for what is to get its name. It blocks.
    func create(beside target: FilePlace) throws(SystemError) -> (OpenFile, FilePlace) {
        let place = place(beside: target)
        do throws(SystemError) {
            return (try place.directory.create(place.name), place)
        } catch {
            guard error.isMissing, renewIfGone() else { throw error }
            let place = self.place(beside: target)
            return (try place.directory.create(place.name), place)
        }
    }

    /// Gives up a folder that somebody else has removed while it was in use; the next name is in a
    /// new one.
    /// - Returns: whether it was gone.
    @discardableResult
    func renewIfGone() -> Bool {
        guard let current = session.withLock({ $0 }) else { return false }
        let there = try? ownFolderIfThere()?.status(of: current.name)
        if let there, there.isSameFile(as: current.status) { return false }
        session.withLock { session in
            if session?.name == current.name { session = nil }
        }
        return true
    }

    /// A name for a note on what is about to be done, which the next process reads if this one dies
    /// meanwhile.
    func note(_ kind: String) throws(SystemError) -> FilePlace {
        FilePlace(directory: try current().folder, name: Self.randomName(kind))
    }

    private func current() throws(SystemError) -> Session {
        let made: Result<Session, SystemError> = session.withLock { session in
            if let session { return .success(session) }
            do throws(SystemError) {
                let new = try makeSession()
                session = new
                return .success(new)
            } catch {
                return .failure(error)
            }
        }
        return try made.get()
    }

    /// Another process may take a new folder for one that was left, until it is held.
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
                    return Session(folder: folder, name: name, status: status)
                }
                throw SystemError("open", code: 2)
            } catch {
                tries -= 1
                guard error.isMissing, tries > 0 else { throw error }
            }
        }
    }

    /// `.httpkit-dav` at the root, made when it is not there.
    func ownFolder() throws(SystemError) -> OpenDirectory {
        let root = try tree.directory([])
        do throws(SystemError) {
            try root.makeDirectory(OwnNames.folder, 0o700)
        } catch {
            guard error.isTaken else { throw error }
        }
        return try root.directory(OwnNames.folder)
    }

    /// `.httpkit-dav` if it is there.
    func ownFolderIfThere() -> OpenDirectory? {
        (try? tree.directory([]))?.directoryIfThere(OwnNames.folder)
    }

    // MARK: The end

    /// Removes the folder of this process, and `.httpkit-dav` if nothing else is in it.
    func close() {
        let ended = session.withLock { session in
            defer { session = nil }
            return session
        }
        if let ended { Self.end(ended, in: tree) }
    }

    private static func end(_ session: Session, in tree: FileTree) {
        guard let root = try? tree.directory([]),
            let own = root.directoryIfThere(OwnNames.folder)
        else { return }
        _ = own.removeTree(session.name)
        try? root.remove(OwnNames.folder, isDirectory: true)
    }

    /// Removes what processes have left that are no more.
    /// - Parameter finish: is given each folder of one before that goes.
    /// - Returns: whether no other process has a folder here.
    func sweep(_ finish: (OpenDirectory) -> Void) -> Bool {
        guard let own = ownFolderIfThere(), let reader = try? DirectoryReader(own) else {
            return true
        }
        var names: [[UInt8]] = []
        while let name = reader.next() { names.append(name) }
        var isAlone = true
        for name in names where name.starts(with: Self.sessionPrefix) {
            guard let folder = own.directoryIfThere(name) else { continue }
            guard folder.file.hold() else {
                isAlone = false
                continue
            }
            finish(folder)
            _ = own.removeTree(name)
        }
        return isAlone
    }

    /// Removes `.httpkit-dav` if nothing is in it.
    func removeIfEmpty() {
        try? tree.directory([]).remove(OwnNames.folder, isDirectory: true)
    }

    /// A name in the folder of the session, where nobody else makes any.
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
    fileprivate func directoryIfThere(_ name: [UInt8]) -> OpenDirectory? {
        try? directory(name)
    }
}

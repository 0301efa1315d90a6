internal import HTTPCodecs
internal import HTTPServerCore

/// Where files and trees are made before they get their names: a folder below `.httpkit-dav` that
/// this process holds by a lock, so that others can tell what a dead one has left.
final class ScratchFolder: Sendable {
    private struct Session: Sendable {
        var folder: OpenDirectory
        var device: UInt64
    }

    private let tree: FileTree
    private let session = Locked<Session?>(nil)

    init(_ tree: FileTree) {
        self.tree = tree
    }

    /// A name for something new on the volume of `target`. It blocks.
    ///
    /// Where our own folder cannot be made, or is on another volume, it is beside the target.
    func place(beside target: FilePlace) -> FilePlace {
        let device = (try? target.directory.status(of: []))?.device
        if let session = try? current(), session.device == device {
            return FilePlace(directory: session.folder, name: Self.randomName(""))
        }
        return FilePlace(directory: target.directory, name: Self.randomName(".httpkit-dav-"))
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

    private func makeSession() throws(SystemError) -> Session {
        let own = try ownFolder()
        let name = Self.randomName("new-")
        try own.makeDirectory(name, 0o700)
        let folder = try own.directory(name)
        _ = folder.file.hold()
        return Session(folder: folder, device: try folder.status(of: []).device)
    }

    /// `.httpkit-dav` at the root, made when it is not there.
    func ownFolder() throws(SystemError) -> OpenDirectory {
        let root = try tree.directory([])
        do throws(SystemError) {
            try root.makeDirectory(LocalStore.ownPrefix, 0o700)
        } catch {
            guard error.isTaken else { throw error }
        }
        return try root.directory(LocalStore.ownPrefix)
    }

    /// `.httpkit-dav` if it is there.
    func ownFolderIfThere() -> OpenDirectory? {
        (try? tree.directory([]))?.directoryIfThere(LocalStore.ownPrefix)
    }

    /// Removes what processes have left that are no more.
    func sweep() {
        guard let own = ownFolderIfThere(), let reader = try? DirectoryReader(own) else { return }
        var names: [[UInt8]] = []
        while let name = reader.next() { names.append(name) }
        for name in names where name.starts(with: "new-".utf8) {
            guard let folder = own.directoryIfThere(name), folder.file.hold() else { continue }
            _ = own.removeTree(name)
        }
        // It goes when nothing else is in it.
        if let root = try? tree.directory([]) {
            try? root.remove(LocalStore.ownPrefix, isDirectory: true)
        }
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

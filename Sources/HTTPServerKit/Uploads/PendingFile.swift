package import ToolkitSystem

/// A file that is written under a temporary name in its final folder. It is removed with this
/// object unless `place` has renamed it.
package final class PendingFile: Sendable {
    private let path: String
    private let target: String
    package let file: OpenFile
    private let isPlaced = Locked(false)

    private init(path: String, target: String, file: OpenFile) {
        (self.path, self.target, self.file) = (path, target, file)
        TemporaryFiles.made()
    }

    deinit {
        if isPlaced.withLock({ $0 }) { return TemporaryFiles.ended() }
        TemporaryFiles.remove { [path] in Syscalls.removeFile(path) }
    }

    /// Creates an empty file in the folder of `target`. Its name cannot be guessed, and is
    /// reserved: no handler lists or serves it.
    package static func create(for target: String) async throws -> PendingFile {
        var generator = SystemRandomNumberGenerator()
        let slash = target.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(target[...$0]) } ?? ""
        let name =
            String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
        let prefix = String(decoding: ReservedNames.folder, as: UTF8.self) + "-upload-"
        let path = folder + prefix + name
        let file = try await FileWork.run { () throws(SystemError) in
            OpenFile(owning: try Syscalls.createFile(path))
        }
        return PendingFile(path: path, target: target, file: file)
    }

    /// Renames the file to its final name, atomically.
    /// - Parameters:
    ///   - replaces: whether an existing file is replaced.
    ///   - permissions: the permissions of the file.
    ///   - synchronizes: whether to wait until the content is on the disk before the rename.
    package func place(
        replaces: Bool, permissions: UInt16, synchronizes: Bool
    ) async throws {
        try await FileWork.run { [self] () throws(SystemError) in
            try Syscalls.setPermissions(file.descriptor, permissions)
            if synchronizes { try Syscalls.synchronize(file.descriptor) }
            try Syscalls.moveFile(path, to: target, replaces: replaces)
        }
        isPlaced.withLock { $0 = true }
    }
}

package import ToolkitSystem

/// A folder for the uploaded files of one request. It is removed with its files when this object is
/// released: on success, on an error, when the task is cancelled and when the client disconnects.
package final class TemporaryFolder: Sendable {
    /// The path of the folder.
    package let path: String
    /// The open folder, locked so that no other process removes it as abandoned, however old it is.
    private let folder: OpenFile
    private let fileCount = Locked(0)

    private init(path: String, folder: OpenFile) {
        self.path = path
        self.folder = folder
        TemporaryFiles.made()
    }

    deinit {
        TemporaryFiles.remove { [path, folder, count = fileCount.withLock { $0 }] in
            for number in 0..<count { Syscalls.removeFile("\(path)/\(number)") }
            Syscalls.removeFolder(path)
            withExtendedLifetime(folder) {}
        }
    }

    /// Creates an empty folder.
    /// - Parameter parent: the path of its parent; `nil` for the system's temporary folder.
    package static func create(below parent: String? = nil) async throws -> TemporaryFolder {
        TemporaryFiles.sweep(below: parent)
        return try await FileWork.run { () throws(SystemError) in
            try Self.make(below: parent)
        }
    }

    private static func make(below parent: String?) throws(SystemError) -> TemporaryFolder {
        let path = try Syscalls.makeTemporaryFolder(below: parent)
        do throws(SystemError) {
            let folder = OpenFile(owning: try Syscalls.openFile(path))
            // On a file system without locks this fails, but then no process can lock the folder to
            // remove it, either.
            _ = folder.hold()
            return TemporaryFolder(path: path, folder: folder)
        } catch {
            Syscalls.removeFolder(path)
            throw error
        }
    }

    /// Creates an empty file. Its name is a number and contains nothing from the client.
    package func createFile() async throws -> (path: String, file: OpenFile) {
        let number = fileCount.withLock { count in
            count += 1
            return count - 1
        }
        let path = "\(path)/\(number)"
        let file = try await FileWork.run { () throws(SystemError) in
            OpenFile(owning: try Syscalls.createFile(path))
        }
        return (path, file)
    }
}

package import ToolkitSystem

/// A folder for what came with one request. It is removed with its files when the last that needs
/// it goes: on success, on an error, when the task is cancelled and when the client is gone.
package final class TemporaryFolder: Sendable {
    /// Where it is.
    package let path: String
    /// Held as long as it is open, so that no other process takes the folder for abandoned, however
    /// old it gets.
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

    /// Makes an empty folder.
    /// - Parameter parent: where; `nil` for the system's folder for temporary files.
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
            // Without such locks no process can hold it to sweep it, either.
            _ = folder.hold()
            return TemporaryFolder(path: path, folder: folder)
        } catch {
            Syscalls.removeFolder(path)
            throw error
        }
    }

    /// Makes an empty file. Its name is a number: nothing of what a client sent gets into it.
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

internal import HTTPCodecs

/// A folder for what came with one request. It is removed with its files when the last that needs
/// it goes: on success, on an error, when the task is cancelled and when the client is gone.
package final class TemporaryFolder: Sendable {
    /// Where it is.
    package let path: String
    private let fileCount = Locked(0)

    private init(path: String) {
        self.path = path
    }

    deinit {
        // To remove a large file takes a while, which the event loop has not.
        BlockingPool.files.submit { [path, count = fileCount.withLock { $0 }] in
            for number in 0..<count { Syscalls.removeFile("\(path)/\(number)") }
            Syscalls.removeFolder(path)
        }
    }

    /// Makes an empty folder.
    /// - Parameter parent: where; `nil` for the system's folder for temporary files.
    package static func create(below parent: String? = nil) async throws -> TemporaryFolder {
        try await FileWork.run { () throws(SystemError) in
            TemporaryFolder(path: try Syscalls.makeTemporaryFolder(below: parent))
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

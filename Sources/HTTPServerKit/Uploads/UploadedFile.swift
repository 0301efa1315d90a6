public import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

/// A file that came with a form. It lies in a folder of temporary files until it and the other
/// files of its form are no longer needed.
public struct UploadedFile: Sendable {
    /// The name of the form's field.
    public let name: String
    /// The file name, as the client sent it. It may be empty, and it may be anything: use
    /// ``safeFileName`` to make a path of it.
    public let fileName: String
    /// The media type that the client thinks it has.
    public let mediaType: MediaType?
    /// Its length in bytes.
    public let size: Int64
    /// Where it lies, readable for its owner alone. It must not be used once the file has gone.
    public let path: String

    private let folder: TemporaryFolder

    init(head: PartHead, size: Int64, path: String, folder: TemporaryFolder) {
        name = head.name ?? ""
        fileName = head.fileName ?? ""
        mediaType = head.mediaType
        self.size = size
        self.path = path
        self.folder = folder
    }

    /// The last component of the file name, fit to name a file of a folder; `nil` when there is
    /// none, as `ContentDisposition.safeFileName(of:byteLimit:)` says.
    public var safeFileName: String? { ContentDisposition.safeFileName(of: fileName) }

    /// The content in memory.
    /// - Throws: `SystemError` with `EFBIG` when it is longer than `byteLimit`.
    public func content(upTo byteLimit: Int = 2 << 20) async throws -> [UInt8] {
        try await BlockingPool.files.run { [self] in try Syscalls.readFile(path, upTo: byteLimit) }
    }

    /// Moves it to where it is to stay. On another file system it is copied; it is there whole or
    /// not at all.
    /// - Parameters:
    ///   - target: the new path; its folder has to be there.
    ///   - replaces: whether a file of that name is replaced; otherwise `SystemError` with `EEXIST`
    ///     is thrown.
    ///   - permissions: the permissions of the file.
    /// - Throws: `SystemError`, and, when there is no room left, `CodecError` with
    ///   `.fileNotWritable`, which becomes 507.
    public func move(
        to target: String, replaces: Bool = false, permissions: UInt16 = 0o644
    ) async throws {
        do {
            try await FileWork.run { [self] () throws(SystemError) in
                try Syscalls.setPermissions(path, permissions)
                try Syscalls.moveFile(path, to: target, replaces: replaces)
            }
        } catch let error as SystemError where error.isOfOtherFileSystem {
            try await copy(to: target, replaces: replaces, permissions: permissions)
        }
    }

    private func copy(to target: String, replaces: Bool, permissions: UInt16) async throws {
        let pending = try await PendingFile.create(for: target)
        try await FileWork.run { [self] () throws(SystemError) in
            let source = OpenFile(owning: try Syscalls.openFile(path))
            var offset: Int64 = 0
            while true {
                let piece = try Syscalls.readPiece(of: source.descriptor, at: offset)
                guard !piece.isEmpty else { break }
                let region = unsafe piece.span.withUnsafeBytes { unsafe $0 }
                try unsafe Syscalls.write(pending.file.descriptor, region)
                offset += Int64(piece.count)
            }
        }
        try await pending.place(
            replaces: replaces, permissions: permissions, synchronizes: false)
        BlockingPool.files.submit { [self] in Syscalls.removeFile(path) }
    }
}

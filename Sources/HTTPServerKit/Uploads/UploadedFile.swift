public import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

/// A file of an uploaded form. It is in a temporary folder, which is removed when neither this
/// value nor another file of the form is in use.
public struct UploadedFile: Sendable {
    /// The name of the form's field.
    public let name: String
    /// The file name, as the client sent it. It may be empty or malicious: use ``safeFileName`` to
    /// build a path.
    public let fileName: String
    /// The media type that the client sent; `nil` without one. It is not checked.
    public let mediaType: MediaType?
    /// The length in bytes.
    public let size: Int64
    /// The path of the temporary file, which only its owner can read. Valid while the form or one
    /// of its files is in use, and until the file is moved.
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

    /// The last component of the file name, made safe as the name of a file; `nil` if there is
    /// none. See `ContentDisposition.safeFileName(of:byteLimit:)`.
    public var safeFileName: String? { ContentDisposition.safeFileName(of: fileName) }

    /// The content in memory.
    /// - Throws: `SystemError` with `EFBIG` when it is longer than `byteLimit`.
    public func content(upTo byteLimit: Int = 2 << 20) async throws -> [UInt8] {
        try await BlockingPool.files.runUnlessCancelled { [self] in
            try Syscalls.readFile(path, upTo: byteLimit)
        }
    }

    /// Moves the file to its final path, atomically. It is copied if that is on another file
    /// system.
    /// - Parameters:
    ///   - target: the new path, whose folder must exist.
    ///   - replaces: whether an existing file is replaced; otherwise `SystemError` with `EEXIST` is
    ///     thrown.
    ///   - permissions: the permissions of the file.
    /// - Throws: `SystemError`, and, if the disk is full, `CodecError` with `.fileNotWritable`,
    ///   which becomes 507.
    public func move(
        to target: String, replaces: Bool = false, permissions: UInt16 = 0o644
    ) async throws {
        do {
            try await FileWork.run { [self] () throws(SystemError) in
                try Syscalls.setPermissions(path, permissions)
                try Syscalls.moveFile(path, to: target, replaces: replaces)
            }
        } catch let error as SystemError where error.isAcrossVolumes {
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

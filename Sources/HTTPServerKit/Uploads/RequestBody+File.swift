internal import HTTPParser
public import HTTPServerCore

extension RequestBody {
    /// Writes the content to a file, atomically: the file appears only when it is complete.
    ///
    /// The content is written under a temporary name in the same folder, outside of the event loop,
    /// and renamed at the end. If the content is incomplete or the task is cancelled, the temporary
    /// file is removed.
    /// - Parameters:
    ///   - path: the path of the file, whose folder must exist.
    ///   - byteLimit: the most bytes to take; more throw `HTTPError` with 413, before anything is
    ///     read if the length was announced.
    ///   - replaces: whether an existing file is replaced; otherwise `SystemError` with `EEXIST` is
    ///     thrown, at the end.
    ///   - permissions: the permissions of the file.
    ///   - synchronizes: whether to wait until the content is on the disk before the rename.
    /// - Returns: the number of bytes.
    /// - Throws: `RequestBodyError`, `HTTPError`, `SystemError`, and, if the disk is full,
    ///   `CodecError` with `.fileNotWritable`, which becomes 507.
    @discardableResult
    public func stream(
        toFile path: String, byteLimit: Int64 = 4 << 30, replaces: Bool = true,
        permissions: UInt16 = 0o644, synchronizes: Bool = false
    ) async throws -> Int64 {
        try refuseAnnounced(above: byteLimit)
        let pending = try await PendingFile.create(for: path)
        var writer = FileWriter(pending.file)
        for try await piece in self {
            guard Int64(piece.count) <= byteLimit - writer.count else {
                throw HTTPError(.contentTooLarge, "at most \(byteLimit) bytes are taken here")
            }
            try await writer.write(piece)
        }
        try await writer.flush()
        try await pending.place(
            replaces: replaces, permissions: permissions, synchronizes: synchronizes)
        return writer.count
    }

    /// Throws 413 if the announced length is above a limit, before any content is read.
    func refuseAnnounced(above byteLimit: Int64) throws(HTTPError) {
        if let announced = announcedLength, announced > byteLimit {
            throw HTTPError(.contentTooLarge, "at most \(byteLimit) bytes are taken here")
        }
    }
}

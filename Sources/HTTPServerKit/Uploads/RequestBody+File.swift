internal import HTTPParser
public import HTTPServerCore

extension RequestBody {
    /// Writes the content to a file, which is there whole or not at all.
    ///
    /// It is written under another name in the same folder, on threads that may block, and renamed
    /// at the end. When the content does not come in whole, or the task is cancelled, nothing
    /// stays behind.
    /// - Parameters:
    ///   - path: the file's path; its folder has to be there.
    ///   - byteLimit: the most bytes to take; above it `HTTPError` with 413 is thrown, before
    ///     anything is read where the length was announced.
    ///   - replaces: whether a file of that name is replaced; otherwise `SystemError` with `EEXIST`
    ///     is thrown, at the end.
    ///   - permissions: the permissions of the file.
    ///   - synchronizes: whether to wait until the content is on the disk before the file gets its
    ///     name.
    /// - Returns: the number of bytes.
    /// - Throws: `RequestBodyError`, `HTTPError`, `SystemError`, and, when there is no room left,
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

    /// Refuses content that is announced as longer, before any of it is read.
    func refuseAnnounced(above byteLimit: Int64) throws(HTTPError) {
        if let announced = announcedLength, announced > byteLimit {
            throw HTTPError(.contentTooLarge, "at most \(byteLimit) bytes are taken here")
        }
    }
}

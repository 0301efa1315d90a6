internal import ToolkitSystem

/// The hidden files that downloads are written into, next to their destinations.
package enum PartialFile {
    /// The path of a new partial file for a destination.
    static func path(for destination: String, number: UInt64) -> String {
        let slash = destination.lastIndex(of: "/")
        let start = slash.map { destination.index(after: $0) } ?? destination.startIndex
        let name = String(number, radix: 36)
        return "\(destination[..<start]).\(shortened(destination[start...])).\(name)"
    }

    /// Moves a partial file to its destination. If a resumed download has its partial file on
    /// another file system, the file is first copied next to the destination, which blocks the
    /// loop.
    static func move(
        _ file: OpenFile, at path: String, to destination: String
    ) throws(SystemError) {
        do throws(SystemError) {
            try Syscalls.moveFile(path, to: destination, replaces: true)
        } catch {
            guard error.isAcrossVolumes else { throw error }
            let other = Self.path(for: destination, number: UInt64.random(in: 0...UInt64.max))
            try copy(file, to: other, thenMoveTo: destination)
            Syscalls.removeFile(path)
        }
    }

    private static func copy(
        _ file: OpenFile, to other: String, thenMoveTo destination: String
    ) throws(SystemError) {
        let copy = try create(other, isPrivate: true)
        do throws(SystemError) {
            let status = try file.status()
            copy.setPermissionsIfPossible(status.permissions & 0o777)
            try copy.copyContent(of: file, size: status.size)
            try copy.checkClosing()
            try Syscalls.moveFile(other, to: destination, replaces: true)
        } catch {
            Syscalls.removeFile(other)
            throw error
        }
    }

    /// Creates a file, which must not exist, and locks it.
    /// - Parameters:
    ///   - path: its path.
    ///   - isPrivate: whether only its owner may read and write it, as in a folder that all users
    ///     share. Otherwise it gets the process's default permissions.
    static func create(_ path: String, isPrivate: Bool) throws(SystemError) -> OpenFile {
        let permissions: UInt16 = isPrivate ? 0o600 : 0o666
        let file = OpenFile(owning: try Syscalls.createFile(path, permissions: permissions))
        guard file.holdIfPossible() else { throw SystemError.heldElsewhere("flock") }
        return file
    }

    /// Opens a file, locks it, and truncates it to `offset`, where writing continues.
    /// - Throws: an error with `isHeldElsewhere` if another download writes the file; an error as
    ///   well if the file is shorter than `offset`.
    static func reopen(_ path: String, at offset: Int64) throws(SystemError) -> OpenFile {
        let file = try Syscalls.openForChanging(path)
        guard file.holdIfPossible() else { throw SystemError.heldElsewhere("flock") }
        // A download that has ended since may have moved the file to its destination.
        guard file.isAt(path) else { throw SystemError.missing("open") }
        guard try file.status().size >= offset else { throw SystemError.invalid("ftruncate") }
        try file.truncate(to: offset)
        return file
    }

    /// The size of a file in bytes; 0 if it is missing or cannot be read.
    static func size(_ path: String) -> Int64 {
        do throws(SystemError) {
            return try Syscalls.openRegularFile(path).status.size
        } catch {
            return 0
        }
    }

    /// Removes a file, unless a download writes it.
    static func removeUnlessInUse(_ path: String) {
        do throws(SystemError) {
            let file = try Syscalls.openRegularFile(path, followsLinks: false).file
            if file.holdIfPossible(), file.isAt(path) { Syscalls.removeFile(path) }
        } catch {
            // A missing file, or one that this user may not read, is not this user's partial file.
        }
    }

    /// Whether `name` is the name of a partial file for the destination name `file`; both without a
    /// folder.
    package static func isName(_ name: String, for file: String) -> Bool {
        let prefix = ".\(shortened(file[...]))."
        guard name.hasPrefix(prefix) else { return false }
        let number = name.dropFirst(prefix.count)
        return UInt64(number, radix: 36).map { String($0, radix: 36) == number } ?? false
    }

    /// The name, cut so that with a suffix it stays within the limit of file systems.
    private static func shortened(_ name: Substring) -> Substring {
        var name = name
        while name.utf8.count > 128 { name.removeLast() }
        return name
    }
}

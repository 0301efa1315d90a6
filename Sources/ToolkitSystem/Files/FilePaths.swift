#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

extension OpenFile {
    /// Whether a path still leads to this file: another process may have moved or replaced it.
    package func isAt(_ path: String) -> Bool {
        guard let own = RootDirectory.status(of: descriptor),
            let there = Syscalls.status(ofPath: path)
        else { return false }
        return own.isSameFile(as: there)
    }
}

/// The calls for files that the program itself names, by their paths.
extension Syscalls {
    /// The absolute path, which stays valid when the current folder changes. If the system does not
    /// know the current folder, the path is returned unchanged.
    package static func absolutePath(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let folder = unsafe getcwd(nil, 0) else {
            return path
        }
        defer { unsafe free(folder) }
        return "\(unsafe String(cString: folder))/\(path)"
    }

    /// Opens a regular file for reading; anything else is `EINVAL`.
    /// - Parameter followsLinks: whether a link as the last part of the path is followed.
    package static func openRegularFile(
        _ path: String, followsLinks: Bool = true
    ) throws(SystemError) -> (file: OpenFile, status: FileStatus) {
        try check(path)
        let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else { throw SystemError("open") }
        let file = OpenFile(owning: descriptor)
        guard let status = RootDirectory.status(of: descriptor) else { throw SystemError("fstat") }
        guard status.kind == .regular else { throw SystemError("open", code: EINVAL) }
        return (file, status)
    }

    /// Opens an existing file for reading and writing; a link is `ELOOP`.
    package static func openForChanging(_ path: String) throws(SystemError) -> OpenFile {
        try check(path)
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let descriptor = unsafe open(path, flags)
        guard descriptor >= 0 else { throw SystemError("open") }
        return OpenFile(owning: descriptor)
    }

    /// The attributes of the file at a path, not of the file that a link leads to; `nil` if the
    /// system does not report them.
    package static func status(ofPath path: String) -> FileStatus? {
        var raw = stat()
        guard !path.utf8.contains(0), unsafe lstat(path, &raw) == 0 else { return nil }
        return FileStatus(raw)
    }

    /// The names in a folder, without `.` and `..`.
    /// - Parameter limit: the most names; further ones are left out.
    package static func names(
        in folder: String, upTo limit: Int = .max
    ) throws(SystemError) -> [String] {
        let directory = OpenDirectory(OpenFile(owning: try openFile(folder)))
        let reader = try DirectoryReader(directory)
        var names: [String] = []
        while names.count < limit, let name = try reader.next() {
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names
    }

    /// Writes a file as a whole: it appears, or replaces an earlier one, with all bytes on the disk.
    /// A power failure may still bring back the earlier file.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - bytes: its content.
    ///   - permissions: as for `createFile`. By default only the owner may access the file.
    ///   - replaces: whether a file with the name is replaced; `EEXIST` otherwise.
    ///   - flushesDisk: as for `synchronize`.
    package static func storeFile(
        _ path: String, _ bytes: [UInt8], permissions: UInt16 = 0o600, replaces: Bool = true,
        flushesDisk: Bool = true
    ) throws(SystemError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? ""
        let number = UInt64.random(in: 0...UInt64.max)
        let name = "\(folder)\(unfinishedPrefix)\(String(number, radix: 36))"
        let file = OpenFile(owning: try createFile(name, permissions: permissions))
        do throws(SystemError) {
            try file.write(bytes)
            try synchronize(file.descriptor, flushesDisk: flushesDisk)
            try moveFile(name, to: path, replaces: replaces)
        } catch {
            removeFile(name)
            throw error
        }
    }

    /// The first characters of the names of files that `storeFile` has not finished.
    package static let unfinishedPrefix = ".new-"

    /// Sets the times of a file to now. No effect if the system refuses it.
    package static func touch(_ path: String) {
        guard !path.utf8.contains(0) else { return }
        _ = unsafe utimensat(AT_FDCWD, path, nil, 0)
    }

    /// Removes a file whose content must not come back. A file that cannot be removed is emptied.
    /// - Returns: whether the file is gone.
    package static func discardFile(_ path: String) -> Bool {
        do throws(SystemError) {
            try deleteFile(path)
            return true
        } catch {
            if error.isNoSuchFile { return true }
            guard !path.utf8.contains(0) else { return false }
            let flags = O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            let descriptor = unsafe open(path, flags)
            if descriptor >= 0 { close(descriptor) }
            return false
        }
    }

    /// Removes a file.
    package static func deleteFile(_ path: String) throws(SystemError) {
        try check(path)
        guard unsafe unlink(path) == 0 else { throw SystemError("unlink") }
    }

    /// Refuses a path with NUL in it, which would name another file.
    static func check(_ path: String) throws(SystemError) {
        guard !path.utf8.contains(0) else { throw SystemError("open", code: EINVAL) }
    }
}

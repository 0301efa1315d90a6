internal import CHTTPServerShims

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Calls on names in an open directory. None of them follows a link at that name.
package struct OpenDirectory: Sendable {
    package let file: OpenFile

    package init(_ file: OpenFile) {
        self.file = file
    }

    /// How a rename treats the entry that has the new name.
    package enum Renaming: CInt, Sendable {
        /// The entry is replaced in one step.
        case replacing = 0
        /// The rename fails with `EEXIST`.
        case creating = 1
        /// The two entries exchange their names.
        case exchanging = 2
    }

    /// The attributes of a name, or of the directory itself if the name is empty.
    package func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
        var raw = http_server_file_status()
        let result = unsafe with(name) { unsafe http_server_status(file.descriptor, $0, &raw) }
        guard result == 0 else { throw SystemError("stat") }
        return FileStatus(raw)
    }

    /// The attributes of a name; `nil` if nothing has this name.
    package func statusIfThere(of name: [UInt8]) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            return try status(of: name)
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// Whether names here are the same if only their case differs.
    package var ignoresCase: Bool { http_server_ignores_case(file.descriptor) != 0 }

    /// Opens a file for reading.
    package func open(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        try open(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
    }

    /// Opens a directory.
    package func directory(_ name: [UInt8]) throws(SystemError) -> OpenDirectory {
        OpenDirectory(try open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
    }

    /// The directory that contains this one.
    package func parent() throws(SystemError) -> OpenDirectory {
        OpenDirectory(try open(Array("..".utf8), O_RDONLY | O_DIRECTORY))
    }

    /// Creates a file and opens it for writing; `EEXIST` if the name is taken.
    /// - Parameter permissions: its permissions; the process's mask takes some away.
    package func create(
        _ name: [UInt8], _ permissions: UInt16 = 0o666
    ) throws(SystemError) -> OpenFile {
        try open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, permissions)
    }

    /// Opens an existing file; writes append to it.
    package func openForAppending(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        try open(name, O_RDWR | O_APPEND | O_NONBLOCK | O_NOFOLLOW)
    }

    private func open(
        _ name: [UInt8], _ flags: CInt, _ permissions: UInt16 = 0
    ) throws(SystemError) -> OpenFile {
        let opened = unsafe with(name) { name in
            unsafe openat(file.descriptor, name, flags | O_CLOEXEC, mode_t(permissions))
        }
        guard opened >= 0 else { throw SystemError("open") }
        return OpenFile(owning: opened)
    }

    /// Makes a directory.
    package func makeDirectory(_ name: [UInt8], _ permissions: UInt16 = 0o777) throws(SystemError) {
        let result = unsafe with(name) { name in
            unsafe mkdirat(file.descriptor, name, mode_t(permissions))
        }
        guard result == 0 else { throw SystemError("mkdir") }
    }

    /// Removes an empty directory, or any other entry.
    package func remove(_ name: [UInt8], isDirectory: Bool) throws(SystemError) {
        let result = unsafe with(name) { name in
            unsafe unlinkat(file.descriptor, name, isDirectory ? CInt(AT_REMOVEDIR) : 0)
        }
        guard result == 0 else { throw SystemError("unlink") }
    }

    /// Gives a file or directory another name.
    package func rename(
        _ name: [UInt8], to place: FilePlace, _ renaming: Renaming
    ) throws(SystemError) {
        let result = unsafe with(name) { old in
            unsafe with(place.name) { new in
                unsafe http_server_rename(
                    file.descriptor, old, place.directory.file.descriptor, new, renaming.rawValue)
            }
        }
        guard result == 0 else { throw SystemError("rename") }
    }

    /// Creates a hard link to a file.
    package func link(_ name: [UInt8], to place: FilePlace) throws(SystemError) {
        let result = unsafe with(name) { old in
            unsafe with(place.name) { new in
                unsafe linkat(file.descriptor, old, place.directory.file.descriptor, new, 0)
            }
        }
        guard result == 0 else { throw SystemError("link") }
    }

    /// The path that a symbolic link holds.
    package func linkTarget(of name: [UInt8]) throws(SystemError) -> [UInt8] {
        var target = [CChar](repeating: 0, count: 4096)
        let length = unsafe with(name) { name in
            unsafe readlinkat(file.descriptor, name, &target, 4096)
        }
        guard length > 0 else { throw SystemError("readlink") }
        // A longer path is cut off, without an error.
        guard length < 4096 else { throw SystemError("readlink", code: ENAMETOOLONG) }
        return target[..<length].map { UInt8(bitPattern: $0) }
    }

    /// Creates a symbolic link at `place` that holds the same path as the link named `name`.
    package func copyLink(_ name: [UInt8], to place: FilePlace) throws(SystemError) {
        let target = try linkTarget(of: name)
        let result = unsafe with(target) { target in
            unsafe with(place.name) { name in
                unsafe symlinkat(target, place.directory.file.descriptor, name)
            }
        }
        guard result == 0 else { throw SystemError("symlink") }
    }

    package func with<Result>(
        _ name: [UInt8], _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        // Names come from paths and directories, which hold no NUL; a NUL would end the name early.
        unsafe name.withTerminated(body)
    }
}

extension FileStatus {
    init(_ raw: http_server_file_status) {
        switch mode_t(raw.mode) & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        default: kind = .other
        }
        isLink = mode_t(raw.mode) & S_IFMT == S_IFLNK
        permissions = UInt16(truncatingIfNeeded: raw.mode & 0o7777)
        size = raw.size
        device = UInt64(raw.device_major) << 32 | UInt64(raw.device_minor)
        inode = raw.inode
        mount = raw.mount
        modifiedSeconds = raw.modified_seconds
        modifiedNanoseconds = Self.nanoseconds(raw.modified_nanoseconds)
        changedSeconds = raw.changed_seconds
        changedNanoseconds = Self.nanoseconds(raw.changed_nanoseconds)
        (bornSeconds, bornNanoseconds) = (raw.born_seconds, Self.nanoseconds(raw.born_nanoseconds))
    }

    /// Whether a rename between the two works. One volume may have several mounts, between which no
    /// rename works.
    package func isOnVolume(of other: FileStatus) -> Bool {
        device == other.device && mount == other.mount
    }

    /// Whether both describe the same file.
    package func isSameFile(as other: FileStatus) -> Bool {
        inode == other.inode && device == other.device
    }
}

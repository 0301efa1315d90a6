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

    /// How a name is given to what has another one.
    package enum Renaming: CInt, Sendable {
        /// An existing file of that name is replaced in one step.
        case replacing = 0
        /// `EEXIST` when something has the name.
        case creating = 1
        /// Both change their names.
        case exchanging = 2
    }

    /// The attributes of a name, or of the directory itself if the name is empty.
    package func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
        var raw = http_server_file_status()
        let result = unsafe with(name) { unsafe http_server_status(file.descriptor, $0, &raw) }
        guard result == 0 else { throw SystemError("stat") }
        return FileStatus(raw)
    }

    /// The same; `nil` where nothing has that name.
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

    /// The directory that this one is in.
    package func parent() throws(SystemError) -> OpenDirectory {
        OpenDirectory(try open(Array("..".utf8), O_RDONLY | O_DIRECTORY))
    }

    /// Makes a file that was not there, and opens it for writing.
    package func create(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        try open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    }

    /// Opens a file that is there; what is written to it comes behind what it has.
    package func openForAppending(_ name: [UInt8]) throws(SystemError) -> OpenFile {
        try open(name, O_RDWR | O_APPEND | O_NONBLOCK | O_NOFOLLOW)
    }

    private func open(_ name: [UInt8], _ flags: CInt) throws(SystemError) -> OpenFile {
        let opened = unsafe with(name) { name in
            unsafe openat(file.descriptor, name, flags | O_CLOEXEC, 0o666)
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

    /// Removes a name: that of an empty directory, or of anything else.
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

    /// Gives a file one more name on its volume.
    package func link(_ name: [UInt8], to place: FilePlace) throws(SystemError) {
        let result = unsafe with(name) { old in
            unsafe with(place.name) { new in
                unsafe linkat(file.descriptor, old, place.directory.file.descriptor, new, 0)
            }
        }
        guard result == 0 else { throw SystemError("link") }
    }

    /// Where a link leads, as it says.
    package func linkTarget(of name: [UInt8]) throws(SystemError) -> [UInt8] {
        var target = [CChar](repeating: 0, count: 4096)
        let length = unsafe with(name) { name in
            unsafe readlinkat(file.descriptor, name, &target, 4096)
        }
        guard length > 0, length < 4096 else { throw SystemError("readlink") }
        return target[..<length].map { UInt8(bitPattern: $0) }
    }

    /// Makes a link here that leads where another one does.
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
        // Names come out of paths and directories, where NUL has no place; one would end the name.
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
        (modifiedSeconds, modifiedNanoseconds) = (raw.modified_seconds, raw.modified_nanoseconds)
        (changedSeconds, changedNanoseconds) = (raw.changed_seconds, raw.changed_nanoseconds)
        (bornSeconds, bornNanoseconds) = (raw.born_seconds, raw.born_nanoseconds)
    }

    /// Whether a name can be moved between the two places: one volume may be mounted at several.
    package func isOnVolume(of other: FileStatus) -> Bool {
        device == other.device && mount == other.mount
    }

    /// Whether both are of one file.
    package func isSameFile(as other: FileStatus) -> Bool {
        inode == other.inode && device == other.device
    }
}

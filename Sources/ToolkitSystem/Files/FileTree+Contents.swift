internal import CHTTPServerShims
internal import HTTPParser

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The content and attributes of an open file.
extension OpenFile {
    /// The status of the file.
    package func status() throws(SystemError) -> FileStatus {
        try OpenDirectory(self).status(of: [])
    }

    /// Fills this empty file with the content of another, sharing blocks where that is possible.
    /// - Parameters:
    ///   - other: the file to copy.
    ///   - size: the expected number of bytes; all content is copied.
    package func copyContent(of other: OpenFile, size: Int64) throws(SystemError) {
        guard http_server_copy_content(other.descriptor, descriptor, size) == 0 else {
            throw SystemError("copy")
        }
    }

    /// Writes all bytes at the file's current position.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        let region = unsafe bytes.span.withUnsafeBytes { unsafe $0 }
        try unsafe Syscalls.write(descriptor, region)
    }

    /// Writes all bytes from an offset on.
    package func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        let region = unsafe bytes.span.withUnsafeBytes { unsafe $0 }
        try unsafe write(region, at: offset)
    }

    /// Writes all bytes from an offset on.
    package func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe pwrite(
                descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
            if count > 0 {
                written += count
            } else if count == 0 || lastError != EINTR {
                throw SystemError("write", code: count == 0 ? EIO : lastError)
            }
        }
    }

    /// All bytes of the file.
    /// - Parameter limit: the most bytes; above it `EFBIG` is thrown.
    package func content(upTo limit: Int) throws(SystemError) -> [UInt8] {
        try Syscalls.content(of: descriptor, upTo: limit)
    }

    /// Bytes from an offset on, fewer at the end of the file.
    package func content(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
        defer { withExtendedLifetime(self) {} }
        return try Syscalls.content(of: descriptor, at: offset, count: count)
    }

    /// Reads bytes from an offset on until the buffer is full or the file ends.
    /// - Returns: how many bytes were read.
    package func read(
        at offset: Int64, into room: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        defer { withExtendedLifetime(self) {} }
        return try unsafe Syscalls.fill(room, from: descriptor, at: offset)
    }

    /// Waits until the file, or the names in the directory, are on the disk, with all attributes.
    package func synchronize() throws(SystemError) {
        defer { withExtendedLifetime(self) {} }
        try Syscalls.synchronize(descriptor)
    }

    /// Sets the permissions of the file.
    package func setPermissions(_ permissions: UInt16) throws(SystemError) {
        try Syscalls.setPermissions(descriptor, permissions)
    }

    /// Sets the permissions of the file, unless its file system has none.
    package func setPermissionsIfPossible(_ permissions: UInt16) {
        _ = fchmod(descriptor, mode_t(permissions))
    }

    /// Sets the time of the last modification.
    package func setModified(_ seconds: Int64, nanoseconds: Int64 = 0) throws(SystemError) {
        guard http_server_set_modified(descriptor, seconds, nanoseconds) == 0 else {
            throw SystemError("utimens")
        }
    }

    /// The value of an extended attribute; `nil` without one.
    /// - Parameter limit: the most bytes; above it `ERANGE` is thrown.
    /// - Throws: an error that `isUnsupported` if the file system has no attributes.
    package func attribute(_ name: String, upTo limit: Int) throws(SystemError) -> [UInt8]? {
        try unsafe Self.attribute(upTo: limit) { room, count in
            unsafe http_server_attribute(descriptor, name, room, count)
        }
    }

    /// Reads into the stack first, because most files have no attribute or a short one.
    fileprivate static func attribute(
        upTo limit: Int, isForbiddenNone: Bool = true,
        _ read: (UnsafeMutableRawPointer?, Int) -> Int
    ) throws(SystemError) -> [UInt8]? {
        var value: [UInt8] = []
        var count = unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { room in
            let count = unsafe read(room.baseAddress, room.count)
            if count > 0 { unsafe value = Array(room[..<count]) }
            return count
        }
        if count < 0, lastError == ERANGE {
            unsafe value = [UInt8](unsafeUninitializedCapacity: limit) { room, filled in
                count = unsafe read(UnsafeMutableRawPointer(room.baseAddress), room.count)
                filled = max(count, 0)
            }
        }
        if count >= 0 { return value }
        let error = SystemError("getxattr")
        if error.isNoAttribute { return nil }
        if isForbiddenNone, error.isForbidden { return nil }
        throw error
    }

    /// Sets an extended attribute in one step.
    package func setAttribute(_ name: String, _ value: [UInt8]) throws(SystemError) {
        guard unsafe http_server_set_attribute(descriptor, name, value, value.count) == 0 else {
            throw SystemError("setxattr")
        }
    }

    /// Removes an extended attribute if it exists.
    package func removeAttribute(_ name: String) throws(SystemError) {
        guard unsafe http_server_remove_attribute(descriptor, name) != 0 else { return }
        let error = SystemError("removexattr")
        guard error.isNoAttribute || error.isUnsupported else { throw error }
    }

    /// Locks the file with flock(2) until it is closed.
    /// - Returns: `false` if the file is locked elsewhere, or cannot be locked.
    package func hold() -> Bool { http_server_hold(descriptor) == 0 }

    /// Locks the file as `hold()` does, if its file system has locks.
    /// - Returns: `false` if the file is locked elsewhere.
    package func holdIfPossible() -> Bool { hold() || lastError != EWOULDBLOCK }

    /// Unlocks the file before it is closed. A forked child process shares the descriptor until it
    /// runs its program, and would keep the lock until then.
    package func release() {
        // A file system without locks has nothing to unlock.
        _ = flock(descriptor, LOCK_UN)
    }

    /// Sets the length of the file.
    package func truncate(to length: Int64) throws(SystemError) {
        try Syscalls.truncate(descriptor, to: length)
    }

    /// Throws the error that a remote file system reports only when a file is closed, such as a
    /// full disk. The file stays open. Without a free descriptor nothing is checked.
    package func checkClosing() throws(SystemError) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        guard close(copy) == 0 || lastError == EINTR else { throw SystemError("close") }
    }
}

extension OpenDirectory {
    /// The value of an extended attribute of a file or directory, not of a link; `nil` without one.
    /// - Parameters:
    ///   - attribute: the name of the attribute.
    ///   - name: the name of the file or directory.
    ///   - limit: the most bytes; above it `ERANGE` is thrown.
    ///   - isForbiddenNone: whether an attribute that must not be read is `nil`, not an error.
    ///   - byOpening: whether the file is opened even if the system needs no descriptor.
    package func attribute(
        _ attribute: String, of name: [UInt8], upTo limit: Int, isForbiddenNone: Bool = true,
        byOpening: Bool = false
    ) throws(SystemError) -> [UInt8]? {
        try unsafe OpenFile.attribute(upTo: limit, isForbiddenNone: isForbiddenNone) {
            room, count in
            unsafe with(name) { name in
                byOpening
                    ? unsafe http_server_attribute_of_opened(
                        file.descriptor, name, attribute, room, count)
                    : unsafe http_server_attribute_at(
                        file.descriptor, name, attribute, room, count)
            }
        }
    }
}

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
#if os(Linux)
    internal import CHTTPServerShims
#endif

/// The file by which clients find a Unix socket.
package struct UnixSocketFile: Hashable, Sendable {
    package let path: String
    /// The mode of the file, as in chmod(2); `nil` for the mode that the umask leaves.
    package let permissions: UInt16?
    private let device: UInt64
    private let inode: UInt64

    /// Listens at a path. A socket file without a listener is replaced.
    ///
    /// Any user who may read the folder can hold its lock. A free path is then bound without the
    /// lock, but a socket file that is in the way is not replaced.
    /// - Returns: the descriptor and the file.
    static func listen(
        at path: String, permissions: UInt16?, backlog: Int
    ) throws(SystemError) -> (CInt, UnixSocketFile) {
        var address = RawSocketAddress()
        guard address.setUnixPath(path) else { throw SystemError("bind", code: ENAMETOOLONG) }
        // Between bind and listen a socket looks as if its listener were gone. Another server that
        // starts at this moment must not remove it.
        let lock = lockFolder(of: path)
        defer { if case .held(let descriptor) = lock { Syscalls.close(descriptor) } }
        let descriptor: CInt
        do throws(SystemError) {
            descriptor = try open(&address, permissions, backlog)
        } catch {
            guard error.code == EADDRINUSE, ListeningSocket.isSocket(path),
                ListeningSocket.isStale(&address)
            else { throw error }
            if case .heldElsewhere = lock { throw SystemError.heldElsewhere("flock") }
            Syscalls.removeFile(path)
            descriptor = try open(&address, permissions, backlog)
        }
        do throws(SystemError) {
            return (descriptor, try UnixSocketFile(path, permissions))
        } catch {
            Syscalls.removeFile(path)
            Syscalls.close(descriptor)
            throw error
        }
    }

    private static func open(
        _ address: inout RawSocketAddress, _ permissions: UInt16?, _ backlog: Int
    ) throws(SystemError) -> CInt {
        try ListeningSocket.open(&address, backlog: backlog) { descriptor in
            // On Linux the file gets the mode of the socket, so it never admits more clients.
            if let permissions { _ = fchmod(descriptor, mode_t(permissions)) }
        }
    }

    /// Describes the new socket file, and sets its permissions regardless of the umask.
    private init(_ path: String, _ permissions: UInt16?) throws(SystemError) {
        guard var status = Self.status(path) else { throw SystemError("stat") }
        if let permissions, status.st_mode & 0o777 != mode_t(permissions) {
            // A link that has taken the file's place is not followed.
            let flags = AT_SYMLINK_NOFOLLOW
            guard unsafe fchmodat(AT_FDCWD, path, mode_t(permissions), flags) == 0 else {
                throw SystemError("chmod")
            }
            guard let changed = Self.status(path) else { throw SystemError("stat") }
            status = changed
        }
        (self.path, self.permissions) = (path, permissions)
        (device, inode) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status : nil
    }

    /// Removes the file, unless another file has taken its place.
    func remove() {
        guard let status = Self.status(path), UInt64(status.st_ino) == inode,
            UInt64(truncatingIfNeeded: status.st_dev) == device
        else { return }
        Syscalls.removeFile(path)
    }

    // MARK: One at a time

    /// How often the lock is tried, ten milliseconds apart.
    private static let attempts = 200

    private enum FolderLock {
        /// Held by this descriptor.
        case held(CInt)
        case heldElsewhere
        /// The folder cannot be read, or the file system has no locks.
        case unavailable
    }

    private static func lockFolder(of path: String) -> FolderLock {
        let end = path.utf8.lastIndex(of: 0x2F)
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = systemOpen(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return .unavailable }
        for _ in 0..<attempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return .held(descriptor) }
            let code = errno
            guard code == EWOULDBLOCK || code == EINTR else {
                Syscalls.close(descriptor)
                return .unavailable
            }
            usleep(10_000)
        }
        Syscalls.close(descriptor)
        return .heldElsewhere
    }
}

private func systemOpen(_ path: String, _ flags: CInt) -> CInt { unsafe open(path, flags) }

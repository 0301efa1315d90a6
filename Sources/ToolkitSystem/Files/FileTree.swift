internal import CHTTPServerShims

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Creates, moves and removes files below a directory. No path leads out of the directory.
///
/// Paths are segments joined by slashes, without a leading slash, and empty for the root; no
/// segment is `.` or `..`. Calls block.
package final class FileTree: Sendable {
    private let root: RootDirectory
    /// Whether everything on the root's mount is on one volume.
    private let mountIsVolume: Bool
    let followsLinks: Bool

    /// - Parameters:
    ///   - path: the path of the directory.
    ///   - followsLinks: whether symbolic links that stay inside are followed, on systems that can
    ///     check it.
    package init(_ path: String, followsLinks: Bool = true) throws(SystemError) {
        self.followsLinks = followsLinks
        root = try RootDirectory(path, followsLinks: followsLinks)
        mountIsVolume = http_server_is_one_volume(root.descriptor) != 0
    }

    /// Whether the root is on a local file system, which waits only for its disk.
    package var isLocal: Bool { http_server_is_local(root.descriptor) != 0 }

    /// Whether an open file or directory is on a local file system.
    package static func isLocal(_ file: OpenFile) -> Bool {
        http_server_is_local(file.descriptor) != 0
    }

    /// Opens a file or directory for reading.
    package func open(_ path: [UInt8]) throws(SystemError) -> OpenFile {
        try open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    }

    /// Opens a directory, to work with the names in it.
    package func directory(_ path: [UInt8]) throws(SystemError) -> OpenDirectory {
        OpenDirectory(try open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// The directory that contains a path, and the name in it. Links are not followed: callers that
    /// change something have resolved the path by `realPath`.
    package func place(of path: [UInt8]) throws(SystemError) -> FilePlace {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else {
            return FilePlace(
                directory: try directory([]), name: path, isOnRootVolume: mountIsVolume)
        }
        let (outer, name) = (Array(path[..<slash]), Array(path[(slash + 1)...]))
        // Usually the directory is on the root's mount, so its volume need not be checked.
        if mountIsVolume, let directory = directoryOnRootMount(outer) {
            return FilePlace(directory: directory, name: name, isOnRootVolume: true)
        }
        let directory = OpenDirectory(
            try open(outer, O_RDONLY | O_DIRECTORY | O_CLOEXEC, followsLinks: false))
        return FilePlace(directory: directory, name: name)
    }

    private func directoryOnRootMount(_ path: [UInt8]) -> OpenDirectory? {
        #if os(Linux)
            guard !path.contains(0) else { return nil }
            let opened = unsafe path.withTerminated { unsafe root.openOnOwnMount($0) }
            return opened.map { OpenDirectory(OpenFile(owning: $0)) }
        #else
            return nil
        #endif
    }

    /// The attributes of a path; links that lead inside are followed.
    package func status(of path: [UInt8]) throws(SystemError) -> FileStatus {
        return try OpenDirectory(try open(path, http_server_look_flags())).status(of: [])
    }

    /// The attributes of a path without waiting for the disk, so that an event loop may call it.
    /// - Returns: `nil` if the attributes are not cached, or the system cannot do this.
    package func statusIfCached(of path: [UInt8]) throws(SystemError) -> FileStatus? {
        #if os(Linux)
            guard !path.contains(0) else { throw SystemError("open", code: EINVAL) }
            let opened: Result<CInt?, SystemError> = unsafe path.withTerminated { start in
                do throws(SystemError) {
                    return .success(try unsafe root.openCached(start))
                } catch {
                    return .failure(error)
                }
            }
            guard let file = try opened.get() else { return nil }
            return try OpenDirectory(OpenFile(owning: file)).status(of: [])
        #else
            return nil
        #endif
    }

    /// Whether an existing path contains no link, at its end or before.
    package func isReal(_ path: [UInt8]) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try open(path, http_server_look_flags(), followsLinks: false)
            return true
        } catch {
            guard error.isLink else { throw error }
            return false
        }
    }

    private func open(
        _ path: [UInt8], _ flags: CInt, followsLinks: Bool = true
    ) throws(SystemError) -> OpenFile {
        guard !path.contains(0) else { throw SystemError("open", code: EINVAL) }
        let opened: Result<CInt, SystemError> = unsafe path.withTerminated { start in
            do throws(SystemError) {
                return .success(
                    try unsafe root.openFile(start, flags, followsLinks: followsLinks))
            } catch {
                return .failure(error)
            }
        }
        return OpenFile(owning: try opened.get())
    }

    /// The bytes that the volume of an open file has available for this process, and those in use.
    package static func space(
        of file: OpenFile
    ) throws(SystemError) -> (available: Int64, used: Int64) {
        var volume = statvfs()
        guard unsafe fstatvfs(file.descriptor, &volume) == 0 else { throw SystemError("statvfs") }
        return space(
            block: UInt64(volume.f_frsize), all: UInt64(volume.f_blocks),
            free: UInt64(volume.f_bfree), available: UInt64(volume.f_bavail))
    }

    /// Volumes of other machines and programs report arbitrary numbers.
    package static func space(
        block: UInt64, all: UInt64, free: UInt64, available: UInt64
    ) -> (available: Int64, used: Int64) {
        func bytes(_ blocks: UInt64) -> Int64 {
            let (product, isTooMany) = blocks.multipliedReportingOverflow(by: block)
            return isTooMany ? .max : Int64(clamping: product)
        }
        return (bytes(available), bytes(all > free ? all - free : 0))
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes and a NUL after them, as system calls need names. Short names,
    /// which most are, need no allocation.
    package func withTerminated<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(byteCount: count + 1, alignment: 1) { room in
            unsafe withUnsafeBytes { unsafe room.copyMemory(from: $0) }
            unsafe room[count] = 0
            guard let start = room.baseAddress else { preconditionFailure("it has a byte") }
            return unsafe body(start.assumingMemoryBound(to: CChar.self))
        }
    }
}

/// A name in an open directory.
package struct FilePlace: Sendable {
    package let directory: OpenDirectory
    package let name: [UInt8]
    /// Whether the directory is known to be on the volume and the mount of the root of its tree.
    package let isOnRootVolume: Bool

    package init(directory: OpenDirectory, name: [UInt8], isOnRootVolume: Bool = false) {
        (self.directory, self.name, self.isOnRootVolume) = (directory, name, isOnRootVolume)
    }
}

extension SystemError {
    /// The error for an operation that is not allowed.
    package static func forbidden(_ call: String) -> SystemError {
        SystemError(call, code: EPERM)
    }
    /// The error for a new name that another file has.
    package static func taken(_ call: String) -> SystemError {
        SystemError(call, code: EEXIST)
    }
    /// The error for a file that would become longer than allowed.
    package static func tooLarge(_ call: String) -> SystemError {
        SystemError(call, code: EFBIG)
    }
    /// The error for a file or an argument that the call cannot use.
    package static func invalid(_ call: String) -> SystemError {
        SystemError(call, code: EINVAL)
    }
    /// The error for a file that another process, or another part of this one, has locked.
    package static func heldElsewhere(_ call: String) -> SystemError {
        SystemError(call, code: EWOULDBLOCK)
    }
    /// Whether the file is locked elsewhere.
    package var isHeldElsewhere: Bool { code == EWOULDBLOCK }
    /// Whether a link is in the way.
    package var isLink: Bool { code == ELOOP }
    /// Whether there is no such file, and nothing else is wrong with the path.
    package var isNoSuchFile: Bool { code == ENOENT }
    package var isMissing: Bool {
        code == ENOENT || code == ENOTDIR || code == EXDEV || code == ELOOP
    }
    package var isTaken: Bool { code == EEXIST || code == ENOTEMPTY }
    package var isForbidden: Bool { code == EACCES || code == EPERM || code == EROFS }
    /// Whether the system itself uses the file, for example a directory with a mount on it.
    package var isBusy: Bool { code == EBUSY }
    package var isNameTooLong: Bool { code == ENAMETOOLONG }
    /// Whether the old and the new name are on different file systems.
    package var isAcrossVolumes: Bool { code == EXDEV }
    /// Whether the kernel or the file system does not know the call.
    package var isUnsupported: Bool {
        code == ENOSYS || code == EINVAL || code == ENOTSUP || code == EOPNOTSUPP
    }
    /// Whether the file system cannot flush the cache of the disk (F_FULLFSYNC).
    package var lacksFullSynchronization: Bool {
        isUnsupported || code == ENOTTY || code == ENODEV
    }
    /// Whether the process or the system has no descriptors or memory left for now.
    package var isExhausted: Bool { lacksDescriptors || code == ENOMEM }
    /// Whether the process or the system has no descriptors left for now.
    package var lacksDescriptors: Bool { code == EMFILE || code == ENFILE }
    /// Whether the same call may succeed later. The error does not mean that a file is missing.
    package var isTemporary: Bool {
        isExhausted || code == EIO || code == EAGAIN || code == EINTR || code == ESTALE
            || code == ETIMEDOUT || code == ENOTCONN
    }
    /// Whether an extended attribute does not fit.
    package var isAttributeTooLarge: Bool { code == ENOSPC || code == E2BIG || code == ERANGE }
    /// Whether there is no such extended attribute.
    package var isNoAttribute: Bool {
        #if canImport(Darwin)
            code == ENOATTR
        #else
            code == ENODATA
        #endif
    }
}

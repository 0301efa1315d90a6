internal import CHTTPServerShims

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A directory below which files are made, moved and removed, and out of which no path leads.
///
/// Paths are segments joined by slashes, without any at the front, and empty for the root; no
/// segment is `.` or `..`. Calls block.
package final class FileTree: Sendable {
    private let root: RootDirectory
    /// Whether what is on the root's mount is on its volume.
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

    /// Whether the root is on a local file system, which waits for its disk only.
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

    /// The directory that contains a path, and its name there. No link leads there: callers that
    /// change something have resolved the path by `realPath`.
    package func place(of path: [UInt8]) throws(SystemError) -> FilePlace {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else {
            return FilePlace(
                directory: try directory([]), name: path, isOnRootVolume: mountIsVolume)
        }
        let (outer, name) = (Array(path[..<slash]), Array(path[(slash + 1)...]))
        // Usually that is the root's, which needs no call.
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

    /// The same without waiting for the disk, so that an event loop may ask.
    /// - Returns: `nil` if the attributes are not cached, or the system cannot say.
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

    /// Whether a path leads to something without any link, at its end or before.
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

    /// How many bytes the volume of an open file has free for us, and how many are in use.
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
    /// Lends the bytes with NUL behind them, as the system wants names; short ones, as they mostly
    /// are, without room of their own in memory.
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
    /// An error by which something is not allowed.
    package static func forbidden(_ call: String) -> SystemError {
        SystemError(call, code: EPERM)
    }
    /// The new name is another file's.
    package static func taken(_ call: String) -> SystemError {
        SystemError(call, code: EEXIST)
    }
    /// A file would become longer than it may.
    package static func tooLarge(_ call: String) -> SystemError {
        SystemError(call, code: EFBIG)
    }
    /// Another process, or another part of this one, holds a file.
    package static func heldElsewhere(_ call: String) -> SystemError {
        SystemError(call, code: EWOULDBLOCK)
    }
    /// Whether another one holds the file.
    package var isHeldElsewhere: Bool { code == EWOULDBLOCK }
    /// Whether a link is in the way.
    package var isLink: Bool { code == ELOOP }
    package var isMissing: Bool {
        code == ENOENT || code == ENOTDIR || code == EXDEV || code == ELOOP
    }
    package var isTaken: Bool { code == EEXIST || code == ENOTEMPTY }
    package var isForbidden: Bool { code == EACCES || code == EPERM || code == EROFS }
    /// Whether the system itself needs it, as a directory on which something is mounted.
    package var isBusy: Bool { code == EBUSY }
    package var isNameTooLong: Bool { code == ENAMETOOLONG }
    /// Whether old and new name are not on one file system.
    package var isAcrossVolumes: Bool { code == EXDEV }
    /// Whether the kernel or the file system does not know the call.
    package var isUnsupported: Bool {
        code == ENOSYS || code == EINVAL || code == ENOTSUP || code == EOPNOTSUPP
    }
    /// Whether the file system has no call that empties the memory of the disk (F_FULLFSYNC).
    package var lacksFullSynchronization: Bool {
        isUnsupported || code == ENOTTY || code == ENODEV
    }
    /// Whether the process or the system has no descriptors or memory left for now.
    package var isExhausted: Bool { code == EMFILE || code == ENFILE || code == ENOMEM }
    /// Whether the same call may succeed later: it says nothing of what is there.
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

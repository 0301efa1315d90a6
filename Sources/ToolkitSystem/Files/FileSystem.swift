internal import Synchronization

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

/// The attributes of an open file.
package struct FileStatus: Sendable {
    package enum Kind: Sendable { case regular, directory, other }

    package var kind: Kind
    package var size: Int64
    package var device: UInt64
    package var inode: UInt64
    /// The mount by which the file was reached; 0 if the system does not report it.
    package var mount: UInt64 = 0
    package var modifiedSeconds: Int64
    package var modifiedNanoseconds: Int64
    package var changedSeconds: Int64
    package var changedNanoseconds: Int64
    /// When the file was created; 0 if the system does not report it.
    package var bornSeconds: Int64 = 0
    package var bornNanoseconds: Int64 = 0
    /// The permissions, as in the usual octal digits.
    package var permissions: UInt16
    /// Whether it is a symbolic link; always `false` if the call followed links.
    package var isLink: Bool

    init(_ raw: stat) {
        permissions = UInt16(truncatingIfNeeded: raw.st_mode & 0o7777)
        isLink = raw.st_mode & S_IFMT == S_IFLNK
        switch raw.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        default: kind = .other
        }
        size = Int64(raw.st_size)
        device = UInt64(truncatingIfNeeded: raw.st_dev)
        inode = UInt64(raw.st_ino)
        #if canImport(Darwin)
            let (modified, changed) = (raw.st_mtimespec, raw.st_ctimespec)
            bornSeconds = Int64(raw.st_birthtimespec.tv_sec)
            bornNanoseconds = Int64(raw.st_birthtimespec.tv_nsec)
        #else
            let (modified, changed) = (raw.st_mtim, raw.st_ctim)
        #endif
        modifiedSeconds = Int64(modified.tv_sec)
        modifiedNanoseconds = Self.nanoseconds(Int64(modified.tv_nsec))
        changedSeconds = Int64(changed.tv_sec)
        changedNanoseconds = Self.nanoseconds(Int64(changed.tv_nsec))
    }

    /// Limits nanoseconds to 0..<10^9, because volumes of other machines may report any number.
    static func nanoseconds(_ number: Int64) -> Int64 { min(max(number, 0), 999_999_999) }
}

/// Opens files below a directory. No path leads out of the directory.
///
/// Every step of a path starts from a descriptor, so replacing a directory by a link during the
/// walk does not lead out. Symbolic links are followed if they stay inside.
package final class RootDirectory: Sendable {
    package let descriptor: CInt
    /// Whether files are opened segment by segment, without following links.
    private let opensStepwise: Atomic<Bool>

    /// - Parameters:
    ///   - path: the path of the directory.
    ///   - followsLinks: whether links that stay inside are followed, on systems that can check it.
    /// - Throws: if the directory cannot be opened.
    package init(_ path: String, followsLinks: Bool = true) throws(SystemError) {
        opensStepwise = Atomic(!followsLinks)
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open") }
    }

    deinit {
        Syscalls.close(descriptor)
    }

    /// Opens a file or directory for reading. A pipe or device does not make the call wait.
    /// - Parameter path: segments joined by slashes, without a leading slash, ending with NUL;
    ///   without `..` segments. An empty path, or `.`, is the root itself.
    package func openFile(_ path: UnsafePointer<CChar>) throws(SystemError) -> CInt {
        try unsafe openFile(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    }

    /// Opens a file or directory with flags of `open`, without O_CREAT.
    /// - Parameter followsLinks: whether links that stay inside are followed, if this root follows
    ///   links at all; otherwise a link is `ELOOP` or `ENOTDIR`.
    package func openFile(
        _ path: UnsafePointer<CChar>, _ flags: CInt, followsLinks: Bool = true
    ) throws(SystemError) -> CInt {
        guard unsafe strcmp(path, "") != 0, unsafe strcmp(path, ".") != 0 else {
            let root = unsafe openat(descriptor, ".", flags)
            guard root >= 0 else { throw SystemError("open") }
            return root
        }
        #if os(Linux)
            if !opensStepwise.load(ordering: .relaxed) {
                var file = unsafe openBeneath(path, flags, followsLinks)
                // EAGAIN: something was renamed while a link was followed upwards.
                for _ in 0..<8 where file < 0 && (lastError == EAGAIN || lastError == EINTR) {
                    file = unsafe openBeneath(path, flags, followsLinks)
                }
                if file >= 0 { return file }
                let code = lastError
                // EPERM comes from filters that do not know the call, but also from files.
                guard code == ENOSYS || (code == EPERM && !canOpenBeneath(flags)) else {
                    throw SystemError("open", code: code)
                }
                opensStepwise.store(true, ordering: .relaxed)
            }
        #endif
        return unsafe try openStepwise(path, flags)
    }

    #if os(Linux)
        private func openBeneath(
            _ path: UnsafePointer<CChar>, _ flags: CInt, _ followsLinks: Bool
        ) -> CInt {
            followsLinks
                ? unsafe http_server_open_beneath(descriptor, path, flags, 0)
                : unsafe http_server_open_without_links(descriptor, path, flags, 1)
        }

        /// Opens a directory without following links and without leaving the root's mount.
        /// - Parameter path: as in `openFile`.
        /// - Returns: a descriptor; `nil` if the directory cannot be opened this way.
        package func openOnOwnMount(_ path: UnsafePointer<CChar>) -> CInt? {
            guard !opensStepwise.load(ordering: .relaxed) else { return nil }
            let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
            let file = unsafe http_server_open_without_links(descriptor, path, flags, 0)
            return file >= 0 ? file : nil
        }

        /// Whether the kernel permits openat2 for the root itself.
        private func canOpenBeneath(_ flags: CInt) -> Bool {
            let root = unsafe http_server_open_beneath(descriptor, ".", flags, 0)
            guard root >= 0 else { return lastError != EPERM }
            Syscalls.close(root)
            return true
        }
    #endif

    #if os(Linux)
        /// Opens a file to read its attributes, without waiting for the disk.
        /// - Parameter path: as in `openFile`.
        /// - Returns: a descriptor; `nil` if that would need to wait, or the system cannot do it.
        package func openCached(_ path: UnsafePointer<CChar>) throws(SystemError) -> CInt? {
            guard !opensStepwise.load(ordering: .relaxed) else { return nil }
            let flags = http_server_look_flags()
            let file =
                unsafe path.pointee == 0
                ? unsafe http_server_open_cached(descriptor, ".", flags)
                : unsafe http_server_open_cached(descriptor, path, flags)
            if file >= 0 { return file }
            switch lastError {
            case EAGAIN, EINVAL, ENOSYS, EPERM, E2BIG: return nil
            default: throw SystemError("open")
            }
        }
    #endif

    /// Opens a path segment by segment and follows no links. Kernels without openat2 need it.
    package func openStepwise(
        _ path: UnsafePointer<CChar>, _ flags: CInt
    ) throws(SystemError) -> CInt {
        var current = descriptor
        defer { if current != descriptor { Syscalls.close(current) } }
        let bytes = unsafe Array(UnsafeBufferPointer(start: path, count: strlen(path)))
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        let dot = CChar(bitPattern: UInt8(ascii: "."))
        let segments = bytes.split(separator: slash)
        for (index, segment) in segments.enumerated() {
            guard segment != [dot, dot], segment != [dot] else {
                throw SystemError("open", code: EXDEV)
            }
            let isLast = index == segments.count - 1
            let step = isLast ? flags | O_NOFOLLOW : O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let next = unsafe openat(current, Array(segment) + [0], step)
            guard next >= 0 else { throw SystemError("open") }
            if isLast { return next }
            if current != descriptor { Syscalls.close(current) }
            current = next
        }
        throw SystemError("open", code: ENOENT)
    }

    /// The names in an open directory, without `.` and `..`, and their attributes. Names that lead
    /// out of the root, or to neither file nor directory, are left out.
    /// - Parameters:
    ///   - directory: a descriptor, which the caller closes.
    ///   - path: its path from the root, ending with a slash unless it is the root.
    /// - Throws: also if a link cannot be followed because descriptors or memory are short or the
    ///   disk fails: a list without the link would look complete.
    package func entries(
        of directory: CInt, path: [UInt8]
    ) throws(SystemError) -> [(name: [UInt8], status: FileStatus)] {
        let copy = unsafe openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = unsafe fdopendir(copy) else {
            if copy >= 0 { Syscalls.close(copy) }
            throw SystemError("opendir")
        }
        defer { unsafe closedir(stream) }
        var entries: [(name: [UInt8], status: FileStatus)] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe Self.name(of: entry)
            guard name != [0x2E], name != [0x2E, 0x2E] else { continue }
            if let status = try status(of: name, in: directory, path: path) {
                entries.append((name, status))
            }
        }
        guard errno == 0 else { throw SystemError("readdir") }
        return entries
    }

    static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        let start = unsafe UnsafeRawPointer(entry) + offset
        let length = unsafe strlen(start.assumingMemoryBound(to: CChar.self))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: length))
    }

    private func status(
        of name: [UInt8], in directory: CInt, path: [UInt8]
    ) throws(SystemError) -> FileStatus? {
        var raw = stat()
        let terminated = name.map(CChar.init(bitPattern:)) + [0]
        guard unsafe fstatat(directory, terminated, &raw, AT_SYMLINK_NOFOLLOW) == 0 else {
            return try Self.nothing(after: SystemError("fstatat"))
        }
        if raw.st_mode & S_IFMT == S_IFLNK {
            let full = path.map(CChar.init(bitPattern:)) + terminated
            let file: CInt
            do throws(SystemError) {
                file = unsafe try openFile(full)
            } catch {
                return try Self.nothing(after: error)
            }
            defer { Syscalls.close(file) }
            guard let status = Self.status(of: file) else {
                return try Self.nothing(after: SystemError("fstat"))
            }
            return status.kind == .other ? nil : status
        }
        let status = FileStatus(raw)
        return status.kind == .other ? nil : status
    }

    /// Returns `nil` after an error for which a list omits the name; throws a temporary error.
    private static func nothing(after error: SystemError) throws(SystemError) -> FileStatus? {
        if error.isTemporary { throw error }
        return nil
    }

    /// The status of the file at a path, which may have been reached by links that lead out: use it
    /// for comparisons only.
    package func status(at path: UnsafePointer<CChar>) -> FileStatus? {
        var raw = stat()
        guard unsafe fstatat(descriptor, path, &raw, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return FileStatus(raw)
    }

    package static func status(of file: CInt) -> FileStatus? {
        var raw = stat()
        guard unsafe fstat(file, &raw) == 0 else { return nil }
        return FileStatus(raw)
    }
}

extension SystemError {
    /// The status of the response if a requested file cannot be opened. For a path that leads out
    /// of the root it is 404, as for a missing file.
    package var fileStatus: HTTPStatusCode {
        switch code {
        case EACCES, EPERM: .forbidden
        case EMFILE, ENFILE, ENOMEM, EAGAIN: .unavailable
        case ENOENT, ENOTDIR, ELOOP, EXDEV, ENAMETOOLONG, EINVAL, ENXIO, ENODEV: .missing
        // A disk or another machine failed: the file may exist.
        default: .failure
        }
    }

    package enum HTTPStatusCode { case forbidden, missing, unavailable, failure }
}

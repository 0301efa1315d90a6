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

/// The calls that create, write, rename and remove files. They refuse a path with NUL in it, which
/// would name another file.
extension Syscalls {
    /// Creates a new file, and opens it for reading and writing.
    /// - Parameter permissions: the permissions in the usual octal digits, which the process's mask
    ///   reduces. By default only the owner may access the file.
    package static func createFile(
        _ path: String, permissions: UInt16 = 0o600
    ) throws(SystemError) -> CInt {
        try check(path)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = unsafe open(path, flags, mode_t(permissions))
        guard file >= 0 else { throw SystemError("open") }
        return file
    }

    /// Opens a file or directory for reading. A pipe or device does not make the call wait.
    package static func openFile(_ path: String) throws(SystemError) -> CInt {
        try check(path)
        let file = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw SystemError("open") }
        return file
    }

    /// The bytes of a file.
    /// - Parameter limit: the most bytes; above it `EFBIG` is thrown.
    package static func readFile(
        _ path: String, upTo limit: Int = .max
    ) throws(SystemError) -> [UInt8] {
        let file = OpenFile(owning: try openFile(path))
        guard let status = RootDirectory.status(of: file.descriptor) else {
            throw SystemError("fstat")
        }
        guard status.kind == .regular else { throw SystemError("read", code: EISDIR) }
        return try content(of: file.descriptor, upTo: limit)
    }

    /// All bytes of an open file, even if its size changes meanwhile. The call blocks.
    package static func content(of file: CInt, upTo limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try readPiece(of: file, at: Int64(bytes.count))
            guard piece.count <= limit - bytes.count else { throw SystemError("read", code: EFBIG) }
            bytes += piece
            if piece.count < pieceSize { return bytes }
        }
    }

    private static var pieceSize: Int { 256 << 10 }

    /// 256 KiB of a file; fewer at its end.
    package static func readPiece(
        of file: CInt, at offset: Int64
    ) throws(SystemError) -> [UInt8] {
        try content(of: file, at: offset, count: pieceSize)
    }

    /// Bytes of a regular file from an offset on, fewer at its end.
    package static func content(
        of file: CInt, at offset: Int64, count: Int
    ) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            let room = unsafe UnsafeMutableRawBufferPointer(
                UnsafeMutableBufferPointer(rebasing: room[..<count]))
            do throws(SystemError) {
                filled = try unsafe fill(room, from: file, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all bytes at the file's current position, with as many calls as needed.
    package static func write(
        _ file: CInt, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe systemWrite(file, rest.baseAddress, rest.count)
            if count > 0 {
                written += count
            } else if count == 0 || lastError != EINTR {
                throw SystemError("write", code: count == 0 ? EIO : lastError)
            }
        }
    }

    /// Gives a file another name on the same file system.
    /// - Parameter replaces: whether a file with the new name is replaced; `EEXIST` otherwise.
    package static func moveFile(
        _ old: String, to new: String, replaces: Bool
    ) throws(SystemError) {
        try check(old)
        try check(new)
        if replaces {
            guard unsafe rename(old, new) == 0 else { throw SystemError("rename") }
            return
        }
        #if canImport(Darwin)
            let isMoved = unsafe renamex_np(old, new, UInt32(RENAME_EXCL)) == 0
        #else
            let isMoved = unsafe http_server_rename_new(old, new) == 0
        #endif
        if isMoved { return }
        guard lastError == ENOSYS || lastError == EINVAL || lastError == ENOTSUP else {
            throw SystemError("rename")
        }
        // A hard link also fails if the new name is taken.
        guard unsafe link(old, new) == 0 else { throw SystemError("link") }
        removeFile(old)
    }

    /// Sets the permissions of a file, in the usual octal digits.
    package static func setPermissions(_ file: CInt, _ permissions: UInt16) throws(SystemError) {
        guard fchmod(file, mode_t(permissions)) == 0 else { throw SystemError("fchmod") }
    }

    /// Sets the permissions of the file at a path.
    package static func setPermissions(
        _ path: String, _ permissions: UInt16
    ) throws(SystemError) {
        try check(path)
        guard unsafe chmod(path, mode_t(permissions)) == 0 else { throw SystemError("chmod") }
    }

    /// Opens an existing file for writing at its end.
    package static func openForAppending(_ path: String) throws(SystemError) -> CInt {
        try check(path)
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let file = unsafe open(path, flags)
        guard file >= 0 else { throw SystemError("open") }
        return file
    }

    /// Opens a file to be locked, and creates it if it is missing.
    package static func openForHolding(_ path: String) throws(SystemError) -> CInt {
        try check(path)
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let file = unsafe open(path, flags, 0o600)
        guard file >= 0 else { throw SystemError("open") }
        return file
    }

    /// Sets the length of a file.
    package static func truncate(_ file: CInt, to length: Int64) throws(SystemError) {
        guard ftruncate(file, off_t(length)) == 0 else { throw SystemError("ftruncate") }
    }

    /// Waits until a file, or the names in a directory, are on the disk, with all attributes.
    /// - Parameter flushesDisk: whether a Darwin system also empties the cache of the disk, which
    ///   takes long. Data that can be fetched again does not need it.
    package static func synchronize(
        _ file: CInt, flushesDisk: Bool = true
    ) throws(SystemError) {
        #if canImport(Darwin)
            // On Darwin, fsync leaves the data in the cache of the disk (fsync(2)). Use it only if
            // the file system lacks F_FULLFSYNC; it would hide another failure of that call.
            while flushesDisk, fcntl(file, F_FULLFSYNC) != 0 {
                let error = SystemError("fsync")
                if error.code == EINTR { continue }
                guard error.lacksFullSynchronization else { throw error }
                return try synchronize(file, flushesDisk: false)
            }
            if flushesDisk { return }
        #endif
        while fsync(file) != 0 {
            guard lastError == EINTR else { throw SystemError("fsync") }
        }
    }

    /// Waits until the content and the length of a file are on the disk.
    package static func synchronizeContent(_ file: CInt) throws(SystemError) {
        #if canImport(Darwin)
            try synchronize(file)
        #else
            while fdatasync(file) != 0 {
                guard lastError == EINTR else { throw SystemError("fdatasync") }
            }
        #endif
    }

    /// Waits until the name of a file is on the disk.
    package static func synchronizeFolder(of path: String) throws(SystemError) {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[..<$0]) + "/" } ?? "."
        try OpenFile(owning: try openFile(folder)).synchronize()
    }

    /// Removes a file that may be gone already.
    package static func removeFile(_ path: String) {
        guard !path.utf8.contains(0) else { return }
        _ = unsafe unlink(path)
    }

    /// Creates a folder and its missing parents; only the owner may access new folders.
    package static func createFolders(_ path: String) throws(SystemError) {
        try check(path)
        if unsafe mkdir(path, 0o700) == 0 || lastError == EEXIST { return }
        guard lastError == ENOENT, let slash = path.utf8.lastIndex(of: 0x2F),
            slash > path.startIndex
        else { throw SystemError("mkdir") }
        try createFolders(String(path[..<slash]))
        guard unsafe mkdir(path, 0o700) == 0 || lastError == EEXIST else {
            throw SystemError("mkdir")
        }
    }

    /// Creates a folder with an unpredictable name that only its owner may access.
    /// - Parameter parent: the parent folder; `nil` for the system's folder for temporary files.
    package static func makeTemporaryFolder(
        below parent: String? = nil
    ) throws(SystemError) -> String {
        let parent = temporaryParent(parent)
        try check(parent)
        var name = Array(parent.utf8.map(CChar.init(bitPattern:)))
        name += "/\(temporaryPrefix)XXXXXX".utf8.map(CChar.init(bitPattern:)) + [0]
        let isMade = unsafe name.withUnsafeMutableBufferPointer { name in
            unsafe name.baseAddress.map { unsafe mkdtemp($0) != nil } ?? false
        }
        guard isMade else { throw SystemError("mkdtemp") }
        return String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static let temporaryPrefix = "http-upload-"

    /// The parent of temporary folders: `parent`, else the folder in TMPDIR, else /tmp.
    package static func temporaryParent(_ parent: String?) -> String {
        let system = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) }
        let path = parent ?? system ?? ""
        return path.isEmpty ? "/tmp" : path
    }

    /// Removes temporary folders that have our names, belong to our user and are not locked, if
    /// neither the folder nor any file in it was changed for some time. The call blocks.
    /// - Parameter age: the time without a change, in seconds.
    package static func sweepTemporaryFolders(below parent: String, olderThan age: Int64) {
        let limit = realtime().seconds - age
        for name in readableNames(in: parent) where isTemporaryName(name) {
            let path = "\(parent)/\(name)"
            guard let folder = oldFolder(path, before: limit), folder.hold() else { continue }
            let files = readableNames(in: path).map { "\(path)/\($0)" }
            let areOld = files.allSatisfy { file in
                guard let (owner, changed) = ownerAndChange(file) else { return false }
                return owner == geteuid() && changed < limit
            }
            guard areOld else { continue }
            for file in files { removeFile(file) }
            // This fails if other entries are left, such as a new file.
            removeFolder(path)
        }
    }

    /// Opens a folder of our user that was not changed since `limit`; a link to one is `nil`.
    private static func oldFolder(_ path: String, before limit: Int64) -> OpenFile? {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        guard isFolder(path), let (owner, changed) = ownerAndChange(path), owner == geteuid(),
            changed < limit
        else { return nil }
        let descriptor = unsafe open(path, flags)
        return descriptor >= 0 ? OpenFile(owning: descriptor) : nil
    }

    /// Whether a name is the prefix and six characters from `mkdtemp`.
    private static func isTemporaryName(_ name: String) -> Bool {
        guard name.hasPrefix(temporaryPrefix) else { return false }
        let rest = name.utf8.dropFirst(temporaryPrefix.utf8.count)
        return rest.count == 6
            && rest.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 }
    }

    /// The most names that are read in a folder: other programs may fill the temporary folder.
    private static let nameLimit = 100_000

    /// The names in a folder; empty if it cannot be read.
    private static func readableNames(in folder: String) -> [String] {
        do throws(SystemError) {
            return try names(in: folder, upTo: nameLimit)
        } catch {
            return []
        }
    }

    private static func ownerAndChange(_ path: String) -> (owner: uid_t, changed: Int64)? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            return (status.st_uid, Int64(status.st_mtimespec.tv_sec))
        #else
            return (status.st_uid, Int64(status.st_mtim.tv_sec))
        #endif
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Removes an empty folder that may be gone already.
    package static func removeFolder(_ path: String) {
        _ = unsafe rmdir(path)
    }
}

extension SystemError {
    /// Whether the disk, the user's quota or the size limit does not allow more bytes.
    package var isStorageFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// Whether the file is longer than the caller or the system allows.
    package var isFileTooLarge: Bool { code == EFBIG }

    /// The error for a user whose quota is used up.
    package static func quotaExceeded(_ call: String) -> SystemError {
        SystemError(call, code: EDQUOT)
    }

    /// Whether the quota of a user is used up.
    package var isQuotaExceeded: Bool { code == EDQUOT }
}

/// The C library's `write`. Inside of `Syscalls`, the method `write` hides it.
private let systemWrite = unsafe write

// With the stand-in for kqueue, the compiler finds the times of `stat` in this module.
internal import CCurlShims
internal import HTTPCodecs
internal import ToolkitSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The file operations of stored cookies, responses and hosts. All of them block until the disk is
/// done. Only the owner may read the files and folders.
enum StoreFiles {
    /// A failed system call and its error number.
    struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        let call: String
        let code: CInt
        var description: String { "\(call): \(System.text(of: code))" }
        /// Whether the same call may succeed later: the failure does not show what the file
        /// contains.
        var isTemporary: Bool { SystemError(call, code: code).isTemporary }
    }

    /// The reason why an existing file is not overwritten: data that could not be read would be
    /// lost.
    enum Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        case unreadable(Failure)
        case newerVersion(Int)

        var description: String {
            switch self {
            case .unreadable(let failure): "the file could not be read, \(failure)"
            case .newerVersion(let version): "the file has the newer version \(version)"
            }
        }
    }

    private static func failure(_ call: String) -> Failure { Failure(call: call, code: errno) }

    /// The bytes of a file; `nil` if the file is missing.
    static func load(_ path: String, upTo limit: Int) throws(Failure) -> [UInt8]? {
        let file: OpenStoreFile
        do throws(Failure) {
            file = try OpenStoreFile(reading: path)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
        guard file.size <= Int64(limit) else { throw Failure(call: "read", code: EFBIG) }
        var bytes: [UInt8] = []
        while true {
            let piece = try file.read(at: Int64(bytes.count), upTo: 256 << 10)
            if piece.isEmpty { return bytes }
            guard piece.count <= limit - bytes.count else {
                throw Failure(call: "read", code: EFBIG)
            }
            bytes += piece
        }
    }

    /// Throws for JSON whose `version` is newer.
    static func refuseNewer(
        _ bytes: [UInt8], than version: Int, _ json: JSONBody
    ) throws(Refusal) {
        guard let new = try? json.decode(Version.self, from: bytes).version, new > version else {
            return
        }
        throw .newerVersion(new)
    }

    private struct Version: Decodable {
        let version: Int
    }

    /// Replaces a file atomically.
    static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let name = temporaryName(for: path)
        do throws(Failure) {
            let file = try OpenStoreFile(creating: name)
            try file.append(bytes)
            try file.synchronize()
            try move(name, to: path)
        } catch {
            remove(name)
            throw error
        }
    }

    /// An unused name in the same folder. It begins with a dot.
    static func temporaryName(for path: String) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? ""
        return "\(folder).new-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    }

    static func move(_ old: String, to new: String) throws(Failure) {
        guard unsafe rename(old, new) == 0 else { throw failure("rename") }
    }

    static func remove(_ path: String) {
        _ = unsafe unlink(path)
    }

    /// Removes a file that must not come back. One that cannot be removed is emptied.
    /// - Returns: whether it is gone.
    static func discard(_ path: String) -> Bool {
        guard unsafe unlink(path) != 0, errno != ENOENT else { return true }
        let flags = O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = unsafe open(path, flags)
        if descriptor >= 0 { _ = systemClose(descriptor) }
        return false
    }

    /// Creates a folder and its missing parent folders.
    static func makeFolder(_ path: String) throws(Failure) {
        do throws(SystemError) {
            try Syscalls.createFolders(path)
        } catch {
            throw Failure(call: error.call, code: error.code)
        }
    }

    /// The names in a folder, without `.` and `..`.
    static func names(in folder: String) throws(Failure) -> [String] {
        guard let stream = unsafe opendir(folder) else { throw failure("opendir") }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw failure("readdir") }
                return names
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// The size in bytes, and the modification time in seconds since 1970.
    static func status(_ path: String) -> (size: Int64, modified: Int64)? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
            return (Int64(status.st_size), Int64(status.st_mtimespec.tv_sec))
        #else
            return (Int64(status.st_size), Int64(status.st_mtim.tv_sec))
        #endif
    }

    /// Sets the file's times to now.
    static func touch(_ path: String) {
        _ = unsafe utimensat(AT_FDCWD, path, nil, 0)
    }
}

/// An open file, which is closed when this object is released.
final class OpenStoreFile: Sendable {
    private let descriptor: CInt
    let size: Int64

    init(reading path: String) throws(StoreFiles.Failure) {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw StoreFiles.Failure(call: "open", code: errno) }
        var status = stat()
        let code = unsafe fstat(descriptor, &status) == 0 ? 0 : errno
        guard code == 0, status.st_mode & S_IFMT == S_IFREG else {
            _ = systemClose(descriptor)
            throw StoreFiles.Failure(call: "fstat", code: code == 0 ? EINVAL : code)
        }
        size = Int64(status.st_size)
    }

    init(creating path: String) throws(StoreFiles.Failure) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else { throw StoreFiles.Failure(call: "open", code: errno) }
        size = 0
    }

    deinit { _ = systemClose(descriptor) }

    /// Reads up to `count` bytes at an offset; an empty result is the end of the file.
    func read(at offset: Int64, upTo count: Int) throws(StoreFiles.Failure) -> [UInt8] {
        var (result, code) = (0, CInt(0))
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { room, used in
            repeat {
                result = unsafe pread(descriptor, room.baseAddress, count, off_t(offset))
                code = errno
            } while result < 0 && code == EINTR
            used = max(result, 0)
        }
        guard result >= 0 else { throw StoreFiles.Failure(call: "read", code: code) }
        return bytes
    }

    func append(_ bytes: [UInt8]) throws(StoreFiles.Failure) {
        var (done, code) = (0, CInt(0))
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = unsafe systemWrite(descriptor, rest.baseAddress, rest.count)
                code = errno
                return count
            }
            if count > 0 {
                done += count
            } else if count == 0 || code != EINTR {
                throw StoreFiles.Failure(call: "write", code: count == 0 ? EIO : code)
            }
        }
    }

    func synchronize() throws(StoreFiles.Failure) {
        guard fsync(descriptor) == 0 else {
            throw StoreFiles.Failure(call: "fsync", code: errno)
        }
    }
}

// Declared outside of the types above, where the types' own methods would be found first.
private let systemClose = close
private let systemWrite = unsafe write

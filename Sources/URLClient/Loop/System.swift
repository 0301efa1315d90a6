internal import CCurlShims
internal import ToolkitSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The module's calls of the operating system.
enum System {
    /// The time of a monotonic clock, in nanoseconds.
    static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Whether the calling thread is the program's main thread. Always true on systems other than
    /// Linux, so that no thread polls or blocks there.
    static var isOnMainThread: Bool {
        #if os(Linux)
            http_is_main_thread() != 0
        #else
            true
        #endif
    }

    /// The system's text for an error number.
    static func text(of error: CInt) -> String {
        guard let text = unsafe strerror(error) else { return "error \(error)" }
        return unsafe String(cString: text)
    }

    static let connectionLostNumbers: Set<Int> = [
        Int(ECONNRESET), Int(EPIPE), Int(ECONNABORTED), Int(ENOTCONN), Int(ENETRESET),
        Int(EHOSTUNREACH), Int(ENETDOWN), Int(ENETUNREACH),
    ]

    /// The absolute path, which stays valid when the current folder changes. If the system does not
    /// know the current folder, the path is returned unchanged.
    static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/"), let folder = unsafe getcwd(nil, 0) else {
            return path
        }
        defer { unsafe free(folder) }
        return "\(unsafe String(cString: folder))/\(path)"
    }

    // MARK: Signals

    /// The signal mask of a thread, and whether SIGPIPE was pending.
    struct SignalMask {
        fileprivate var mask = sigset_t()
        fileprivate var isPending = false
    }

    /// Blocks SIGPIPE for the calling thread; nil on systems with a socket option against the
    /// signal.
    static func holdBrokenPipe() -> SignalMask? {
        #if canImport(Darwin)
            // Sockets have an option against the signal.
            return nil
        #else
            var before = SignalMask()
            before.isPending = isBrokenPipePending
            var signals = brokenPipe
            unsafe pthread_sigmask(SIG_BLOCK, &signals, &before.mask)
            return before
        #endif
    }

    /// Discards a SIGPIPE that was raised since `holdBrokenPipe()`, and restores the thread's
    /// signal mask.
    static func restore(_ before: SignalMask) {
        #if !canImport(Darwin)
            if !before.isPending, isBrokenPipePending {
                var signals = brokenPipe
                var time = timespec()
                unsafe sigtimedwait(&signals, nil, &time)
            }
            var mask = before.mask
            unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        #endif
    }

    #if !canImport(Darwin)
        private static var brokenPipe: sigset_t {
            var signals = sigset_t()
            unsafe sigemptyset(&signals)
            unsafe sigaddset(&signals, SIGPIPE)
            return signals
        }

        private static var isBrokenPipePending: Bool {
            var signals = sigset_t()
            unsafe sigpending(&signals)
            return unsafe sigismember(&signals, SIGPIPE) == 1
        }
    #endif

    // MARK: files

    typealias File = OpenFile

    /// Opens a regular file for reading.
    static func openForReading(_ path: String) -> Result<(file: File, size: Int64), FileError> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(FileError(number: errno)) }
        let file = File(owning: descriptor)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            return .failure(FileError(number: errno))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return .failure(FileError(number: EINVAL)) }
        return .success((file, Int64(status.st_size)))
    }

    /// Creates a file, which must not exist, and locks it.
    /// - Parameters:
    ///   - path: its path.
    ///   - isPrivate: whether only its owner may read and write it, as in a folder that all users
    ///     share. Otherwise it gets the process's default permissions.
    static func create(_ path: String, isPrivate: Bool) -> Result<File, FileError> {
        let mode: mode_t = isPrivate ? 0o600 : 0o666
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return .failure(FileError(number: errno)) }
        let file = File(owning: descriptor)
        return hold(file) ? .success(file) : .failure(FileError(number: EWOULDBLOCK))
    }

    /// Opens a file for writing from `offset` on, and locks it. All bytes after `offset` are cut
    /// off.
    /// - Returns: an error with `isInUse` if another download writes it.
    static func reopen(_ path: String, at offset: Int64) -> Result<File, FileError> {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return .failure(FileError(number: errno)) }
        let file = File(owning: descriptor)
        guard hold(file) else { return .failure(FileError(number: EWOULDBLOCK)) }
        guard size(of: file) ?? 0 >= offset else { return .failure(FileError(number: EINVAL)) }
        return cut(file, at: offset) ? .success(file) : .failure(FileError(number: errno))
    }

    /// Locks a file until it is released or closed.
    /// - Returns: false if another open file has the lock; true on a file system without locks.
    private static func hold(_ file: File) -> Bool {
        flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    /// Unlocks a file before it is closed. A forked child process shares the descriptor until it
    /// runs its program, and would keep the lock until then.
    static func release(_ file: File) {
        // A file system without locks has nothing to unlock.
        _ = flock(file.descriptor, LOCK_UN)
    }

    /// The error that a remote file system reports only when a file is closed, such as a full disk.
    /// The file stays open.
    static func closingFault(of file: File) -> FileError? {
        let copy = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        return close(copy) == 0 || errno == EINTR ? nil : FileError(number: errno)
    }

    /// The length of a file in bytes; `nil` if the system does not report it.
    static func size(of file: File) -> Int64? {
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0 else { return nil }
        return Int64(status.st_size)
    }

    /// Truncates a file to `offset` bytes.
    static func cut(_ file: File, at offset: Int64) -> Bool {
        ftruncate(file.descriptor, off_t(offset)) == 0
    }

    /// Reads at a position; 0 at the end.
    static func read(
        _ file: File, at offset: Int64, into room: UnsafeMutableRawBufferPointer
    ) -> Result<Int, FileError> {
        while true {
            let count = unsafe pread(file.descriptor, room.baseAddress, room.count, off_t(offset))
            if count >= 0 { return .success(count) }
            guard errno == EINTR else { return .failure(FileError(number: errno)) }
        }
    }

    /// Writes all bytes at a position.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to file: File, at offset: Int64
    ) -> FileError? {
        var done = 0
        while done < bytes.count {
            let count = unsafe pwrite(
                file.descriptor, bytes.baseAddress.map { unsafe $0 + done }, bytes.count - done,
                off_t(offset + Int64(done)))
            if count > 0 {
                done += count
            } else if errno != EINTR {
                return FileError(number: errno)
            }
        }
        return nil
    }

    /// Copies the content and the permissions of a file into an empty one.
    static func copy(_ file: File, into copy: File) -> FileError? {
        do throws(SystemError) {
            let status = try file.status()
            // A file system without permissions has none to set.
            _ = fchmod(copy.descriptor, mode_t(status.permissions & 0o777))
            try copy.copyContent(of: file, size: status.size)
            return nil
        } catch {
            return FileError(number: error.code)
        }
    }

    /// Renames a file, replacing the target.
    static func move(_ path: String, to target: String) -> FileError? {
        unsafe rename(path, target) == 0 ? nil : FileError(number: errno)
    }

    static func remove(_ path: String) {
        unsafe unlink(path)
    }

    /// Removes a file, unless a download writes it.
    static func removeUnlessInUse(_ path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        let file = File(owning: descriptor)
        if hold(file) { remove(path) }
    }

    static var temporaryFolder: String {
        guard let folder = unsafe getenv("TMPDIR") else { return "/tmp" }
        return unsafe String(cString: folder)
    }

    // MARK: memory

    /// Maps memory from the system: `count` bytes, a multiple of the page size; nil if there is
    /// none.
    static func mapPages(_ count: Int) -> UnsafeMutableRawPointer? {
        #if canImport(Darwin)
            let kind = MAP_PRIVATE | MAP_ANON
        #else
            let kind = MAP_PRIVATE | MAP_ANONYMOUS
        #endif
        let start = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, kind, -1, 0)
        return unsafe start == UnsafeMutableRawPointer(bitPattern: -1) ? nil : start
    }

    /// Returns mapped memory to the system.
    static func unmapPages(_ start: UnsafeMutableRawPointer, _ count: Int) {
        unsafe munmap(start, count)
    }
}

/// The operating system's error for a file.
struct FileError: Error {
    let number: CInt
    var text: String { System.text(of: number) }
    /// Whether another open file holds the lock.
    var isInUse: Bool { number == EWOULDBLOCK }
    /// Whether a file cannot be moved because the target is on another file system.
    var isOtherFileSystem: Bool { number == EXDEV }
    /// Whether the file does not exist.
    var isMissing: Bool { number == ENOENT }
}

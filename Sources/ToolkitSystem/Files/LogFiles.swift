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

/// The calls that write logs.
extension Syscalls {
    /// Opens a file to append to, and creates it if it is missing.
    package static func openLog(_ path: String) throws(SystemError) -> CInt {
        guard !path.utf8.contains(0) else { throw SystemError("open", code: EINVAL) }
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY
        let file = unsafe open(path, flags, 0o640)
        guard file >= 0 else { throw SystemError("open") }
        return file
    }

    /// Writes all bytes, and waits while the descriptor takes none. If the reader of a pipe is
    /// gone, the call throws and raises no signal.
    package static func writeLog(
        _ descriptor: CInt, _ bytes: UnsafeRawBufferPointer
    ) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = unsafe writeQuietly(descriptor, rest)
            if count > 0 {
                written += count
            } else if count < 0, lastError == EAGAIN {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&wanted, 1, 1_000)
            } else if count == 0 || lastError != EINTR {
                throw SystemError("write", code: count == 0 ? EIO : lastError)
            }
        }
    }

    package static func writeLog(
        _ descriptor: CInt, _ text: StaticString
    ) throws(SystemError) {
        let bytes = unsafe UnsafeRawBufferPointer(
            start: text.utf8Start, count: text.utf8CodeUnitCount)
        try unsafe writeLog(descriptor, bytes)
    }

    private static func writeQuietly(
        _ descriptor: CInt, _ bytes: UnsafeRawBufferPointer
    ) -> Int {
        #if os(Linux)
            return unsafe http_server_write(descriptor, bytes.baseAddress, bytes.count)
        #else
            // On Darwin, F_SETNOSIGPIPE keeps a descriptor from raising the signal.
            _ = fcntl(descriptor, F_SETNOSIGPIPE, 1)
            return unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}

internal import CHTTPServerShims

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The `errno` of this thread: the error of its last failed call.
package var lastError: CInt { errno }

/// An error number of the operating system, and the call that reported it.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call that failed, such as `bind`.
    public let call: String
    /// The value of `errno`.
    public let code: CInt

    package init(_ call: String, code: CInt = lastError) {
        self.call = call
        self.code = code
    }

    /// Whether a connection was lost, or cannot reach its peer any more.
    package var isConnectionLost: Bool {
        [
            ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN, ENETRESET, EHOSTUNREACH, ENETDOWN,
            ENETUNREACH,
        ].contains(code)
    }

    /// The system's text for the number, such as `No such file or directory`.
    public var reason: String { unsafe String(cString: strerror(code)) }

    /// The call and the system's text for the number.
    public var description: String {
        "\(call): \(reason)"
    }
}

/// The result of a call on a non-blocking descriptor.
package enum IOResult: Equatable, Sendable {
    /// That many bytes were moved; 0 from a read is the end of the stream.
    case done(Int)
    /// Nothing can be moved now.
    case wouldBlock
    /// The descriptor failed, with this `errno`.
    case failed(CInt)

    /// The peer's bytes are not what the protocol demands.
    package static var invalidInput: IOResult { .failed(EPROTO) }
}

/// A file descriptor that is closed when this value is destroyed.
package struct Descriptor: ~Copyable, Sendable {
    package let raw: CInt

    package init(owning raw: CInt) {
        self.raw = raw
    }

    deinit {
        if raw >= 0 { Syscalls.close(raw) }
    }

    package consuming func release() -> CInt {
        let raw = self.raw
        discard self
        return raw
    }
}

/// The calls of the operating system, each as one Swift function. Interrupted calls that transfer
/// bytes are repeated. Calls that write to a socket never raise SIGPIPE.
package enum Syscalls {
    package static func close(_ descriptor: CInt) {
        // EINTR leaves the descriptor closed on Linux: never close twice.
        #if canImport(Darwin)
            _ = Darwin.close(descriptor)
        #elseif canImport(Glibc)
            _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
            _ = Musl.close(descriptor)
        #endif
    }

    /// Opens /dev/null; negative if no descriptor is left.
    package static func openNull() -> CInt { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }

    private static let null = openNull()

    /// Closes the file of a descriptor and keeps its number, which then refers to /dev/null. If no
    /// descriptor is left at the first use, the socket is shut down instead.
    package static func replaceByNull(_ descriptor: CInt) {
        guard null >= 0, dup2(null, descriptor) == descriptor else {
            #if os(Linux)
                _ = shutdown(descriptor, CInt(SHUT_RDWR))
            #else
                _ = shutdown(descriptor, SHUT_RDWR)
            #endif
            return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    @inline(__always)
    private static func result(_ call: () -> Int) -> IOResult {
        while true {
            let count = call()
            if count >= 0 { return .done(count) }
            let code = errno
            if code == EINTR { continue }
            return code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
        }
    }

    package static func receive(
        _ descriptor: CInt, _ room: UnsafeMutableRawBufferPointer
    ) -> IOResult {
        #if os(Linux)
            result { unsafe http_server_receive(descriptor, room.baseAddress, room.count) }
        #else
            result { unsafe recv(descriptor, room.baseAddress, room.count, 0) }
        #endif
    }

    /// Whether the peer of a socket has closed its side, and nothing is left to read.
    package static func hasEnded(_ descriptor: CInt) -> Bool {
        var byte: UInt8 = 0
        switch result({ unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK)) }) {
        case .done(let count): return count == 0
        case .wouldBlock: return false
        case .failed: return true
        }
    }

    /// - Parameter more: whether more bytes follow immediately, so that Linux does not send a small
    ///   segment yet.
    package static func send(
        _ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, more: Bool
    ) -> IOResult {
        #if os(Linux)
            let flags = CInt(MSG_NOSIGNAL) | (more ? CInt(MSG_MORE) : 0)
            return result {
                unsafe http_server_send(descriptor, bytes.baseAddress, bytes.count, flags)
            }
        #else
            return result {
                unsafe systemSend(descriptor, bytes.baseAddress, bytes.count, 0)
            }
        #endif
    }

    /// Sends part of a file without copying it into the process. `.done(0)` means that the file
    /// ends at `offset` or before it.
    package static func sendFile(
        _ descriptor: CInt, from file: CInt, offset: Int64, count: Int64
    ) -> IOResult {
        let limit = Int(min(count, 1 << 30))
        #if os(Linux)
            return result { http_server_sendfile(descriptor, file, off_t(offset), limit) }
        #else
            var sent = off_t(limit)
            let status = unsafe Darwin.sendfile(file, descriptor, off_t(offset), &sent, nil, 0)
            if status == 0 || sent > 0 { return .done(Int(sent)) }
            return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed(errno)
        #endif
    }

    package static func read(
        _ descriptor: CInt, _ room: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> IOResult {
        result { unsafe pread(descriptor, room.baseAddress, room.count, off_t(offset)) }
    }

    /// Reads part of a regular file until the buffer is full or the file ends.
    /// - Returns: how many bytes were read.
    package static func fill(
        _ room: UnsafeMutableRawBufferPointer, from descriptor: CInt, at offset: Int64
    ) throws(SystemError) -> Int {
        var filled = 0
        while filled < room.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...])
            switch unsafe read(descriptor, rest, at: offset + Int64(filled)) {
            case .done(0): return filled
            case .done(let count): filled += count
            // A regular file never blocks; retrying might loop forever.
            case .wouldBlock: throw SystemError("read", code: EAGAIN)
            case .failed(let code): throw SystemError("read", code: code)
            }
        }
        return filled
    }

    /// Makes a later close of the socket reset its connection and drop unsent bytes.
    package static func dropUnsent(_ descriptor: CInt) {
        var time = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
    }

    /// The number of bytes that were written to a socket and not acknowledged by the peer; `nil` if
    /// the system does not report it.
    package static func unacknowledgedBytes(_ descriptor: CInt) -> Int? {
        let count = http_server_unacknowledged(descriptor)
        return count < 0 ? nil : Int(count)
    }

    package static func shutdownWriting(_ descriptor: CInt) {
        #if os(Linux)
            _ = shutdown(descriptor, CInt(SHUT_WR))
        #else
            _ = shutdown(descriptor, SHUT_WR)
        #endif
    }

    /// Seconds and nanoseconds since the epoch. Date uses it; deadlines use `monotonic`.
    package static func realtime() -> (seconds: Int64, nanoseconds: Int64) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), Int64(time.tv_nsec))
    }

    /// 16 unpredictable bytes, which are not used again. One system call provides 256 bytes; on
    /// Linux `SystemRandomNumberGenerator` makes a call for every 8.
    package static func randomWords() -> (UInt64, UInt64) {
        randomReserve.withLock { words in
            if words.isEmpty { words = freshRandomWords() }
            return (words.removeLast(), words.removeLast())
        }
    }

    /// Random words that were not used yet, in pairs.
    private static let randomReserve = Locked<[UInt64]>([])

    private static func freshRandomWords() -> [UInt64] {
        #if os(Linux)
            var words = [UInt64](repeating: 0, count: 32)
            if unsafe getentropy(&words, words.count * MemoryLayout<UInt64>.size) == 0 {
                return words
            }
        #endif
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()]
    }

    /// The monotonic clock in nanoseconds.
    package static func monotonic() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// A number that names the running thread while it lives; never 0.
    @inline(__always)
    package static func currentThread() -> UInt {
        #if canImport(Glibc)
            return UInt(pthread_self())
        #else
            return unsafe UInt(bitPattern: pthread_self())
        #endif
    }

    package static func setNonBlocking(_ descriptor: CInt) {
        let flags = fcntl(descriptor, F_GETFL, 0)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        let descriptorFlags = fcntl(descriptor, F_GETFD, 0)
        _ = fcntl(descriptor, F_SETFD, descriptorFlags | FD_CLOEXEC)
    }

    package static func setOption(
        _ descriptor: CInt, level: CInt, _ name: CInt, _ value: CInt
    ) -> Bool {
        var value = value
        return unsafe setsockopt(
            descriptor, level, name, &value, socklen_t(MemoryLayout<CInt>.size)) == 0
    }

    #if canImport(Glibc)
        private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let openFiles = RLIMIT_NOFILE
    #endif
    #if os(Linux)
        private static let mostDescriptors: rlim_t = 1 << 20
    #else
        /// The system refuses a higher limit, even if the hard limit is higher.
        private static let mostDescriptors = rlim_t(OPEN_MAX)
    #endif

    /// The soft limit of open descriptors.
    package static func descriptorLimit() -> Int {
        var limit = rlimit()
        let status = unsafe getrlimit(openFiles, &limit)
        return status == 0 ? Int(min(limit.rlim_cur, 1 << 20)) : 256
    }

    /// How many of the first 1,024 descriptors are open. With a higher limit, further ones do not
    /// matter.
    package static func openDescriptorCount() -> Int {
        (0..<CInt(min(descriptorLimit(), 1_024))).count(where: { fcntl($0, F_GETFD) >= 0 })
    }

    /// Raises the soft limit of open descriptors to the hard limit; if the system refuses, the soft
    /// limit stays as it is (see `descriptorLimit`).
    package static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard unsafe getrlimit(openFiles, &limit) == 0 else { return }
        let wanted = min(limit.rlim_max, mostDescriptors)
        guard wanted > limit.rlim_cur else { return }
        limit.rlim_cur = wanted
        _ = unsafe setrlimit(openFiles, &limit)
    }

    /// The address that a socket has on this machine; `nil` if the system does not report it.
    package static func localAddress(of descriptor: CInt) -> SocketAddress? {
        var raw = RawSocketAddress()
        let status = unsafe raw.withPointer { unsafe getsockname(descriptor, $0, $1) }
        return status == 0 ? raw.address : nil
    }

    /// How many processors there are.
    package static func activeProcessors() -> Int {
        max(1, Int(sysconf(CInt(_SC_NPROCESSORS_ONLN))))
    }
}

#if !os(Linux)
    /// The C library's `send`, which `Syscalls.send` hides. It is a function because a global
    /// constant may be initialised lazily, which costs each call a check.
    @inline(__always)
    private func systemSend(
        _ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: CInt
    ) -> Int {
        unsafe send(descriptor, bytes, count, flags)
    }
#endif

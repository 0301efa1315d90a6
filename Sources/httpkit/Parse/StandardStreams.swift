import HTTPParser

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A failure to read or write a standard stream or an output file.
struct StreamError: Error, CustomStringConvertible {
    let description: String

    init(_ action: String, code: CInt) {
        let reason = unsafe strerror(code).map { unsafe String(cString: $0) }
        description = "\(action): \(reason ?? "error \(code)")"
    }
}

/// The three standard streams of the program.
enum StandardStreams {
    /// Opens /dev/null for each standard stream that is closed, so that no file or socket gets its
    /// number. Reads and writes of such a stream still fail.
    static func reserve() {
        for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            guard fcntl(stream, F_GETFD) < 0 else { continue }
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Whether to repeat a call that failed. Another program may have made a shared terminal or
    /// pipe non-blocking: then this waits until the descriptor is ready.
    static func mayTryAgain(_ code: CInt, _ descriptor: CInt, _ events: Int32) -> Bool {
        guard code == EAGAIN else { return code == EINTR }
        var wanted = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        _ = unsafe poll(&wanted, 1, -1)
        return true
    }
}

/// Standard input in pieces, as they arrive.
struct StandardInput: ~Copyable {
    private var piece = [UInt8](repeating: 0, count: 64 << 10)

    /// Waits for bytes and passes them to `body`; `false` at the end of the input.
    mutating func read(_ body: (Span<UInt8>) throws -> Void) throws -> Bool {
        let count = try fill()
        guard count > 0 else { return false }
        try body(piece.span.extracting(0..<count))
        return true
    }

    private mutating func fill() throws -> Int {
        while true {
            let count = unsafe piece.withUnsafeMutableBytes {
                unsafe systemRead(STDIN_FILENO, $0.baseAddress, $0.count)
            }
            if count >= 0 { return count }
            let code = errno
            guard StandardStreams.mayTryAgain(code, STDIN_FILENO, POLLIN) else {
                throw StreamError("cannot read standard input", code: code)
            }
        }
    }
}

/// Standard output and standard error.
enum StandardOutput {
    /// Writes all bytes and empties the buffer.
    static func write(_ bytes: inout ByteBuffer, to descriptor: CInt = STDOUT_FILENO) throws {
        while !bytes.isEmpty {
            let count = unsafe bytes.bytes.withUnsafeBytes {
                unsafe systemWrite(descriptor, $0.baseAddress, $0.count)
            }
            let code = errno
            if count > 0 {
                bytes.consume(count)
            } else if count == 0 || !StandardStreams.mayTryAgain(code, descriptor, POLLOUT) {
                // Without an error `errno` is that of an earlier call.
                throw StreamError("cannot write", code: count == 0 ? EIO : code)
            }
        }
    }
}

private let systemRead = unsafe read
private let systemWrite = unsafe write

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A connected socket, on which a thread may block for up to a minute. The caller closes the
/// descriptor.
struct TortureSocket: Sendable {
    private static let patience: CInt = 60_000
    private let descriptor: CInt

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
        var one: CInt = 1
        let size = socklen_t(MemoryLayout<CInt>.size)
        unsafe setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, size)
    }

    /// Whether a descriptor can be read, or accepted from, before the time is up.
    static func waitForInput(_ descriptor: CInt, milliseconds: CInt) -> Bool {
        wait(descriptor, POLLIN, milliseconds) > 0
    }

    static func pause(milliseconds: CInt) { _ = poll(nil, 0, milliseconds) }

    private static func wait(_ descriptor: CInt, _ events: CInt, _ milliseconds: CInt) -> CInt {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return unsafe poll(&request, 1, milliseconds)
    }

    /// Ends both directions, which wakes the thread that waits.
    static func shutDown(_ descriptor: CInt) { _ = shutdown(descriptor, CInt(bothDirections)) }

    /// Ends the sending direction, and reads what the client still sends for a while: closing with
    /// unread bytes would send a reset that overtakes the answer.
    func endWriting() {
        _ = shutdown(descriptor, CInt(writing))
        for _ in 0..<64 {
            guard Self.wait(descriptor, POLLIN, 1000) > 0, let piece = receive(), !piece.isEmpty
            else { return }
        }
    }

    /// Makes the close a reset.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout<linger>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, size)
    }

    /// Sends all bytes.
    /// - Returns: `false` when the client is gone, or takes nothing for a minute.
    func send(_ bytes: [UInt8]) -> Bool {
        #if os(Linux)
            let flags = CInt(MSG_NOSIGNAL)
        #else
            let flags: CInt = 0
        #endif
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[sent...])
                return unsafe systemSend(descriptor, rest.baseAddress, rest.count, flags)
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                guard Self.wait(descriptor, POLLOUT, Self.patience) > 0 else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Waits for bytes; `nil` at the end, after a reset, and if nothing arrives for a minute.
    func receive() -> [UInt8]? {
        while true {
            var failure: CInt = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { room, count in
                let result = unsafe recv(descriptor, room.baseAddress, room.count, 0)
                if result < 0 { failure = errno }
                count = max(0, result)
            }
            switch failure {
            case 0: return piece.isEmpty ? nil : piece
            case EINTR: continue
            case EAGAIN:
                guard Self.wait(descriptor, POLLIN, Self.patience) > 0 else { return nil }
            default: return nil
            }
        }
    }

    /// Waits, and ignores what the client sends meanwhile.
    /// - Returns: whether the client ended the connection before the time was up.
    func waitForEnd(_ time: Duration) -> Bool {
        let end = ContinuousClock.now + time
        while true {
            let left = end - ContinuousClock.now
            guard left > .zero else { return false }
            let milliseconds = CInt(
                clamping: left.components.seconds * 1000
                    + left.components.attoseconds / 1_000_000_000_000_000 + 1)
            guard Self.wait(descriptor, POLLIN, milliseconds) > 0 else { return false }
            if receive() == nil { return true }
        }
    }
}

private let (writing, bothDirections) = (SHUT_WR, SHUT_RDWR)
private let systemSend = unsafe send

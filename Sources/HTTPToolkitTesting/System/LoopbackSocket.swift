internal import ToolkitSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A TCP socket on 127.0.0.1 whose calls block; use it on an `OwnThread`.
final class LoopbackSocket: Sendable {
    private let descriptor: CInt

    private init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    private static func make() throws -> LoopbackSocket {
        let descriptor = StreamSocket.make()
        guard descriptor >= 0 else { throw SystemError("socket") }
        return adopt(descriptor)
    }

    private static func adopt(_ descriptor: CInt) -> LoopbackSocket {
        StreamSocket.prepare(descriptor)
        StreamSocket.sendAtOnce(descriptor)
        return LoopbackSocket(descriptor)
    }

    /// Calls `body` with the address of a port of 127.0.0.1.
    private static func withAddress(
        of port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, size)
            }
        }
    }

    static func connect(to port: UInt16) throws -> LoopbackSocket {
        let made = try make()
        let result = unsafe withAddress(of: port) { unsafe systemConnect(made.descriptor, $0, $1) }
        guard result == 0 else { throw SystemError("connect") }
        return made
    }

    /// A listener on a free port, and that port.
    static func listen() throws -> (LoopbackSocket, port: UInt16) {
        let made = try make()
        let isBound = unsafe withAddress(of: 0) { unsafe bind(made.descriptor, $0, $1) } == 0
        guard isBound, systemListen(made.descriptor, 64) == 0 else {
            throw SystemError("listen")
        }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(made.descriptor, $0, &size)
            }
        }
        guard result == 0 else { throw SystemError("getsockname") }
        return (made, UInt16(bigEndian: address.sin_port))
    }

    /// The next connection; `nil` after an error, or if the listener was ended.
    func accept() -> LoopbackSocket? {
        let accepted = systemAccept(descriptor, nil, nil)
        return accepted < 0 ? nil : Self.adopt(accepted)
    }

    /// Waits 10 milliseconds, so that a temporary error can pass.
    func pause() { usleep(10_000) }

    /// Lets `receive` fail after this many seconds without a byte.
    func limitWaits(seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Waits for bytes; empty at the end of the stream, `nil` after an error.
    func receive() -> [UInt8]? {
        var received = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { room, count in
            repeat {
                received = unsafe recv(descriptor, room.baseAddress, room.count, 0)
            } while received < 0 && errno == EINTR
            count = max(received, 0)
        }
        return received < 0 ? nil : bytes
    }

    /// - Returns: whether all bytes were taken.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        let flags = StreamSocket.sendFlags
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[sent...])
                return unsafe systemSend(descriptor, rest.baseAddress, rest.count, flags)
            }
            if count < 0, errno != EINTR { return false }
            sent += max(count, 0)
        }
        return true
    }

    /// Ends the sending direction; reading continues.
    func endWriting() { end(SHUT_WR) }

    /// Makes the close of this socket a reset, so that the peer sees an error instead of an end.
    /// Also ends reading, which wakes a waiting thread.
    func breakOff() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        end(SHUT_RD)
    }

    /// Ends both directions, which wakes a waiting thread.
    func end() { end(SHUT_RDWR) }

    /// - Parameter direction: `SHUT_RD`, `SHUT_WR` or `SHUT_RDWR`, whose type depends on the
    ///   system.
    private func end(_ direction: some BinaryInteger) { _ = shutdown(descriptor, CInt(direction)) }
}

private let systemConnect = unsafe connect
private let systemListen = listen
private let systemAccept = unsafe accept
private let systemSend = unsafe send

internal import ToolkitSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

private let systemConnect = unsafe connect

/// Sockets of the tests: a program that is started meanwhile does not inherit them, and a peer that
/// is gone raises no signal.
package enum StreamSocket {
    /// The flags of `send`: on Darwin the socket itself is set to raise no signal.
    package static var sendFlags: CInt {
        #if canImport(Darwin)
            0
        #else
            CInt(MSG_NOSIGNAL)
        #endif
    }

    /// Makes a stream socket of IPv4; negative when there is none left.
    package static func make() -> CInt {
        let descriptor = socket(AF_INET, SocketKind.stream, 0)
        prepare(descriptor)
        return descriptor
    }

    /// Connects to a Unix socket; negative when the connection is not made at once.
    package static func connect(unixPath path: String) -> CInt {
        var address = RawSocketAddress()
        guard address.setUnixPath(path) else { return -1 }
        let descriptor = socket(AF_UNIX, SocketKind.stream, 0)
        prepare(descriptor)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let length = address.length
        let status = unsafe address.withPointer { pointer, _ in
            unsafe systemConnect(descriptor, pointer, length)
        }
        guard status == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    /// Does the same for a connection that was accepted.
    package static func prepare(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var one: CInt = 1
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<CInt>.size))
        #endif
    }

    /// Sends each write at once.
    package static func sendAtOnce(_ descriptor: CInt) {
        var one: CInt = 1
        _ = unsafe setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    }
}

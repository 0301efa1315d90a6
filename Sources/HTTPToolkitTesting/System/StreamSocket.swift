internal import ToolkitSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

private let systemConnect = unsafe connect

/// Sockets for tests: programs started later do not inherit them, and a disconnected peer raises no
/// signal.
package enum StreamSocket {
    /// The flags of `send`. On Darwin the socket itself is set to raise no signal.
    package static var sendFlags: CInt {
        #if canImport(Darwin)
            0
        #else
            CInt(MSG_NOSIGNAL)
        #endif
    }

    /// Creates an IPv4 stream socket; negative if no descriptor is free.
    package static func make() -> CInt {
        let descriptor = socket(AF_INET, SocketKind.stream, 0)
        prepare(descriptor)
        return descriptor
    }

    /// Connects to a Unix socket; negative if the connection does not succeed immediately.
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

    /// Sets these properties on a socket, such as an accepted connection.
    package static func prepare(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var one: CInt = 1
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<CInt>.size))
        #endif
    }

    /// Sends each write immediately (TCP_NODELAY).
    package static func sendAtOnce(_ descriptor: CInt) {
        var one: CInt = 1
        _ = unsafe setsockopt(
            descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    }
}

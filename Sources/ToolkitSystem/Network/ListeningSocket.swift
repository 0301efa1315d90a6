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

/// The calls that open listening sockets and accept connections.
package enum ListeningSocket {
    /// Opens a socket that listens at an address.
    /// - Parameter prepare: called with the socket before it is bound.
    /// - Returns: the descriptor, which is non-blocking.
    package static func open(
        _ address: inout RawSocketAddress, backlog: Int, prepare: (CInt) -> Void = { _ in }
    ) throws(SystemError) -> CInt {
        let family = CInt(address.storage.ss_family)
        #if os(Linux)
            // A program that is started at this moment must not inherit the socket.
            let type = SocketKind.closeOnExecStream
        #else
            let type = SocketKind.stream
        #endif
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        Syscalls.setNonBlocking(descriptor)
        setOptions(descriptor, family)
        prepare(descriptor)
        let length = address.length
        let bound = unsafe address.withPointer { pointer, _ in
            unsafe bind(descriptor, pointer, length)
        }
        guard bound == 0, listen(descriptor, CInt(backlog)) == 0 else {
            let error = SystemError(bound == 0 ? "listen" : "bind")
            Syscalls.close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func setOptions(_ descriptor: CInt, _ family: CInt) {
        if family != AF_UNIX {
            _ = Syscalls.setOption(descriptor, level: SOL_SOCKET, SO_REUSEADDR, 1)
            // Accepted sockets inherit this option and keep-alive, which saves calls for each one.
            _ = Syscalls.setOption(descriptor, level: CInt(IPPROTO_TCP), TCP_NODELAY, 1)
            keepAlive(descriptor)
        }
        if family == AF_INET6 {
            _ = Syscalls.setOption(descriptor, level: CInt(IPPROTO_IPV6), IPV6_V6ONLY, 1)
        }
        #if canImport(Darwin)
            _ = Syscalls.setOption(descriptor, level: SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
    }

    /// Has the system detect within two minutes that a peer has vanished (RFC 9293 section 3.8.4).
    /// Otherwise a stream that has nothing to send would keep its connection forever.
    private static func keepAlive(_ descriptor: CInt) {
        #if canImport(Darwin)
            let idle = TCP_KEEPALIVE
        #else
            let idle = TCP_KEEPIDLE
        #endif
        let level = CInt(IPPROTO_TCP)
        _ = Syscalls.setOption(descriptor, level: level, idle, 60)
        _ = Syscalls.setOption(descriptor, level: level, TCP_KEEPINTVL, 15)
        _ = Syscalls.setOption(descriptor, level: level, TCP_KEEPCNT, 4)
        _ = Syscalls.setOption(descriptor, level: SOL_SOCKET, SO_KEEPALIVE, 1)
    }

    /// Checks that a descriptor listens, and makes it non-blocking.
    package static func inherit(_ descriptor: CInt) throws(SystemError) {
        var listens: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0
        else { throw SystemError("getsockopt") }
        guard listens != 0 else { throw SystemError("listen", code: EINVAL) }
        Syscalls.setNonBlocking(descriptor)
    }

    /// Whether a descriptor listens.
    package static func listens(_ descriptor: CInt) -> Bool {
        var listens: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        let status = unsafe getsockopt(
            descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length)
        return status == 0 && listens != 0
    }

    /// The address that a socket is bound to.
    package static func address(of descriptor: CInt) -> RawSocketAddress {
        var raw = RawSocketAddress()
        _ = unsafe raw.withPointer { unsafe getsockname(descriptor, $0, $1) }
        return raw
    }

    /// Whether a path is a socket. Only a socket may be replaced: another file may be a user's.
    package static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Whether the address of a Unix socket has no listener any more.
    package static func isStale(_ address: inout RawSocketAddress) -> Bool {
        let probe = socket(AF_UNIX, SocketKind.stream, 0)
        guard probe >= 0 else { return false }
        defer { Syscalls.close(probe) }
        // A listener with a full backlog would block the caller.
        Syscalls.setNonBlocking(probe)
        let length = address.length
        return unsafe address.withPointer { pointer, _ in
            unsafe connect(probe, pointer, length) != 0 && errno == ECONNREFUSED
        }
    }

    /// Whether a connection waits to be accepted.
    package static func hasWaiting(_ descriptor: CInt) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) > 0
    }

    /// Accepts one waiting connection.
    /// - Returns: its descriptor, `.wouldBlock` if none waits, or the error.
    package static func accept(_ listener: CInt, _ peer: inout RawSocketAddress) -> IOResult {
        peer.length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var code: CInt = 0
        // Bounded, because a filter of system calls may refuse every call.
        for _ in 0..<64 {
            let descriptor = unsafe peer.withPointer { address, length in
                #if os(Linux)
                    return unsafe http_server_accept(listener, address, length)
                #else
                    return unsafe Darwin.accept(listener, address, length)
                #endif
            }
            if descriptor >= 0 {
                #if canImport(Darwin)
                    Syscalls.setNonBlocking(descriptor)
                    _ = Syscalls.setOption(descriptor, level: SOL_SOCKET, SO_NOSIGPIPE, 1)
                #endif
                return .done(Int(descriptor))
            }
            code = errno
            if code == EINTR || concernsOneConnection(code) { continue }
            return code == EAGAIN ? .wouldBlock : .failed(code)
        }
        return .failed(code)
    }

    /// Whether an error of `accept` concerns one waiting connection and not the others. Linux
    /// reports network errors of a connection this way. A pause after them would let one peer
    /// delay the others.
    package static func concernsOneConnection(_ code: CInt) -> Bool {
        #if os(Linux)
            if code == ENONET { return true }
        #endif
        switch code {
        case ECONNABORTED, EPROTO, EPERM, ENOPROTOOPT, ENETDOWN, ENETUNREACH, EHOSTDOWN,
            EHOSTUNREACH:
            return true
        default: return false
        }
    }
}

extension SystemError {
    /// Common reasons why a socket could not listen.
    package enum ListenFault: Sendable {
        case addressInUse, permissionDenied, addressNotAvailable, pathTooLong
    }

    package var listenFault: ListenFault? {
        switch code {
        case EADDRINUSE: .addressInUse
        case EACCES, EPERM: .permissionDenied
        case EADDRNOTAVAIL, EAFNOSUPPORT: .addressNotAvailable
        case ENAMETOOLONG: .pathTooLong
        default: nil
        }
    }

    /// Whether the error means that a descriptor does not listen, is no socket, or is closed.
    package var isNoListener: Bool { [EINVAL, EBADF, ENOTCONN, ENOTSOCK].contains(code) }

    /// The error for a descriptor that is closed.
    package static func closed(_ call: String) -> SystemError { SystemError(call, code: EBADF) }
    /// The error for a name that does not exist.
    package static func missing(_ call: String) -> SystemError { SystemError(call, code: ENOENT) }
}

extension RawSocketAddress {
    /// - Returns: `false` if the path is empty or too long, or contains NUL, which would end it.
    package mutating func setUnixPath(_ path: String) -> Bool {
        let bytes = Array(path.utf8)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard !bytes.isEmpty, !bytes.contains(0),
            bytes.count < MemoryLayout<sockaddr_un>.size - offset
        else {
            return false
        }
        storage.ss_family = sa_family_t(AF_UNIX)
        length = socklen_t(offset + bytes.count + 1)
        unsafe withUnsafeMutableBytes(of: &storage) { room in
            for index in bytes.indices { unsafe room[offset + index] = bytes[index] }
            unsafe room[offset + bytes.count] = 0
        }
        return true
    }
}

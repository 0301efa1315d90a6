internal import CHTTPServerShims

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

// The environment of the process, and sockets from service managers and the kernel.
extension Syscalls {
    package static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    package static func removeEnvironment(_ name: String) {
        _ = unsafe unsetenv(name)
    }

    /// The name of the machine without a domain.
    package static func hostName() -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
        let name = bytes.prefix { $0 != 0 && $0 != 0x2E }.map(UInt8.init(bitPattern:))
        return String(decoding: name, as: UTF8.self)
    }

    package static func processIdentifier() -> CInt { getpid() }

    package static func closeOnExec(_ descriptor: CInt) {
        let flags = fcntl(descriptor, F_GETFD, 0)
        if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
    }

    /// A second descriptor for the same open file; negative if none is left.
    package static func duplicate(_ descriptor: CInt) -> CInt {
        fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    }

    /// Whether an IPv6 socket accepts IPv4 connections, too.
    package static func isDualStack(_ descriptor: CInt) -> Bool {
        var onlyIPv6: CInt = 1
        var length = socklen_t(MemoryLayout<CInt>.size)
        let status = unsafe getsockopt(
            descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &onlyIPv6, &length)
        return status == 0 && onlyIPv6 == 0
    }

    /// A socket on which the kernel reports changes of interfaces and addresses.
    package static func openInterfaceChanges() throws(SystemError) -> CInt {
        #if os(Linux)
            let descriptor = http_server_netlink_open()
        #else
            let descriptor = socket(PF_ROUTE, SOCK_RAW, AF_UNSPEC)
        #endif
        guard descriptor >= 0 else { throw SystemError("socket") }
        #if !os(Linux)
            setNonBlocking(descriptor)
        #endif
        return descriptor
    }

    /// Reads from the socket of `openInterfaceChanges`; `.done(0)` for a message that is not from
    /// the kernel.
    package static func receiveInterfaceChange(
        _ descriptor: CInt, _ room: UnsafeMutableRawBufferPointer
    ) -> IOResult {
        #if os(Linux)
            let count = unsafe http_server_netlink_receive(
                descriptor, room.baseAddress, room.count)
            if count >= 0 { return .done(count) }
            return errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed(errno)
        #else
            return unsafe receive(descriptor, room)
        #endif
    }

    #if canImport(Darwin)
        package static func launchdSockets(_ name: String) throws(SystemError) -> [CInt] {
            var descriptors: UnsafeMutablePointer<CInt>?
            var count = 0
            let code = unsafe http_server_launchd_sockets(name, &descriptors, &count)
            guard code == 0, let descriptors = unsafe descriptors else {
                throw SystemError("launch_activate_socket", code: code)
            }
            defer { unsafe free(descriptors) }
            return unsafe Array(UnsafeBufferPointer(start: descriptors, count: count))
        }
    #endif
}

extension RawSocketAddress {
    /// The bytes of an address in network order, 4 of IPv4 or 16 of IPv6; `nil` for other text.
    package static func bytes(_ host: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if unsafe inet_pton(family, host, &bytes) == 1 { return bytes }
        }
        return nil
    }
}

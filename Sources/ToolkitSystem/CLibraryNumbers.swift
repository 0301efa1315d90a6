#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import CHTTPServerShims
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

// glibc declares enumerations where other C libraries declare numbers; this file converts both.

/// Kinds of sockets.
package enum SocketKind {
    /// A stream.
    package static var stream: CInt { number(SOCK_STREAM) }

    #if os(Linux)
        /// A stream socket that is closed on exec.
        package static var closeOnExecStream: CInt { number(SOCK_STREAM) | number(SOCK_CLOEXEC) }
    #endif

    #if canImport(Glibc)
        private static func number(_ kind: __socket_type) -> CInt { CInt(kind.rawValue) }
    #else
        private static func number(_ kind: CInt) -> CInt { kind }
    #endif
}

#if canImport(Glibc)
    /// The bit of an epoll event.
    @inline(__always)
    func eventBit(_ event: EPOLL_EVENTS) -> UInt32 { event.rawValue }
#elseif canImport(Musl)
    /// The bit of an epoll event.
    @inline(__always)
    func eventBit(_ event: CInt) -> UInt32 { UInt32(bitPattern: event) }

    /// The bit of an epoll event.
    @inline(__always)
    func eventBit(_ event: UInt32) -> UInt32 { event }
#endif

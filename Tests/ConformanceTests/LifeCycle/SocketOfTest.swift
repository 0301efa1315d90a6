#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// System calls of tests on sockets of the server.
enum SocketOfTest {
    static func takeAway(_ descriptor: CInt) {
        #if os(Linux)
            _ = shutdown(descriptor, CInt(SHUT_RDWR))
        #else
            _ = shutdown(descriptor, SHUT_RDWR)
        #endif
    }

    static func duplicate(_ descriptor: CInt) -> CInt { dup(descriptor) }
}

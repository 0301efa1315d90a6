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

extension RawSocketAddress {
    /// The family of an Internet address.
    package var family: AddressFamily? {
        switch CInt(storage.ss_family) {
        case AF_INET: .ipv4
        case AF_INET6: .ipv6
        default: nil
        }
    }

    /// The addresses of a host from the system's resolver, which may wait for the network; empty if
    /// it finds none.
    package static func lookUp(_ host: String, _ port: UInt16) -> [RawSocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE
        unsafe hints.ai_socktype = SocketKind.stream
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [RawSocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let source = unsafe entry.pointee.ai_addr {
                let length = unsafe entry.pointee.ai_addrlen
                unsafe addresses.append(RawSocketAddress(copying: source, length: length))
            }
            unsafe next = entry.pointee.ai_next
        }
        return addresses
    }

    /// Copies an address that is valid only during the call.
    init(copying source: UnsafePointer<sockaddr>, length: socklen_t) {
        self.init()
        let count = min(Int(length), MemoryLayout<sockaddr_storage>.size)
        self.length = socklen_t(count)
        unsafe withUnsafeMutableBytes(of: &storage) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: source, count: count))
        }
    }

    /// Sets the port of an Internet address.
    package mutating func setPort(_ port: UInt16) {
        let family = CInt(storage.ss_family)
        unsafe withPointer { address, _ in
            if family == AF_INET {
                unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    unsafe $0.pointee.sin_port = port.bigEndian
                }
            } else if family == AF_INET6 {
                unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    unsafe $0.pointee.sin6_port = port.bigEndian
                }
            }
        }
    }
}

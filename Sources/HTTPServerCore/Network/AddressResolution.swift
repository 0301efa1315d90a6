#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

// The addresses that a host or an interface stands for.
extension RawSocketAddress {
    /// - Parameters:
    ///   - host: a name or an address; `localhost` means both families whatever the hosts file
    ///     says, `*` and nothing mean all addresses.
    ///   - port: goes into each address.
    ///   - family: leaves the addresses of the other one out.
    package static func resolve(
        host: String, port: UInt16, family: AddressFamily?
    ) throws(ListenError) -> [RawSocketAddress] {
        let hosts =
            switch host {
            case "localhost": ["127.0.0.1", "::1"]
            case "", "*": ["0.0.0.0", "::"]
            default: [host]
            }
        var addresses: [RawSocketAddress] = []
        // A system without IPv6 does not know its addresses.
        for host in hosts { addresses += lookUp(host, port) }
        if let family { addresses.removeAll { $0.family != family } }
        guard !addresses.isEmpty else { throw .addressNotAvailable(host) }
        return addresses
    }

    /// The addresses that an interface has now.
    package static func addresses(
        ofInterface name: String, port: UInt16, family: AddressFamily?
    ) throws(ListenError) -> [RawSocketAddress] {
        let interfaces: [NetworkInterface]
        do throws(SystemError) {
            interfaces = try NetworkInterface.all()
        } catch {
            throw .system("interface \(name)", error)
        }
        guard let interface = interfaces.first(where: { $0.name == name }) else {
            throw .noSuchInterface(name)
        }
        var addresses: [RawSocketAddress] = []
        for address in interface.addresses where family == nil || address.family == family {
            // A link-local address means nothing without the interface (RFC 4007 section 6).
            let needsScope = address.family == .ipv6 && address.scope == .linkLocal
            let host = needsScope ? "\(address.host)%\(name)" : address.host
            addresses += lookUp(host, port)
        }
        guard !addresses.isEmpty else { throw .addressNotAvailable("interface \(name)") }
        return addresses
    }

    /// The family of an Internet address.
    package var family: AddressFamily? {
        switch CInt(storage.ss_family) {
        case AF_INET: .ipv4
        case AF_INET6: .ipv6
        default: nil
        }
    }

    private static func lookUp(_ host: String, _ port: UInt16) -> [RawSocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE
        #if os(Linux)
            unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
            unsafe hints.ai_socktype = SOCK_STREAM
        #endif
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

    /// Copies an address that the system lends.
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

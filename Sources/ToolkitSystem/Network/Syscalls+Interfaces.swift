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

/// A network interface as the system lists it.
package struct InterfaceEntry: Sendable {
    /// The bytes of an address in network order, 4 of IPv4 or 16 of IPv6, and the length of the
    /// network prefix in bits.
    package struct Address: Sendable {
        package var bytes: [UInt8]
        package var prefixLength: Int

        /// Whether it is a link-local address of IPv6 (RFC 4291 section 2.5.6).
        package var isLinkLocalIPv6: Bool { Syscalls.isLinkLocalIPv6(bytes) }
        package var family: AddressFamily { bytes.count == 4 ? .ipv4 : .ipv6 }
    }

    package var name: String
    package var index: UInt32
    package var flags: UInt32
    package var addresses: [Address] = []
}

// The list of the system's network interfaces.
extension Syscalls {
    fileprivate static func isLinkLocalIPv6(_ bytes: [UInt8]) -> Bool {
        bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    /// All interfaces with their addresses.
    package static func interfaces() throws(SystemError) -> [InterfaceEntry] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { throw SystemError("getifaddrs") }
        defer { unsafe freeifaddrs(list) }
        var interfaces: [InterfaceEntry] = []
        var places: [String: Int] = [:]
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = entry.pointee.ifa_next
            let name = unsafe String(cString: entry.pointee.ifa_name)
            let place = places[name] ?? interfaces.count
            if place == interfaces.count {
                places[name] = place
                let flags = unsafe UInt32(truncatingIfNeeded: entry.pointee.ifa_flags)
                let index = unsafe UInt32(if_nametoindex(name))
                // The call needs a descriptor. If it fails for another reason, the interface has
                // just disappeared.
                if index == 0, case let error = SystemError("if_nametoindex"), error.isExhausted {
                    throw error
                }
                interfaces.append(InterfaceEntry(name: name, index: index, flags: flags))
            }
            guard let bytes = unsafe addressBytes(entry.pointee.ifa_addr) else { continue }
            let mask = unsafe maskBytes(entry.pointee.ifa_netmask, count: bytes.count)
            let length = mask.reduce(0) { $0 + $1.nonzeroBitCount }
            interfaces[place].addresses.append(
                InterfaceEntry.Address(bytes: bytes, prefixLength: length))
        }
        return interfaces
    }

    private static func addressBytes(_ address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let address = unsafe address else { return nil }
        switch unsafe CInt(address.pointee.sa_family) {
        case AF_INET: return unsafe bytes(address, count: 4)
        case AF_INET6:
            var bytes = unsafe bytes(address, count: 16)
            // The BSDs store the zone of a link-local address in its bytes, where zeros belong.
            if isLinkLocalIPv6(bytes) { bytes.replaceSubrange(2..<4, with: [0, 0]) }
            return bytes
        default: return nil
        }
    }

    /// The bytes of a network mask. The BSDs omit the family of a mask, and its trailing zeros.
    private static func maskBytes(
        _ mask: UnsafeMutablePointer<sockaddr>?, count: Int
    ) -> [UInt8] {
        guard let mask = unsafe mask else { return Array(repeating: 0xFF, count: count) }
        #if canImport(Darwin)
            let offset = count == 4 ? 4 : 8
            let room = unsafe max(0, Int(mask.pointee.sa_len) - offset)
            let present = unsafe bytes(mask, count: count).prefix(room)
            return present + Array(repeating: 0, count: count - present.count)
        #else
            return unsafe bytes(mask, count: count)
        #endif
    }

    /// The bytes of an IPv4 address (4) or of an IPv6 address (16).
    private static func bytes(_ address: UnsafeMutablePointer<sockaddr>, count: Int) -> [UInt8] {
        let offset =
            count == 4
            ? MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 4
            : MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8
        let start = unsafe UnsafeRawPointer(address) + offset
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The local address for packets to distant hosts, by the routing table. A datagram socket is
    /// connected to find it; nothing is sent.
    package static func routedAddress(_ family: AddressFamily) -> String? {
        // Addresses for documentation (RFC 5737, RFC 3849), which use the default route.
        let far = family == .ipv4 ? "192.0.2.1" : "2001:db8::1"
        guard
            var address = RawSocketAddress.lookUp(far, 9).first
        else { return nil }
        #if os(Linux)
            let type = http_server_datagram_type()
        #else
            let type = SOCK_DGRAM
        #endif
        let descriptor = socket(CInt(address.storage.ss_family), type, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        setNonBlocking(descriptor)
        let length = address.length
        let isRouted = unsafe address.withPointer { pointer, _ in
            unsafe connect(descriptor, pointer, length) == 0
        }
        guard isRouted else { return nil }
        var own = RawSocketAddress()
        guard unsafe own.withPointer({ unsafe getsockname(descriptor, $0, $1) }) == 0 else {
            return nil
        }
        return own.address?.host
    }
}

extension RawSocketAddress {
    /// - Parameter bytes: 4 bytes of IPv4 or 16 of IPv6, in network order.
    package static func text(_ bytes: [UInt8]) -> String {
        unsafe bytes.withUnsafeBytes {
            unsafe text(bytes.count == 4 ? AF_INET : AF_INET6, $0.baseAddress)
        }
    }
}

/// The part of the Internet from which an address can be reached.
public enum AddressScope: Hashable, Sendable {
    /// This machine alone: 127.0.0.0/8 and ::1.
    case loopback
    /// One link, not routed: 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291).
    case linkLocal
    /// One site: the private addresses of RFC 1918, the unique local addresses of RFC 4193, and the
    /// addresses that RFC 6598 reserves for networks between a provider and its customers.
    case `private`
    /// The whole Internet, unless a firewall blocks it.
    case global

    /// - Parameter bytes: 4 bytes of IPv4 or 16 of IPv6, in network order.
    package init(_ bytes: [UInt8]) {
        self = bytes.count == 4 ? Self.ofIPv4(bytes) : Self.ofIPv6(bytes)
    }

    private static func ofIPv4(_ bytes: [UInt8]) -> Self {
        switch (bytes[0], bytes[1]) {
        case (127, _): .loopback
        case (169, 254): .linkLocal
        case (10, _), (192, 168), (172, 16...31), (100, 64...127): .private
        default: .global
        }
    }

    private static func ofIPv6(_ bytes: [UInt8]) -> Self {
        guard bytes.count == 16 else { return .global }
        if bytes.dropLast().allSatisfy({ $0 == 0 }), bytes[15] == 1 { return .loopback }
        // An IPv4 address in the form of RFC 4291 section 2.5.5.2.
        if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return ofIPv4(Array(bytes[12...]))
        }
        switch (bytes[0], bytes[1] & 0xC0) {
        case (0xFE, 0x80): return .linkLocal
        // fec0::/10 was site-local before RFC 3879.
        case (0xFE, 0xC0), (0xFC...0xFD, _): return .private
        default: return .global
        }
    }
}

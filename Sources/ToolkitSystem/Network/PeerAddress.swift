#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The address of a peer in 24 bytes. Connections store this form and make text only on demand.
package struct PeerAddress: Hashable, Sendable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private var scope: UInt32 = 0
    private var port: UInt16 = 0
    private var family: UInt8 = 0

    package init() {}

    package init(_ raw: inout RawSocketAddress) {
        family = UInt8(truncatingIfNeeded: raw.storage.ss_family)
        let isIPv4 = CInt(family) == AF_INET
        let isIPv6 = CInt(family) == AF_INET6
        guard isIPv4 || isIPv6 else { return }
        (high, low, scope, port) = unsafe raw.withPointer { address, _ in
            if isIPv4 {
                return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    unsafe (UInt64($0.pointee.sin_addr.s_addr), 0, 0, $0.pointee.sin_port)
                }
            }
            return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                let words = unsafe withUnsafeBytes(of: $0.pointee.sin6_addr) {
                    unsafe (
                        $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                        $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                    )
                }
                return unsafe (words.0, words.1, $0.pointee.sin6_scope_id, $0.pointee.sin6_port)
            }
        }
    }

    /// An IPv4 address.
    /// - Parameter bytes: its bytes in order.
    package init(ipv4 bytes: (UInt8, UInt8, UInt8, UInt8), port: UInt16) {
        family = UInt8(truncatingIfNeeded: AF_INET)
        self.port = port.bigEndian
        unsafe withUnsafeMutableBytes(of: &high) {
            unsafe $0[0] = bytes.0
            unsafe $0[1] = bytes.1
            unsafe $0[2] = bytes.2
            unsafe $0[3] = bytes.3
        }
    }

    /// An IPv6 address.
    /// - Parameter words: its halves as numbers.
    package init(ipv6 words: (UInt64, UInt64), port: UInt16) {
        family = UInt8(truncatingIfNeeded: AF_INET6)
        self.port = port.bigEndian
        (high, low) = (words.0.bigEndian, words.1.bigEndian)
    }

    /// The bytes of an IPv4 address; `nil` for others.
    package var ipv4Bytes: (UInt8, UInt8, UInt8, UInt8)? {
        guard CInt(family) == AF_INET else { return nil }
        let word = UInt32(truncatingIfNeeded: high).littleEndian
        return (
            UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8),
            UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 24)
        )
    }

    /// The address as a number; an IPv4 address as the IPv6 address that it maps to (RFC 4291
    /// section 2.5.5.2). `nil` for Unix sockets.
    package var number: UInt128? {
        switch CInt(family) {
        case AF_INET:
            UInt128(0xFFFF) << 32 | UInt128(UInt32(truncatingIfNeeded: high).bigEndian)
        case AF_INET6: UInt128(UInt64(bigEndian: high)) << 64 | UInt128(UInt64(bigEndian: low))
        default: nil
        }
    }

    /// The address as text and port.
    package var address: SocketAddress {
        switch CInt(family) {
        case AF_INET:
            let bytes = unsafe withUnsafeBytes(of: UInt32(truncatingIfNeeded: high)) {
                unsafe Array($0)
            }
            let text = bytes.map(String.init).joined(separator: ".")
            return .ipv4(text, port: UInt16(bigEndian: port))
        case AF_INET6:
            var ip = (high, low)
            var host = unsafe withUnsafeBytes(of: &ip) {
                unsafe RawSocketAddress.text(AF_INET6, $0.baseAddress)
            }
            if scope != 0 { host += "%\(scope)" }
            return .ipv6(host, port: UInt16(bigEndian: port))
        default: return .unix("")
        }
    }

    /// As `client`, but `nil` for loopback addresses as well: a local proxy may connect for many
    /// clients.
    package var remoteClient: PeerNetwork? {
        guard let client, !client.isLoopback else { return nil }
        return client
    }

    /// The network that counts as one client: an IPv4 address, even if mapped into IPv6, or the
    /// first half of an IPv6 address, which belongs to one site. Link-local addresses share their
    /// first half, so the second half counts. `nil` for Unix sockets.
    package var client: PeerNetwork? {
        let isMapped = high == 0 && UInt64(bigEndian: low) >> 32 == 0xFFFF
        let isLinkLocal = UInt64(bigEndian: high) >> 54 == 0xFE80 >> 6
        let isLoopback = high == 0 && UInt64(bigEndian: low) == 1
        switch CInt(family) {
        case AF_INET: return PeerNetwork(bits: high, isIPv6: false)
        case AF_INET6 where isMapped: return PeerNetwork(bits: low >> 32, isIPv6: false)
        case AF_INET6 where isLoopback: return PeerNetwork(low, .loopback)
        case AF_INET6 where isLinkLocal: return PeerNetwork(low, .linkLocal)
        case AF_INET6: return PeerNetwork(bits: high, isIPv6: true)
        default: return nil
        }
    }
}

/// An IPv4 address, or the /64 prefix of an IPv6 address, because one site has 2^64 addresses. For
/// a link-local address and ::1, the second half.
package struct PeerNetwork: Hashable, Sendable {
    /// Part of the identity, because the second half of a link-local address may equal that of ::1,
    /// or the first half of a site's address.
    fileprivate enum Kind: Hashable, Sendable {
        case ipv4, ipv6, linkLocal, loopback
    }

    private let bits: UInt64
    private let kind: Kind

    /// - Parameter bits: an IPv4 address, or the first half of an IPv6 address, in network order.
    package init(bits: UInt64, isIPv6: Bool) {
        self.init(bits, isIPv6 ? .ipv6 : .ipv4)
    }

    fileprivate init(_ bits: UInt64, _ kind: Kind) {
        (self.bits, self.kind) = (bits, kind)
    }

    /// 127.0.0.0/8, or ::1.
    package var isLoopback: Bool {
        switch kind {
        case .ipv4: UInt32(bigEndian: UInt32(truncatingIfNeeded: bits)) >> 24 == 127
        case .loopback: true
        case .ipv6, .linkLocal: false
        }
    }
}

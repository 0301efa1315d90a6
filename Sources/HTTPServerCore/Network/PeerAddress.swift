#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The address of a peer in 24 bytes; a connection keeps it so and makes text only when asked.
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
    /// Whom the address belongs to as far as one can tell; `nil` for this machine itself, behind
    /// whose address a proxy may stand for anybody, and for Unix sockets.
    package var network: PeerNetwork? {
        switch CInt(family) {
        case AF_INET:
            let isLoopback = UInt32(bigEndian: UInt32(truncatingIfNeeded: high)) >> 24 == 127
            return isLoopback ? nil : PeerNetwork(bits: high, isIPv6: false)
        case AF_INET6:
            let isLoopback = high == 0 && UInt64(bigEndian: low) == 1
            return isLoopback ? nil : PeerNetwork(bits: high, isIPv6: true)
        default: return nil
        }
    }
}

/// An address of IPv4, or the network of one of IPv6: a site has 2^64 of those.
package struct PeerNetwork: Hashable, Sendable {
    private let bits: UInt64
    private let isIPv6: Bool

    package init(bits: UInt64, isIPv6: Bool) {
        (self.bits, self.isIPv6) = (bits, isIPv6)
    }
}

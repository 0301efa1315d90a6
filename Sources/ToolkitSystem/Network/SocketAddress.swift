#if canImport(Darwin)
    package import Darwin
#elseif canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#endif

/// Where a socket is bound or connected to.
public enum SocketAddress: Hashable, Sendable {
    /// An IPv4 address in dotted decimals, and a port.
    case ipv4(String, port: UInt16)
    /// An IPv6 address without brackets, with `%scope` if it has one, and a port.
    case ipv6(String, port: UInt16)
    /// The path of a Unix domain socket; empty for a peer that has no name.
    case unix(String)

    /// The port, `nil` for Unix sockets.
    public var port: UInt16? {
        switch self {
        case .ipv4(_, let port), .ipv6(_, let port): port
        case .unix: nil
        }
    }

    /// The address without the port, as logs show it.
    public var host: String {
        switch self {
        case .ipv4(let host, _), .ipv6(let host, _): host
        case .unix(let path): path.isEmpty ? "unix" : path
        }
    }
}

extension SocketAddress: CustomStringConvertible {
    /// Host and port as an authority has them, IPv6 in brackets.
    public var description: String {
        switch self {
        case .ipv4(let host, let port): "\(host):\(port)"
        case .ipv6(let host, let port): "[\(host)]:\(port)"
        case .unix(let path): path.isEmpty ? "unix" : "unix:\(path)"
        }
    }
}

/// The bytes of a `sockaddr`, as system calls use them.
package struct RawSocketAddress: Sendable {
    package var storage = sockaddr_storage()
    package var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    package init() {}

    package mutating func withPointer<Result>(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
    ) -> Result {
        unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe withUnsafeMutablePointer(to: &length) { unsafe body(address, $0) }
            }
        }
    }

    package var address: SocketAddress? {
        var copy = self
        switch CInt(storage.ss_family) {
        case AF_INET: return unsafe copy.withPointer { address, _ in unsafe Self.ipv4(address) }
        case AF_INET6: return unsafe copy.withPointer { address, _ in unsafe Self.ipv6(address) }
        case AF_UNIX:
            let count = Int(length)
            return unsafe copy.withPointer { address, _ in unsafe Self.unix(address, count) }
        default: return nil
        }
    }

    private static func ipv4(_ address: UnsafeMutablePointer<sockaddr>) -> SocketAddress {
        unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
            var ip = unsafe address.pointee.sin_addr
            let text = unsafe text(AF_INET, &ip)
            return unsafe .ipv4(text, port: UInt16(bigEndian: address.pointee.sin_port))
        }
    }

    private static func ipv6(_ address: UnsafeMutablePointer<sockaddr>) -> SocketAddress {
        unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
            var ip = unsafe address.pointee.sin6_addr
            var host = unsafe text(AF_INET6, &ip)
            let scope = unsafe address.pointee.sin6_scope_id
            if scope != 0 { host += "%\(scope)" }
            return unsafe .ipv6(host, port: UInt16(bigEndian: address.pointee.sin6_port))
        }
    }

    private static func unix(
        _ address: UnsafeMutablePointer<sockaddr>, _ length: Int
    ) -> SocketAddress {
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let raw = unsafe UnsafeRawBufferPointer(start: address, count: max(length, offset))
        let path = unsafe raw[offset...].prefix { $0 != 0 }
        return unsafe .unix(String(decoding: path, as: UTF8.self))
    }

    package static func text(_ family: CInt, _ address: UnsafeRawPointer?) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress, let address = unsafe address,
                let text = unsafe inet_ntop(family, address, base, 64)
            else { return "?" }
            return unsafe String(cString: text)
        }
    }
}

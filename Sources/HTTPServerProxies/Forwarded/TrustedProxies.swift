public import HTTPServerCore
package import ToolkitSystem

/// The proxies that a server trusts to name their clients.
///
/// ```swift
/// let proxies = try TrustedProxies(["10.0.0.0/8", "2001:db8::17", "loopback", "unix"])
/// ```
///
/// Trust an address only if no client can connect from it without passing the proxy: a program at a
/// trusted address can claim to be any client.
public struct TrustedProxies: Hashable, Sendable {
    private struct Network: Hashable {
        let number: UInt128
        /// The length of the prefix, of the 128 bits of `number`.
        let prefixLength: Int

        func contains(_ other: UInt128) -> Bool {
            prefixLength == 0 || (number ^ other) >> UInt128(128 - prefixLength) == 0
        }
    }

    private var networks: [Network] = []
    private var trustsUnixSockets = false

    /// Trusts no proxy.
    public init() {}

    /// Trusts proxies by their addresses.
    /// - Parameter names: addresses of IPv4 or IPv6, networks such as `10.0.0.0/8`, `loopback` for
    ///   127.0.0.0/8 and ::1, and `unix` for all peers of Unix sockets. An IPv4 address also stands
    ///   for its form in IPv6, `::ffff:192.0.2.1`.
    /// - Throws: for any other text, and for a network whose address has bits set after its prefix.
    public init(_ names: [String]) throws(TrustedProxyError) {
        for name in names { try add(name) }
    }

    private mutating func add(_ name: String) throws(TrustedProxyError) {
        switch name {
        case "unix": trustsUnixSockets = true
        case "loopback": networks += try [Self.network("127.0.0.0/8"), Self.network("::1")]
        default: networks.append(try Self.network(name))
        }
    }

    private static func network(_ text: String) throws(TrustedProxyError) -> Network {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = PeerAddress(host: String(parts[0]), port: 0),
            let number = address.number
        else { throw TrustedProxyError(text: text) }
        let width = address.ipv4Bytes == nil ? 128 : 32
        var length = width
        if parts.count == 2 {
            guard 1...3 ~= parts[1].utf8.count, parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                let given = Int(parts[1]), given <= width
            else { throw TrustedProxyError(text: text) }
            length = given
        }
        let prefixLength = 128 - width + length
        guard prefixLength == 128 || number << UInt128(prefixLength) == 0 else {
            throw TrustedProxyError(text: text)
        }
        return Network(number: number, prefixLength: prefixLength)
    }

    /// Whether a peer is one of these proxies.
    public func contains(_ address: SocketAddress) -> Bool {
        PeerAddress(address).map { contains($0) } ?? false
    }

    package func contains(_ peer: PeerAddress) -> Bool {
        guard let number = peer.number else { return trustsUnixSockets }
        return networks.contains { $0.contains(number) }
    }
}

/// The error for a text that does not name a proxy.
public struct TrustedProxyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text.
    public let text: String

    /// The expected forms, and the text.
    public var description: String {
        "expected an address, a network such as 10.0.0.0/8, loopback or unix, got \(text)"
    }
}

extension PeerAddress {
    /// - Parameter bytes: 4 bytes of IPv4 or 16 of IPv6, in network order; `nil` is returned for
    ///   other lengths.
    package init?(bytes: some Collection<UInt8>, port: UInt16) {
        func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
            bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        let bytes = Array(bytes)
        switch bytes.count {
        case 4: self.init(ipv4: (bytes[0], bytes[1], bytes[2], bytes[3]), port: port)
        case 16: self.init(ipv6: (word(bytes[..<8]), word(bytes[8...])), port: port)
        default: return nil
        }
    }

    /// - Parameter host: IPv4 in dotted decimals, or IPv6 without brackets and zone; `nil` is
    ///   returned for other text.
    package init?(host: String, port: UInt16) {
        // A NUL would end the text early for the system.
        guard host.utf8.count <= 45, !host.utf8.contains(0),
            let bytes = RawSocketAddress.bytes(host)
        else { return nil }
        self.init(bytes: bytes, port: port)
    }

    /// Parses the text form of an address, without its zone; `nil` if its host is not an address.
    package init?(_ address: SocketAddress) {
        switch address {
        case .ipv4(let host, let port): self.init(host: host, port: port)
        case .ipv6(let host, let port):
            self.init(host: String(host.prefix { $0 != "%" }), port: port)
        case .unix: self.init()
        }
    }
}

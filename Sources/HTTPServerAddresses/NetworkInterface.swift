public import ToolkitSystem

/// A network interface of this machine, at the time it was listed.
public struct NetworkInterface: Hashable, Sendable {
    /// An Internet address of an interface.
    public struct Address: Hashable, Sendable {
        /// The address as text, without prefix length and zone.
        public var host: String
        /// Whether the address is IPv4 or IPv6.
        public var family: AddressFamily
        /// The number of bits that name the network, up to 32 or 128.
        public var prefixLength: Int
        /// The scope of the address.
        public var scope: AddressScope

        /// - Parameters:
        ///   - bytes: 4 bytes of IPv4 or 16 of IPv6, in network order.
        ///   - prefixLength: the number of bits that name the network.
        package init(_ bytes: [UInt8], prefixLength: Int) {
            family = bytes.count == 4 ? .ipv4 : .ipv6
            scope = AddressScope(bytes)
            self.prefixLength = prefixLength
            host = RawSocketAddress.text(bytes)
        }
    }

    /// The system's description of an interface.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits, as Linux and the BSDs number them.
        public let rawValue: UInt32
        /// Creates a set from its bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The interface is switched on.
        public static var up: Self { Self(rawValue: 0x1) }
        /// The interface leads back to this machine.
        public static var loopback: Self { Self(rawValue: 0x8) }
        /// The interface has one other end, as tunnels do.
        public static var pointToPoint: Self { Self(rawValue: 0x10) }
        /// The interface has a carrier.
        public static var running: Self { Self(rawValue: 0x40) }

        package static var known: Self { [.up, .loopback, .pointToPoint, .running] }
    }

    /// The name, such as `eth0` or `en0`.
    public var name: String
    /// The system's number of the interface; the zone of its link-local addresses (RFC 4007).
    public var index: UInt32
    /// The system's description of the interface.
    public var flags: Flags
    /// The addresses, in the order of the system.
    public var addresses: [Address]

    /// The kind of the interface, as far as its name reveals it.
    public var kind: InterfaceKind {
        flags.contains(.loopback) ? .loopback : InterfaceKind(name: name)
    }

    package init(name: String, index: UInt32, flags: Flags, addresses: [Address] = []) {
        self.name = name
        self.index = index
        self.flags = flags.intersection(.known)
        self.addresses = addresses
    }

    /// All interfaces of the machine, including those that are off.
    ///
    /// This takes some 50 microseconds of system calls, and does not wait for the network.
    /// - Throws: the error of the system, such as too many open descriptors.
    public static func all() throws(SystemError) -> [NetworkInterface] {
        try Syscalls.interfaces().map { entry in
            NetworkInterface(
                name: entry.name, index: entry.index, flags: Flags(rawValue: entry.flags),
                addresses: entry.addresses.map { Address($0.bytes, prefixLength: $0.prefixLength) })
        }
    }

    /// The address from which this machine would reach the Internet, or its only network; `nil` if
    /// there is none. Users call it "the address of this machine".
    ///
    /// The address is read from the routing table; nothing is sent.
    /// - Parameter family: the family of the address.
    public static func primaryAddress(_ family: AddressFamily = .ipv4) -> Address? {
        guard let interfaces = try? all() else { return nil }
        return primaryAddress(family, of: interfaces, routed: Syscalls.routedAddress(family))
    }

    /// - Parameter routed: the address that the routing table chooses.
    package static func primaryAddress(
        _ family: AddressFamily, of interfaces: [NetworkInterface], routed: String?
    ) -> Address? {
        let usable = interfaces.filter { $0.flags.contains(.up) && !$0.flags.contains(.loopback) }
        let addresses = usable.sorted { $0.kind.rank < $1.kind.rank }
            .flatMap(\.addresses)
            .filter { $0.family == family && $0.scope != .loopback }
        // The search keeps the order of the interfaces.
        return addresses.first { $0.host == routed }
            ?? addresses.first { $0.scope != .linkLocal } ?? addresses.first
    }
}

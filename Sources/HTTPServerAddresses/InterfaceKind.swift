/// The kind of a network interface, as far as its name reveals it.
public enum InterfaceKind: Hashable, Sendable {
    /// The loopback interface, which leads back to this machine.
    case loopback
    /// A cable.
    case ethernet
    /// A wireless network.
    case wifi
    /// A mobile network.
    case cellular
    /// A network over USB, such as one to a tethered phone.
    case usb
    /// Several interfaces joined into one: a personal hotspot or Internet sharing on Apple systems,
    /// the network of containers and virtual machines on Linux.
    case bridge
    /// A tunnel, such as that of a virtual private network.
    case tunnel
    /// One end of a link within this machine, or to nearby machines without a network.
    case virtual
    /// The name reveals no kind.
    case unknown

    /// - Parameter name: the name of the interface, as on the platform that this was built for.
    package init(name: String) {
        #if canImport(Darwin)
            self = Self.onDarwin(name)
        #else
            self = Self.onLinux(name)
        #endif
    }

    /// systemd names interfaces by kind and location (`enp3s0`, `wlan0`, `wwp0s1`); other
    /// interfaces are named after their driver.
    package static func onLinux(_ name: String) -> Self {
        kind(
            of: name,
            [
                ("lo", .loopback), ("eth", .ethernet), ("wl", .wifi), ("ath", .wifi),
                ("wwan", .cellular), ("ww", .cellular), ("rmnet", .cellular), ("usb", .usb),
                ("rndis", .usb), ("enx", .ethernet), ("en", .ethernet), ("bond", .ethernet),
                ("docker", .bridge), ("virbr", .bridge), ("br", .bridge), ("lxcbr", .bridge),
                ("lxdbr", .bridge), ("vmnet", .bridge), ("tun", .tunnel), ("tap", .tunnel),
                ("wg", .tunnel), ("ppp", .tunnel), ("ipsec", .tunnel), ("tailscale", .tunnel),
                ("zt", .tunnel), ("gre", .tunnel), ("sit", .tunnel), ("veth", .virtual),
                ("dummy", .virtual), ("ifb", .virtual), ("macvlan", .virtual),
            ])
    }

    /// `en` has no kind: `en0` is wireless on a phone, and wired or wireless on a computer.
    package static func onDarwin(_ name: String) -> Self {
        kind(
            of: name,
            [
                ("lo", .loopback), ("pdp_ip", .cellular), ("bridge", .bridge), ("ap", .bridge),
                ("utun", .tunnel), ("ipsec", .tunnel), ("ppp", .tunnel), ("gif", .tunnel),
                ("stf", .tunnel), ("awdl", .virtual), ("llw", .virtual), ("anpi", .virtual),
            ])
    }

    private static func kind(of name: String, _ prefixes: [(String, Self)]) -> Self {
        prefixes.first { name.hasPrefix($0.0) }?.1 ?? .unknown
    }

    /// The rank of the interface as a way to reach this machine; lower is better.
    package var rank: Int {
        switch self {
        case .ethernet, .wifi: 0
        case .unknown: 1
        case .usb: 2
        case .bridge: 3
        case .tunnel: 4
        case .cellular: 5
        case .virtual: 6
        case .loopback: 7
        }
    }
}

import HTTPServerAddresses
import HTTPServerCore
import Testing

@Suite("Network interfaces")
struct NetworkInterfaceTests {
    @Test("The loopback interface is listed with 127.0.0.1")
    func loopback() throws {
        let interfaces = try NetworkInterface.all()
        let loopback = try #require(interfaces.first { $0.flags.contains(.loopback) })
        #expect(loopback.flags.contains(.up))
        #expect(loopback.kind == .loopback)
        #expect(loopback.index > 0)
        let address = try #require(loopback.addresses.first { $0.host == "127.0.0.1" })
        #expect(address.family == .ipv4)
        #expect(address.prefixLength == 8)
        #expect(address.scope == .loopback)
    }

    @Test("Each interface is listed once")
    func once() throws {
        let names = try NetworkInterface.all().map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test(
        "The kind of an interface follows from its name on Linux",
        arguments: [
            ("lo", InterfaceKind.loopback), ("eth0", .ethernet), ("enp3s0", .ethernet),
            ("enx00e04c", .ethernet), ("wlan0", .wifi), ("wlp2s0", .wifi), ("wwan0", .cellular),
            ("wwp0s2", .cellular), ("usb0", .usb), ("docker0", .bridge), ("br-1a2b", .bridge),
            ("virbr0", .bridge), ("tun0", .tunnel), ("wg0", .tunnel), ("veth12", .virtual),
            ("dummy0", .virtual), ("fancy0", .unknown), ("", .unknown),
        ])
    func linuxKinds(_ name: String, _ kind: InterfaceKind) {
        #expect(InterfaceKind.onLinux(name) == kind)
    }

    @Test(
        "The kind of an interface follows from its name on Darwin",
        arguments: [
            ("lo0", InterfaceKind.loopback), ("en0", .unknown), ("pdp_ip0", .cellular),
            ("bridge100", .bridge), ("ap1", .bridge), ("utun3", .tunnel), ("awdl0", .virtual),
            ("llw0", .virtual),
        ])
    func darwinKinds(_ name: String, _ kind: InterfaceKind) {
        #expect(InterfaceKind.onDarwin(name) == kind)
    }

    // MARK: The primary address

    private let machine = [
        NetworkInterface(
            name: "lo", index: 1, flags: [.up, .loopback],
            addresses: [.init([127, 0, 0, 1], prefixLength: 8)]),
        NetworkInterface(
            name: "docker0", index: 2, flags: .up,
            addresses: [.init([172, 17, 0, 1], prefixLength: 16)]),
        NetworkInterface(
            name: "wlan0", index: 3, flags: .up,
            addresses: [
                .init([169, 254, 7, 7], prefixLength: 16),
                .init([192, 168, 1, 7], prefixLength: 24),
            ]),
        NetworkInterface(
            name: "eth1", index: 4, flags: [],
            addresses: [.init([10, 0, 0, 4], prefixLength: 8)]),
    ]

    @Test("The primary address is that of the routing table")
    func routed() {
        let address = NetworkInterface.primaryAddress(.ipv4, of: machine, routed: "172.17.0.1")
        #expect(address?.host == "172.17.0.1")
    }

    @Test("Without a route the primary address is that of a real, active interface")
    func withoutRoute() {
        #expect(
            NetworkInterface.primaryAddress(.ipv4, of: machine, routed: nil)?.host == "192.168.1.7")
        #expect(NetworkInterface.primaryAddress(.ipv6, of: machine, routed: nil) == nil)
        let onlyLoopback = Array(machine.prefix(1))
        #expect(NetworkInterface.primaryAddress(.ipv4, of: onlyLoopback, routed: nil) == nil)
    }

    @Test("A link-local address is the primary one if there is no other")
    func linkLocal() {
        var machine = machine
        machine[2].addresses.removeLast()
        machine[1].addresses = []
        #expect(
            NetworkInterface.primaryAddress(.ipv4, of: machine, routed: nil)?.host == "169.254.7.7")
    }

    @Test("This machine's primary address belongs to one of its interfaces")
    func thisMachine() throws {
        guard let address = NetworkInterface.primaryAddress() else {
            // A machine without a network: then no interface but loopback has an address.
            let others = try NetworkInterface.all().filter {
                $0.flags.contains(.up) && !$0.flags.contains(.loopback)
            }
            #expect(others.flatMap(\.addresses).allSatisfy { $0.family == .ipv6 })
            return
        }
        #expect(try NetworkInterface.all().flatMap(\.addresses).contains(address))
        #expect(address.scope != .loopback)
    }
}

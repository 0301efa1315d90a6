import Testing
import ToolkitSystem

@Suite("The identity of a peer by its address")
struct PeerAddressTests {
    private static let fe80: UInt64 = 0xFE80_0000_0000_0000

    private static func address(_ high: UInt64, _ low: UInt64, port: UInt16 = 1) -> PeerAddress {
        PeerAddress(ipv6: (high, low), port: port)
    }

    @Test(
        "Only loopback addresses are local clients",
        arguments: [
            (address(0, 1), true), (PeerAddress(ipv4: (127, 0, 0, 1), port: 1), true),
            (PeerAddress(ipv4: (127, 9, 9, 9), port: 1), true),
            (address(0, 0xFFFF_7F00_0001), true),
            (address(fe80, 1), false), (address(1, 5), false), (address(0, 2), false),
            (PeerAddress(ipv4: (0, 0, 0, 1), port: 1), false),
            (address(0x2001_0DB8_0000_0000, 1), false),
        ] as [(PeerAddress, Bool)])
    func loopback(_ address: PeerAddress, _ isLoopback: Bool) {
        #expect((address.remoteClient == nil) == isLoopback)
        #expect(address.client?.isLoopback == isLoopback)
    }

    @Test("Each link-local address is a separate client")
    func linkLocal() {
        let one = Self.address(Self.fe80, 1)
        #expect(one.client == Self.address(Self.fe80, 1, port: 2).client)
        let site: UInt64 = 0x2001_0DB8_0000_0001
        let others = [
            Self.address(0, 1), Self.address(1, 1), Self.address(Self.fe80, 2),
            Self.address(site, 9), Self.address(Self.fe80, site),
        ]
        #expect(Set((others + [one]).map(\.client)).count == 6)
    }
}

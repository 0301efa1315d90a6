import HTTPServerAddresses
import HTTPServerCore
import Testing

@Suite("Scopes of addresses")
struct AddressScopeTests {
    @Test(
        "RFC 1122, 1918, 3927, 6598: The scope of IPv4 addresses",
        arguments: [
            ([127, 0, 0, 1], AddressScope.loopback), ([127, 255, 1, 2], .loopback),
            ([10, 0, 0, 1], .private), ([11, 0, 0, 1], .global), ([9, 255, 255, 255], .global),
            ([172, 15, 0, 1], .global), ([172, 16, 0, 1], .private), ([172, 31, 0, 1], .private),
            ([172, 32, 0, 1], .global), ([192, 168, 1, 1], .private), ([192, 167, 1, 1], .global),
            ([100, 63, 0, 1], .global), ([100, 64, 0, 1], .private), ([100, 127, 0, 1], .private),
            ([100, 128, 0, 1], .global), ([169, 254, 1, 1], .linkLocal),
            ([169, 253, 1, 1], .global), ([203, 0, 113, 9], .global),
        ] as [([UInt8], AddressScope)])
    func ipv4(_ bytes: [UInt8], _ scope: AddressScope) {
        #expect(AddressScope(bytes) == scope)
        #expect(NetworkInterface.Address(bytes, prefixLength: 24).scope == scope)
    }

    @Test(
        "RFC 4291, 4193: The scope of IPv6 addresses",
        arguments: [
            ([0xFE, 0x80], AddressScope.linkLocal), ([0xFE, 0xBF], .linkLocal),
            ([0xFE, 0xC0], .private), ([0xFC, 0], .private), ([0xFD, 1], .private),
            ([0xFE, 0], .global), ([0x20, 0x01], .global), ([0, 1], .global),
        ] as [([UInt8], AddressScope)])
    func ipv6(_ start: [UInt8], _ scope: AddressScope) {
        #expect(AddressScope(start + Array(repeating: 0, count: 14)) == scope)
    }

    @Test("IPv6 has a single loopback address, and mapped IPv4 addresses have the scope of IPv4")
    func special() {
        #expect(AddressScope(Array(repeating: 0, count: 15) + [1]) == .loopback)
        #expect(AddressScope(Array(repeating: 0, count: 15) + [2]) == .global)
        let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]
        #expect(AddressScope(mapped + [192, 168, 0, 1]) == .private)
        #expect(AddressScope(mapped + [127, 0, 0, 1]) == .loopback)
    }
}

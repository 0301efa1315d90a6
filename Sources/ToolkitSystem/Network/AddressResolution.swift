// The addresses that a host or an interface stands for.
extension RawSocketAddress {
    /// - Parameters:
    ///   - host: a name or an address. `localhost` means the loopback addresses of both families,
    ///     regardless of the hosts file; `*` and an empty name mean all addresses.
    ///   - port: the port of each address.
    ///   - family: the only family; `nil` for both.
    package static func resolve(
        host: String, port: UInt16, family: AddressFamily?
    ) throws(ListenError) -> [RawSocketAddress] {
        let hosts =
            switch host {
            case "localhost": ["127.0.0.1", "::1"]
            case "", "*": ["0.0.0.0", "::"]
            default: [host]
            }
        var addresses: [RawSocketAddress] = []
        // A system without IPv6 finds no IPv6 addresses.
        for host in hosts { addresses += lookUp(host, port) }
        if let family { addresses.removeAll { $0.family != family } }
        guard !addresses.isEmpty else { throw .addressNotAvailable(host) }
        return addresses
    }

    /// The addresses that an interface has now.
    package static func addresses(
        ofInterface name: String, port: UInt16, family: AddressFamily?
    ) throws(ListenError) -> [RawSocketAddress] {
        let interfaces: [InterfaceEntry]
        do throws(SystemError) {
            interfaces = try Syscalls.interfaces()
        } catch {
            throw .system("interface \(name)", error)
        }
        guard let interface = interfaces.first(where: { $0.name == name }) else {
            throw .noSuchInterface(name)
        }
        var addresses: [RawSocketAddress] = []
        for address in interface.addresses where family == nil || address.family == family {
            // A link-local address means nothing without the interface (RFC 4007 section 6).
            let host = RawSocketAddress.text(address.bytes)
            addresses += lookUp(address.isLinkLocalIPv6 ? "\(host)%\(name)" : host, port)
        }
        guard !addresses.isEmpty else { throw .addressNotAvailable("interface \(name)") }
        return addresses
    }
}

public import ToolkitSystem

/// A URL at which a server can be reached, with its address and interface.
public struct ServerURL: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public var scheme: String
    /// The address as text, without brackets and zone.
    public var host: String
    /// The interface of a link-local IPv6 address, by name (RFC 4007); otherwise `nil`.
    public var zone: String?
    /// The port.
    public var port: UInt16
    /// Whether the address is IPv4 or IPv6.
    public var family: AddressFamily
    /// The scope of the address.
    public var scope: AddressScope
    /// The name of the interface that has the address; `nil` if no listed interface has it.
    public var interface: String?
    /// The kind of that interface.
    public var kind: InterfaceKind

    package init(
        scheme: String = "http", host: String, zone: String? = nil, port: UInt16,
        family: AddressFamily, scope: AddressScope, interface: String?, kind: InterfaceKind
    ) {
        self.scheme = scheme
        self.host = host
        self.zone = zone
        self.port = port
        self.family = family
        self.scope = scope
        self.interface = interface
        self.kind = kind
    }

    /// The URL: IPv6 in brackets (RFC 3986 section 3.2.2), the zone after `%25` (RFC 6874), the
    /// port unless it is the scheme's default, and the path `/`.
    public var text: String {
        let isUsual = port == (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(authorityHost)\(isUsual ? "" : ":\(port)")/"
    }

    /// The address as in an authority, without the port.
    package var authorityHost: String { family == .ipv6 ? "[\(host)\(zoneText)]" : host }

    /// The same as `text`.
    public var description: String { text }

    /// Whether web browsers can open the URL: they refuse zones. Other clients, such as curl,
    /// accept a zone on a machine whose interface has the same name.
    public var worksInBrowsers: Bool { zone == nil }

    private var zoneText: String {
        guard let zone else { return "" }
        var text = "%25"
        for byte in zone.utf8 {
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII,
                character.isLetter || character.isNumber || "-._~".contains(character)
            {
                text.append(character)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += (digits.count == 1 ? "%0" : "%") + digits
            }
        }
        return text
    }

    /// The rank of the URL among those of a server; the lowest is the most useful.
    fileprivate var rank: Int {
        let distance =
            switch scope {
            case .global, .private: 0
            case .linkLocal: 2
            case .loopback: 4
            }
        return (distance + (family == .ipv6 ? 1 : 0)) * 8 + kind.rank
    }
}

/// The address that a listener is bound to.
package struct BoundAddress: Hashable, Sendable {
    package var address: SocketAddress
    /// Whether an IPv6 socket accepts IPv4 connections, too, as inherited sockets may.
    package var isDualStack: Bool

    /// Whether its connections are encrypted.
    package var isSecure: Bool

    package init(_ address: SocketAddress, isDualStack: Bool = false, isSecure: Bool = false) {
        self.address = address
        self.isDualStack = isDualStack
        self.isSecure = isSecure
    }
}

extension ServerURL {
    /// The URLs that lead to listeners, the most useful first: routable addresses before link-local
    /// and loopback ones, IPv4 before IPv6, wired and wireless networks before bridges and
    /// tunnels. Among equals, the address from which the machine reaches the Internet comes first.
    /// - Parameters:
    ///   - bound: the addresses that the listeners are bound to.
    ///   - interfaces: the interfaces of the machine.
    ///   - routed: the addresses from which the machine reaches the Internet.
    package static func list(
        _ bound: [BoundAddress], interfaces: [NetworkInterface], routed: [String] = []
    ) -> [ServerURL] {
        var urls: [ServerURL] = []
        for bound in bound {
            for var url in Self.urls(bound, interfaces) {
                if bound.isSecure { url.scheme = "https" }
                if !urls.contains(url) { urls.append(url) }
            }
        }
        let ranked = urls.enumerated().map { index, url in
            (rank: url.rank, isRouted: routed.contains(url.host), index: index, url: url)
        }
        return ranked.sorted {
            if $0.rank != $1.rank { return $0.rank < $1.rank }
            if $0.isRouted != $1.isRouted { return $0.isRouted }
            return $0.index < $1.index
        }.map(\.url)
    }

    private static func urls(
        _ bound: BoundAddress, _ interfaces: [NetworkInterface]
    ) -> [ServerURL] {
        switch bound.address {
        case .unix: return []
        case .ipv4("0.0.0.0", let port): return all(.ipv4, port, interfaces)
        case .ipv6("::", let port):
            let others = bound.isDualStack ? all(.ipv4, port, interfaces) : []
            return others + all(.ipv6, port, interfaces)
        case .ipv4(let host, let port): return [url(host, .ipv4, port, interfaces)]
        case .ipv6(let host, let port): return [url(host, .ipv6, port, interfaces)]
        }
    }

    private static func all(
        _ family: AddressFamily, _ port: UInt16, _ interfaces: [NetworkInterface]
    ) -> [ServerURL] {
        interfaces.filter { $0.flags.contains(.up) }.flatMap { interface in
            interface.addresses.filter { $0.family == family }.map {
                url($0.host, $0.scope, family, port, interface)
            }
        }
    }

    /// - Parameter host: an address that a listener is bound to, possibly with `%zone`.
    private static func url(
        _ host: String, _ family: AddressFamily, _ port: UInt16, _ interfaces: [NetworkInterface]
    ) -> ServerURL {
        let parts = host.split(separator: "%", maxSplits: 1).map(String.init)
        let address = parts.first ?? host
        let zone = parts.count > 1 ? parts[1] : nil
        let interface = interfaces.first { interface in
            (zone == nil || zone == interface.name || zone == String(interface.index))
                && interface.addresses.contains { $0.host == address }
        }
        let scope = RawSocketAddress.bytes(address).map(AddressScope.init) ?? .global
        return url(address, scope, family, port, interface)
    }

    private static func url(
        _ host: String, _ scope: AddressScope, _ family: AddressFamily, _ port: UInt16,
        _ interface: NetworkInterface?
    ) -> ServerURL {
        let needsZone = family == .ipv6 && scope == .linkLocal
        return ServerURL(
            host: host, zone: needsZone ? interface?.name : nil, port: port, family: family,
            scope: scope, interface: interface?.name,
            kind: interface?.kind ?? (scope == .loopback ? .loopback : .unknown))
    }
}

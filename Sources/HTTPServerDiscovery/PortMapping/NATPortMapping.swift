internal import ToolkitSystem

/// A protocol by which gateways map ports.
public enum NATPortMappingProtocol: Hashable, Sendable {
    /// NAT-PMP (RFC 6886), by libnatpmp.
    case natPMP
    /// UPnP IGD, the services WANIPConnection and WANPPPConnection, by libminiupnpc.
    case upnp
    /// The protocol that the system's service has chosen: NAT-PMP, PCP (RFC 6887) or UPnP IGD.
    /// Apple's systems do not report which.
    case system
}

/// The settings for a request to forward a port of the gateway to this machine.
///
/// Apple's systems choose the gateway, the protocol and the timeouts themselves; there only
/// `externalPort`, `lifetime`, `retryInterval` and `isSecure` are used.
public struct NATPortMappingConfiguration: Hashable, Sendable {
    /// The requested port of the gateway; `nil` for the server's own port. The gateway may choose
    /// another.
    public var externalPort: UInt16?
    /// The lifetime of a mapping that is not renewed, 1 second to a day. A mapping is renewed after
    /// half of the lifetime that the gateway granted.
    public var lifetime = Duration.seconds(7200)
    /// The IPv4 address of the gateway; `nil` for the gateway of the default route.
    public var gateway: String?
    /// The protocols, tried one after another until one maps the port; `system` has a meaning only
    /// on Apple's systems.
    public var protocols: [NATPortMappingProtocol] = [.natPMP, .upnp]
    /// The time to wait for each answer by NAT-PMP, or for all answers by UPnP. A request by
    /// NAT-PMP is repeated meanwhile, first after a quarter of a second. By UPnP, the search for a
    /// router alone takes one to four seconds.
    public var patience = Duration.seconds(10)
    /// The time to the next attempt if the gateway did not map the port.
    public var retryInterval = Duration.seconds(300)
    /// Whether the server speaks TLS, so that the URL of the mapping begins with `https`.
    public var isSecure = false

    /// Creates the default configuration.
    public init() {}
}

/// A port of a gateway that leads to this machine.
public struct NATMapping: Hashable, Sendable {
    /// The protocol by which it was mapped.
    public var `protocol`: NATPortMappingProtocol
    /// The external IPv4 address of the gateway.
    public var externalAddress: String
    /// The port of the gateway.
    public var externalPort: UInt16
    /// The port of the server.
    public var internalPort: UInt16
    /// Whether the server speaks TLS.
    public var isSecure = false
    /// The time for which the gateway keeps the mapping; zero if it keeps the mapping until its
    /// removal, as some routers with UPnP always do. The mapping is renewed in either case.
    public var lifetime: Duration

    /// The URL of the server from the external side of the gateway.
    public var url: String {
        let isUsual = externalPort == (isSecure ? 443 : 80)
        let port = isUsual ? "" : ":\(externalPort)"
        return "\(isSecure ? "https" : "http")://\(externalAddress)\(port)/"
    }

    /// The scope of the external address. Any value but `global` means that another gateway is
    /// between this one and the Internet, so the URL does not work from outside.
    public var scope: AddressScope {
        RawSocketAddress.bytes(externalAddress).map(AddressScope.init) ?? .global
    }
}

/// The state of a mapping.
public enum NATPortMappingEvent: Hashable, Sendable {
    /// The gateway now forwards this port to the server; also sent when address or port have
    /// changed.
    case mapped(NATMapping)
    /// The gateway does not map the port. The next attempt follows after `retryInterval`.
    case failed(NATPortMappingError)
    /// The mapping was removed.
    case removed
}

/// The reason why a gateway does not map a port. If several protocols fail, the error is that of
/// the first protocol to which the gateway answered.
public enum NATPortMappingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no default route, or the configured address is not IPv4.
    case noGateway
    /// The gateway does not answer in time, or refuses connections to the port of the protocol.
    case noAnswer
    /// The gateway uses another version of the protocol, does not know the request, or sends an
    /// unreadable answer.
    case notSupported
    /// The gateway refuses by configuration (result code 2 of NAT-PMP, error 606 of UPnP).
    case refused
    /// The gateway has no external address (result code 3 of NAT-PMP).
    case networkFailure
    /// The gateway has no resources for another mapping (result code 4 of NAT-PMP, errors 603 and
    /// 728 of UPnP).
    case outOfResources
    /// Other machines use the requested port of the gateway and the sixteen ports after it (errors
    /// 718 and 729 of UPnP).
    case portTaken
    /// Another error of UPnP, by its number.
    case upnp(code: Int)
    /// Another error of the library, by its number in `natpmp.h`, or `dns_sd.h` on Apple's systems.
    case system(code: CInt)

    /// The error in one line.
    public var description: String {
        switch self {
        case .noGateway: "there is no gateway"
        case .noAnswer: "the gateway does not answer requests to map a port"
        case .notSupported: "the gateway does not support the request"
        case .refused: "the gateway refuses to map ports"
        case .networkFailure: "the gateway has no external address"
        case .outOfResources: "the gateway has no room for another mapping"
        case .portTaken: "other machines have the port of the gateway, and those after it"
        case .upnp(let code): "UPnP error \(code)"
        case .system(let code): "port mapping: error \(code)"
        }
    }
}

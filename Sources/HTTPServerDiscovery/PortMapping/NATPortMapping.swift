internal import ToolkitSystem

/// A protocol by which gateways map ports.
public enum NATPortMappingProtocol: Hashable, Sendable {
    /// NAT-PMP (RFC 6886), by libnatpmp.
    case natPMP
    /// UPnP IGD, the services WANIPConnection and WANPPPConnection, by libminiupnpc.
    case upnp
    /// The one that the system's service has found: NAT-PMP, PCP (RFC 6887) or UPnP IGD. Apple's
    /// systems do not say which.
    case system
}

/// How to ask a gateway to forward one of its ports to this machine.
///
/// Apple's systems decide the gateway, the protocol and the time for answers by themselves; only
/// `externalPort`, `lifetime` and `retryInterval` count there.
public struct NATPortMappingConfiguration: Hashable, Sendable {
    /// The requested port of the gateway; `nil` for the server's own. The gateway may choose
    /// another.
    public var externalPort: UInt16?
    /// How long a mapping lasts that is not renewed, 1 second to a day. It is renewed when half
    /// of what the gateway granted has passed.
    public var lifetime = Duration.seconds(7200)
    /// The IPv4 address of the gateway; `nil` for that of the default route.
    public var gateway: String?
    /// The protocols, tried one after another until the gateway maps the port by one; `system`
    /// counts on Apple's systems only.
    public var protocols: [NATPortMappingProtocol] = [.natPMP, .upnp]
    /// How long an answer is waited for: one by NAT-PMP, all of them by UPnP. A request by NAT-PMP is
    /// repeated meanwhile, at first after a quarter of a second; the search for a router by UPnP alone
    /// takes one to four seconds.
    public var patience = Duration.seconds(10)
    /// After how long it is tried again when the gateway did not map the port.
    public var retryInterval = Duration.seconds(300)
    /// Whether the server speaks TLS: the URL of the mapping begins with `https` then.
    public var isSecure = false

    /// Creates the usual configuration.
    public init() {}
}

/// A port of a gateway that leads to this machine.
public struct NATMapping: Hashable, Sendable {
    /// The protocol by which it was mapped.
    public var `protocol`: NATPortMappingProtocol
    /// The IPv4 address of the gateway on its other side.
    public var externalAddress: String
    /// The port of the gateway.
    public var externalPort: UInt16
    /// The port of the server.
    public var internalPort: UInt16
    /// Whether the server speaks TLS.
    public var isSecure = false
    /// How long the gateway keeps the mapping; zero when it keeps it until it is taken back, as some
    /// routers with UPnP keep all of theirs. It is renewed in either case.
    public var lifetime: Duration

    /// The URL that leads to the server from the other side of the gateway.
    public var url: String {
        let isUsual = externalPort == (isSecure ? 443 : 80)
        let port = isUsual ? "" : ":\(externalPort)"
        return "\(isSecure ? "https" : "http")://\(externalAddress)\(port)/"
    }

    /// How far the address reaches: anything but `global` means that there is another gateway
    /// behind this one, and that the URL leads nowhere from outside.
    public var scope: AddressScope {
        RawSocketAddress.bytes(externalAddress).map(AddressScope.init) ?? .global
    }
}

/// The state of a mapping.
public enum NATPortMappingEvent: Hashable, Sendable {
    /// The gateway leads this port to the server now; also when address or port have changed.
    case mapped(NATMapping)
    /// The gateway does not. It is tried again after `retryInterval`.
    case failed(NATPortMappingError)
    /// The mapping was taken back.
    case removed
}

/// Why a gateway does not map a port. When several protocols fail it is the error of the first to
/// which the gateway gave an answer.
public enum NATPortMappingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no default route, or the configured address is none of IPv4.
    case noGateway
    /// The gateway does not answer in time, or has nothing at the port of the protocol.
    case noAnswer
    /// The gateway speaks another version of the protocol, does not know the request, or gives an
    /// answer that cannot be read.
    case notSupported
    /// The gateway refuses by configuration (result code 2 of NAT-PMP, error 606 of UPnP).
    case refused
    /// The gateway has no external address (result code 3 of NAT-PMP).
    case networkFailure
    /// The gateway has no room for another mapping (result code 4 of NAT-PMP, errors 603 and 728
    /// of UPnP).
    case outOfResources
    /// Other machines have the requested port of the gateway and the sixteen ports after it (errors
    /// 718 and 729 of UPnP).
    case portTaken
    /// Another error of UPnP, by its number.
    case upnp(code: Int)
    /// Another error of the library, by its number in `natpmp.h`, or `dns_sd.h` on Apple's systems.
    case system(code: CInt)

    /// One line that says why.
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

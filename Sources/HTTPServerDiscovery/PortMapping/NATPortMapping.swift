#if os(Linux) || os(macOS)
    internal import ToolkitSystem

    /// How to ask a gateway to forward one of its ports to this machine (RFC 6886).
    public struct NATPortMappingConfiguration: Hashable, Sendable {
        /// The requested port of the gateway; `nil` for the server's own. The gateway may choose
        /// another.
        public var externalPort: UInt16?
        /// How long a mapping lasts that is not renewed, 1 second to a day. It is renewed when half
        /// of what the gateway granted has passed.
        public var lifetime = Duration.seconds(7200)
        /// The IPv4 address of the gateway; `nil` for that of the default route.
        public var gateway: String?
        /// How long an answer is waited for. The request is repeated meanwhile, at first after a
        /// quarter of a second.
        public var patience = Duration.seconds(10)
        /// After how long it is tried again when the gateway did not map the port.
        public var retryInterval = Duration.seconds(300)

        /// Creates the usual configuration.
        public init() {}
    }

    /// A port of a gateway that leads to this machine.
    public struct NATMapping: Hashable, Sendable {
        /// The IPv4 address of the gateway on its other side.
        public var externalAddress: String
        /// The port of the gateway.
        public var externalPort: UInt16
        /// The port of the server.
        public var internalPort: UInt16
        /// The mapping that the gateway granted.
        public var lifetime: Duration

        /// The URL that leads to the server from the other side of the gateway.
        public var url: String {
            "http://\(externalAddress)\(externalPort == 80 ? "" : ":\(externalPort)")/"
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

    /// Why a gateway does not map a port.
    public enum NATPortMappingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is no default route, or the configured address is none of IPv4.
        case noGateway
        /// The gateway does not answer in time, or has nothing at the port of the protocol.
        case noAnswer
        /// The gateway speaks another version of the protocol, or does not know the request.
        case notSupported
        /// The gateway refuses by configuration (result code 2).
        case refused
        /// The gateway has no external address (result code 3).
        case networkFailure
        /// The gateway has no room for another mapping (result code 4).
        case outOfResources
        /// Another error of libnatpmp, by its number in `natpmp.h`.
        case system(code: CInt)

        /// One line that says why.
        public var description: String {
            switch self {
            case .noGateway: "there is no gateway"
            case .noAnswer: "the gateway does not answer NAT-PMP"
            case .notSupported: "the gateway does not support the request"
            case .refused: "the gateway refuses to map ports"
            case .networkFailure: "the gateway has no external address"
            case .outOfResources: "the gateway has no room for another mapping"
            case .system(let code): "NAT-PMP error \(code)"
            }
        }
    }

    /// Has a gateway lead one of its ports to a server, so that it can be reached from outside.
    ///
    /// ```swift
    /// let mapper = NATPortMapper()
    /// mapper.start(port: 8080)
    /// for await event in mapper.events() { print(event) }
    /// ```
    ///
    /// The protocol is NAT-PMP (RFC 6886), by libnatpmp. Everything runs on a separate queue;
    /// nothing here waits, and a failure is an event. The mapping is renewed until `stop`, and
    /// requested again when the networks of the machine change. A mapped port is open to the whole
    /// internet: make sure that the server requires a login.
    public final class NATPortMapper: Sendable {
        private let session: NATPortMappingSession

        /// Creates a mapper; it does nothing until `start`.
        public init(_ configuration: NATPortMappingConfiguration = NATPortMappingConfiguration()) {
            session = NATPortMappingSession(configuration)
        }

        deinit {
            session.stop {}
        }

        /// Asks for a mapping to a port of this machine, and keeps it.
        /// - Parameter port: where the server listens.
        public func start(port: UInt16) {
            session.start(port: port)
        }

        /// Takes the mapping back, and returns when the gateway has said so, or after a second.
        public func stop() async {
            await withCheckedContinuation { done in session.stop { done.resume() } }
        }

        /// The mapping as it is now; `nil` when there is none.
        public var mapping: NATMapping? { session.mapping }

        /// The URL that leads to the server from outside; `nil` when there is no mapping.
        public var url: String? { mapping?.url }

        /// The further states of the mapping, a separate stream for each caller. A reader that lags
        /// loses the oldest of 64 events.
        public func events() -> AsyncStream<NATPortMappingEvent> { session.events.stream() }
    }
#endif

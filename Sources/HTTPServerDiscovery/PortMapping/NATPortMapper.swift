/// Has a gateway lead one of its ports to a server, so that it can be reached from outside.
///
/// ```swift
/// let mapper = NATPortMapper()
/// mapper.start(port: 8080)
/// for await event in mapper.events() { print(event) }
/// ```
///
/// On Linux it speaks NAT-PMP (RFC 6886) by libnatpmp and UPnP IGD by libminiupnpc, the first that
/// the gateway answers; on Apple's systems their own service does (`DNSServiceNATPortMappingCreate`).
/// Everything runs on separate queues; nothing here waits, and a failure is an event. The mapping is
/// renewed until `stop`, and requested again when the networks of the machine change. A mapped port
/// is open to the whole internet: make sure that the server requires a login.
///
/// Only the gateway is believed: of the devices that answer a search by UPnP, those at another
/// address are ignored, and so are their URLs. An answer has at most 128 KiB.
public final class NATPortMapper: Sendable {
    private let session: NATPortMappingSession

    /// Creates a mapper; it does nothing until `start`.
    public init(_ configuration: NATPortMappingConfiguration = NATPortMappingConfiguration()) {
        session = NATPortMappingSession(configuration)
    }

    #if os(Linux)
        /// - Parameter description: the URL of the router's description, which is not searched for.
        package init(_ configuration: NATPortMappingConfiguration, description: String) {
            session = NATPortMappingSession(configuration, description: description)
        }
    #endif

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

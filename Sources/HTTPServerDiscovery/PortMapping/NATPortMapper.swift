/// Maps a port of the gateway to a server, so that the server can be reached from outside.
///
/// ```swift
/// let mapper = NATPortMapper()
/// mapper.start(port: 8080)
/// for await event in mapper.events() { print(event) }
/// ```
///
/// On Linux it uses NAT-PMP (RFC 6886) by libnatpmp or UPnP IGD by libminiupnpc, whichever the
/// gateway answers first. On Apple's systems it uses the system's service
/// (`DNSServiceNATPortMappingCreate`). The work runs on separate queues; no call blocks, and
/// failures are reported as events. The mapping is renewed until `stop`, and requested again when
/// the networks of the machine change. A mapped port is open to the whole Internet: make sure that
/// the server requires a login.
///
/// Only the gateway is trusted: UPnP answers from devices at other addresses, and URLs at other
/// addresses, are ignored. Answers of more than 128 KiB are refused.
public final class NATPortMapper: Sendable {
    private let session: NATPortMappingSession

    /// Creates a mapper; it does nothing until `start`.
    public init(_ configuration: NATPortMappingConfiguration = NATPortMappingConfiguration()) {
        session = NATPortMappingSession(configuration)
    }

    #if os(Linux)
        /// - Parameter description: the URL of the router's description; no search is done.
        package init(_ configuration: NATPortMappingConfiguration, description: String) {
            session = NATPortMappingSession(configuration, description: description)
        }
    #endif

    deinit {
        session.stop {}
    }

    /// Requests a mapping to a port of this machine, and renews it until `stop`.
    /// - Parameter port: the port on which the server listens.
    public func start(port: UInt16) {
        session.start(port: port)
    }

    /// Removes the mapping; returns when the gateway has confirmed it, or after two seconds.
    public func stop() async {
        await withCheckedContinuation { done in session.stop { done.resume() } }
    }

    /// The present mapping; `nil` if there is none.
    public var mapping: NATMapping? { session.mapping }

    /// The URL of the server from outside; `nil` if there is no mapping.
    public var url: String? { mapping?.url }

    /// The events from now on, as a separate stream for each caller. Up to 64 unread events are
    /// kept; after that the oldest are dropped.
    public func events() -> AsyncStream<NATPortMappingEvent> { session.events.stream() }
}

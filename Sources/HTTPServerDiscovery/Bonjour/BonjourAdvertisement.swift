/// The announcement of a server in the local network by DNS-SD, which Apple calls Bonjour.
///
/// ```swift
/// let bonjour = try BonjourAdvertisement(BonjourConfiguration(name: "Notes"))
/// bonjour.start(port: 8080)
/// for await event in bonjour.events() { print(event) }
/// ```
///
/// The system's library does the work: `dns_sd`, in Apple's SDKs and in Avahi. Everything runs
/// on a separate queue; no method blocks its thread. A failure is an event, and the announcement is
/// tried again from time to time. It ends with `stop`, and when this object is released.
public final class BonjourAdvertisement: Sendable {
    private let session: BonjourSession

    /// Checks what is to be announced; nothing is announced until `start`.
    /// - Throws: an error that names the part of the configuration that cannot be announced.
    public init(
        _ configuration: BonjourConfiguration = BonjourConfiguration()
    ) throws(BonjourError) {
        try configuration.validate()
        session = BonjourSession(configuration)
    }

    /// - Parameter retry: nanoseconds until the first attempt after a failure.
    package init(_ configuration: BonjourConfiguration, retry: Int) throws(BonjourError) {
        try configuration.validate()
        session = BonjourSession(configuration, retry: retry)
    }

    deinit {
        session.stop {}
    }

    /// Announces the server; it may be called again after `stop`. While the server is announced, a
    /// call with another port replaces the announcement.
    /// - Parameter port: where the server listens.
    public func start(port: UInt16) {
        session.start(port: port)
    }

    /// Takes the announcement back, and returns when the system knows.
    public func stop() async {
        await withCheckedContinuation { done in session.stop { done.resume() } }
    }

    /// Changes what the service says of itself, also while it is announced.
    public func update(_ record: TXTRecord) {
        session.update(record)
    }

    /// The service as it is known in the network now; `nil` when it is not.
    public var service: BonjourService? { session.service }

    /// The URL that leads to the server by the machine's name; `nil` until that is known.
    public var url: String? { service?.url }

    /// The events of the announcement from now on, in a separate stream for each caller. A
    /// reader that lags loses the oldest of 64 events.
    public func events() -> AsyncStream<BonjourEvent> { session.events.stream() }
}

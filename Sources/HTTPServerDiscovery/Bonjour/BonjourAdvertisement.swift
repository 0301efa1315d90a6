/// Announces a server in the local network by DNS-SD, which Apple calls Bonjour.
///
/// ```swift
/// let bonjour = try BonjourAdvertisement(BonjourConfiguration(name: "Notes"))
/// bonjour.start(port: 8080)
/// for await event in bonjour.events() { print(event) }
/// ```
///
/// It uses the system's library `dns_sd`, in Apple's SDKs and in Avahi. All work is on a separate
/// queue; no method blocks its thread. A failure is reported as an event, and the announcement is
/// retried after 1 to 60 seconds. The announcement ends with `stop`, or when this object is
/// released.
public final class BonjourAdvertisement: Sendable {
    private let session: BonjourSession

    /// Checks the configuration; nothing is announced until `start`.
    /// - Throws: an error that names the invalid part of the configuration.
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

    /// Announces the server. It may be called again after `stop`. While the server is announced, a
    /// call with another port replaces the announcement.
    /// - Parameter port: the port that the server listens at.
    public func start(port: UInt16) {
        session.start(port: port)
    }

    /// Withdraws the announcement, and returns when the system has ended it.
    public func stop() async {
        await withCheckedContinuation { done in session.stop { done.resume() } }
    }

    /// Changes the service's attributes, even while it is announced.
    public func update(_ record: TXTRecord) {
        session.update(record)
    }

    /// The service as announced in the network; `nil` if it is not announced.
    public var service: BonjourService? { session.service }

    /// The URL of the server by the machine's name; `nil` until that name is known.
    public var url: String? { service?.url }

    /// The events of the announcement from now on, in a separate stream for each caller. A slow
    /// reader loses the oldest of 64 events.
    public func events() -> AsyncStream<BonjourEvent> { session.events.stream() }
}

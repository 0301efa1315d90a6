/// Counts and measures the connections and requests of a server.
///
/// `ServerCounters` keeps the figures in memory. With the package trait `Metrics`, `SwiftMetrics`
/// passes them to swift-metrics. All methods are called on event loops, and must not block.
public protocol ServerMetrics: Sendable {
    /// A connection was accepted.
    func connectionOpened()
    /// A new connection was refused, by `ConnectionHooks.admits` or by a limit.
    func connectionRefused()
    /// An accepted connection was closed; its byte counts are final.
    func connectionClosed(_ connection: ConnectionInfo, _ reason: ConnectionCloseReason)
    /// A response was sent, or was given up.
    func requestEnded(_ record: AccessRecord)
}

/// Where a server counts and measures what it does.
///
/// `ServerCounters` keeps the figures in memory; with the package trait `Metrics` there is
/// `SwiftMetrics` as well, which hands them to swift-metrics. All methods are called on event loops
/// and must not block.
public protocol ServerMetrics: Sendable {
    /// A connection was taken.
    func connectionOpened()
    /// A new connection was refused, by `ConnectionHooks.admits` or by a limit.
    func connectionRefused()
    /// A connection that was taken is closed; its bytes are final.
    func connectionClosed(_ connection: ConnectionInfo, _ reason: ConnectionCloseReason)
    /// A response has ended, whole or not.
    func requestEnded(_ record: AccessRecord)
}

package import HTTPParser

/// A protocol that has taken over a connection (RFC 9110 section 7.8). It is confined to the
/// connection's loop.
package protocol UpgradedProtocol: AnyObject {
    /// Whether to read more input; otherwise it stays in the system's buffer, which stops the peer.
    /// Call `UpgradeCarrier.readOn` when this becomes true.
    var wantsInput: Bool { get }
    /// When `deadlineReached` is to be called, in nanoseconds of the loop's `now`; `.max` never.
    /// Call `UpgradeCarrier.deadlineChanged` when this changes.
    var deadline: UInt64 { get }
    /// Takes received bytes, and may change them in place. The connection flushes afterwards.
    func receive(_ bytes: UnsafeMutableRawBufferPointer)
    /// The peer has taken enough of the output for more to be written.
    func hasRoom()
    func deadlineReached()
    /// The server wants to stop: end soon.
    func serverStops()
    /// The connection is closed. This is the last call.
    func connectionClosed(_ reason: ConnectionCloseReason)
}

/// The connection's interface for the protocol that has taken over. Call it only on the loop.
package protocol UpgradeCarrier: AnyObject {
    var loop: EventLoop { get }
    var info: ConnectionInfo { get }
    /// Bytes of output in memory that the peer has not taken yet.
    var waitingBytes: Int { get }
    /// Has `body` append output. Call `flush` before the loop serves another connection; within
    /// `UpgradedProtocol.receive` that is not needed.
    func write(_ body: (inout ByteBuffer) -> Void)
    /// Sends the written output.
    func flush()
    /// Continues reading, after `UpgradedProtocol.wantsInput` has become true.
    func readOn()
    func deadlineChanged()
    /// Closes the connection once the output was sent. The protocol is not called again.
    /// - Parameter leavesInput: whether the peer may still send.
    func finish(leavesInput: Bool)
    /// Closes the connection immediately.
    func abort(_ reason: ConnectionCloseReason?)
}

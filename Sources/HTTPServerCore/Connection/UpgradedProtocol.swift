package import HTTPParser

/// A protocol that has taken over a connection (RFC 9110 section 7.8). It is confined to the
/// connection's loop.
package protocol UpgradedProtocol: AnyObject {
    /// Whether further input is welcome; otherwise it stays in the system's buffer, which stops the
    /// peer. Call `UpgradeCarrier.readOn` when that has changed.
    var wantsInput: Bool { get }
    /// When `deadlineReached` is to be called, in nanoseconds of the loop's `now`; `.max` never.
    /// Call `UpgradeCarrier.deadlineChanged` when that has changed.
    var deadline: UInt64 { get }
    /// Takes bytes that have come, and may change them in place. The connection flushes after it.
    func receive(_ bytes: UnsafeMutableRawBufferPointer)
    /// The peer has taken so much of the output that more can be written.
    func hasRoom()
    func deadlineReached()
    /// The server wants to stop: end soon.
    func serverStops()
    /// The connection is gone; the last call.
    func connectionClosed(_ reason: ConnectionCloseReason)
}

/// The connection as the protocol that has taken over knows it. It is called on its loop.
package protocol UpgradeCarrier: AnyObject {
    var loop: EventLoop { get }
    var info: ConnectionInfo { get }
    /// Bytes of output in memory that the peer has not taken yet.
    var waitingBytes: Int { get }
    /// Has `body` append output. Call `flush` before the loop turns to another connection, unless
    /// within `UpgradedProtocol.receive`.
    func write(_ body: (inout ByteBuffer) -> Void)
    /// Sends what was written.
    func flush()
    /// Goes on reading, after `UpgradedProtocol.wantsInput` has become true.
    func readOn()
    func deadlineChanged()
    /// Closes once the output was sent. The protocol is not called again.
    /// - Parameter leavesInput: whether the peer may still send.
    func finish(leavesInput: Bool)
    /// Closes at once.
    func abort(_ reason: ConnectionCloseReason?)
}

package import HTTPParser

/// The connection below a WebSocket. It is called on its loop.
package protocol WebSocketCarrier {
    /// Bytes of output in memory that the peer has not taken yet.
    var waitingBytes: Int { get }
    /// Has `body` append output; a call of `flush` follows.
    func write(_ body: (inout ByteBuffer) -> Void)
    /// Sends what was written.
    func flush()
    /// Goes on reading, after `WebSocketConnection.wantsInput` has become true.
    func readOn()
    /// `WebSocketConnection.deadline` has changed.
    func deadlineChanged()
    /// Closes once the output was sent.
    /// - Parameter leavesInput: whether the peer may still send.
    func finish(leavesInput: Bool)
}

/// The loop of a carrier. It outlives the carrier.
package protocol WebSocketLoop: AnyObject, Sendable {
    /// The time in nanoseconds, on the loop.
    var monotonicTime: UInt64 { get }
    /// Whether the caller runs on the loop.
    var isEntered: Bool { get }
    /// Does something on the loop, soon; from any thread.
    /// - Returns: false when the loop has ended, and nothing is done.
    func hand(_ work: @escaping @Sendable () -> Void) -> Bool
    /// The same, but after the tasks on the loop that are ready to run.
    func handAfterTasks(_ work: @escaping @Sendable () -> Void)
}

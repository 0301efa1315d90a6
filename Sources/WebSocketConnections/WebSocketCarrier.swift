package import HTTPParser

/// The connection below a WebSocket. All calls are on its loop.
package protocol WebSocketCarrier {
    /// The bytes of output in memory that the peer has not taken yet.
    var waitingBytes: Int { get }
    /// Lets `body` append output; a call of `flush` follows.
    func write(_ body: (inout ByteBuffer) -> Void)
    /// Sends the written output.
    func flush()
    /// Resumes reading, after `WebSocketConnection.wantsInput` has become true.
    func readOn()
    /// Called when `WebSocketConnection.deadline` has changed.
    func deadlineChanged()
    /// Closes the connection once the output was sent.
    /// - Parameter leavesInput: whether the peer may still send.
    func finish(leavesInput: Bool)
}

/// The loop of a carrier. It outlives the carrier.
package protocol WebSocketLoop: AnyObject, Sendable {
    /// The time in nanoseconds; only on the loop.
    var monotonicTime: UInt64 { get }
    /// Whether the caller runs on the loop.
    var isEntered: Bool { get }
    /// Enqueues work on the loop, from any thread.
    /// - Returns: false if the loop has ended, and the work is not done.
    func hand(_ work: @escaping @Sendable () -> Void) -> Bool
    /// Enqueues work after the tasks on the loop that are ready to run.
    func handAfterTasks(_ work: @escaping @Sendable () -> Void)
}

/// Carries the bytes of a connection: a plain socket, TLS, or memory in tests. No call blocks.
package protocol Transport: AnyObject {
    /// The events that are watched for now.
    var interest: PollInterest { get }
    /// Receives bytes; `.done(0)` is the end of the peer's stream.
    func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult
    /// Sends bytes, fewer than all when the peer is slow.
    ///
    /// Bytes count as taken once the system has them. After `.wouldBlock` the next call begins with
    /// the same bytes.
    /// - Parameter more: whether more bytes follow immediately.
    func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult
    /// Announces that the bytes of the next `send` are the last ones.
    func sendsLast()
    /// Sends part of a file; `.done(0)` means that the file ends at `offset` or before it. After
    /// `.wouldBlock` the next call begins with the same part.
    func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult
    /// Registers for readiness events, which go to the connection.
    func watch(_ interest: PollInterest)
    /// The poller reports that bytes can be sent. It is called before the connection sends.
    func becameWritable()
    /// Ends the output; the peer may still send.
    func shutdownWriting()
    /// Ends both directions. It is called once.
    func close()
    /// Makes the peer see a later `close` as a failure, not as a regular end.
    func closesByReset()
    /// How many bytes the peer has sent; 0 if the transport does not count. The bytes of a TLS
    /// record count before it can be decrypted.
    var receivedBytes: Int64 { get }
    /// How many sent bytes the peer has not acknowledged; `nil` where that is unknown. For a Unix
    /// socket, Linux counts whole buffers of some 34 KB.
    var unacknowledgedBytes: Int? { get }
}

extension Transport {
    package var receivedBytes: Int64 { 0 }
    package var unacknowledgedBytes: Int? { nil }
    package func becameWritable() {}
    package func sendsLast() {}
}

/// The connection's interface for its transport. Call it only on the connection's loop.
package protocol TransportOwner: AnyObject {
    /// Identifies the loop: the transports of a loop share their buffers.
    var loopIdentity: ObjectIdentifier { get }
    /// The address at the other end of the socket.
    var socketPeer: PeerAddress { get }
    /// Calls `work` on the loop, after the current batch of events.
    func later(_ work: @escaping @Sendable () -> Void)
    /// Makes the connection read although the poller reports no event.
    func inputIsReady()
    /// Logs why the connection is about to fail.
    func noteFailure(_ cause: String)
    /// Changes the facts of the connection.
    func learn(_ change: (inout TransportFacts) -> Void)
}

/// A layer between a socket and its connection, such as TLS.
package protocol TransportLayer: AnyObject, Sendable {
    /// Whether the layer encrypts.
    var isSecure: Bool { get }
    /// - Parameters:
    ///   - transport: the layer below, which is already polled for input, or soon will be.
    ///   - owner: the connection. The transport retains it until `Transport.close`.
    func transport(over transport: any Transport, for owner: any TransportOwner) -> any Transport
}

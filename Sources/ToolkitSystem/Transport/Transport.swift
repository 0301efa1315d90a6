/// The few calls that a connection makes on the carrier of its bytes: a plain socket, TLS, or
/// memory in tests. All calls return at once.
package protocol Transport: AnyObject {
    /// The readiness that is watched for now.
    var interest: PollInterest { get }
    /// Takes bytes that have come; `.done(0)` is the end of the peer's stream.
    func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult
    /// Sends bytes, fewer than all when the peer is slow.
    ///
    /// Bytes count as taken once the system has them. After `.wouldBlock` the next call begins with
    /// the same bytes.
    /// - Parameter more: more follows at once.
    func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult
    /// Says that the bytes of the next `send` are the last ones.
    func sendsLast()
    /// Sends part of a file; `.done(0)` means that the file ends at `offset` or before it. After
    /// `.wouldBlock` the next call begins with the same part.
    func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult
    /// Registers for readiness events, which go to the connection.
    func watch(_ interest: PollInterest)
    /// The poller reports that something can be sent. It is called before the connection sends.
    func becameWritable()
    /// Says that no more bytes follow; the peer may still send.
    func shutdownWriting()
    /// Ends both directions. It is called once.
    func close()
    /// Makes `close` look like a failure to the peer, not like an end.
    func closesByReset()
    /// How many bytes have come from the peer; 0 if the transport does not count. The bytes of a
    /// TLS record count before it can be decrypted.
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

/// The connection as its transport knows it. It is called on the connection's loop.
package protocol TransportOwner: AnyObject {
    /// Identifies the loop: the transports of a loop share their buffers.
    var loopIdentity: ObjectIdentifier { get }
    /// The address at the other end of the socket.
    var socketPeer: PeerAddress { get }
    /// Calls `work` on the loop, soon, after the events that wait.
    func later(_ work: @escaping @Sendable () -> Void)
    /// Has the connection read although the poller reports nothing.
    func inputIsReady()
    /// Logs why the connection is about to fail.
    func noteFailure(_ cause: String)
    /// Changes what is known of the connection.
    func learn(_ change: (inout TransportFacts) -> Void)
}

/// Stands between a socket and its connection, as TLS does.
package protocol TransportLayer: AnyObject, Sendable {
    /// Whether it encrypts.
    var isSecure: Bool { get }
    /// - Parameters:
    ///   - transport: the layer below, which is being watched for input, or is about to be.
    ///   - owner: the connection. The transport keeps it until `Transport.close`.
    func transport(over transport: any Transport, for owner: any TransportOwner) -> any Transport
}

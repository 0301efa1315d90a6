internal import HTTPParser
internal import Logging
package import ToolkitSystem

/// A connected, non-blocking socket that a loop polls.
package final class SocketTransport: Transport {
    private let descriptor: CInt
    private unowned let loop: EventLoop
    private let token: UInt64
    package private(set) var interest: PollInterest = .read
    private var ended: PollInterest = []
    package private(set) var receivedBytes: Int64 = 0

    /// - Parameter token: the connection's token in the loop.
    package init(_ descriptor: CInt, loop: EventLoop, token: UInt64) {
        self.descriptor = descriptor
        self.loop = loop
        self.token = token
    }

    /// Begins to poll for input.
    package func open() -> Bool { loop.poller.add(descriptor, .read, token: token) }

    package func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult {
        let result = unsafe Syscalls.receive(descriptor, room)
        if case .done(let count) = result { receivedBytes &+= Int64(count) }
        return result
    }

    package var unacknowledgedBytes: Int? { Syscalls.unacknowledgedBytes(descriptor) }

    package func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
        unsafe Syscalls.send(descriptor, bytes, more: more)
    }

    package func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult {
        Syscalls.sendFile(descriptor, from: file, offset: offset, count: count)
    }

    package func watch(_ interest: PollInterest) {
        self.interest = interest
        loop.poller.modify(descriptor, interest.union(ended), token: token)
    }

    package func shutdownWriting() {
        Syscalls.shutdownWriting(descriptor)
        ended = .endedWriting
        if interest.isEmpty { watch([]) }
    }

    package func closesByReset() { Syscalls.dropUnsent(descriptor) }

    package func close() {
        // Closing takes the descriptor out of the poller as well.
        Syscalls.close(descriptor)
    }
}

extension Connection: TransportOwner {
    package var loopIdentity: ObjectIdentifier { ObjectIdentifier(loop) }
    package var socketPeer: PeerAddress { info.socketPeer }
    package func later(_ work: @escaping @Sendable () -> Void) { loop.execute(work) }
    package func inputIsReady() {
        if unsafe !state.isClosed { receiveWithoutEvent() }
    }
    package func noteFailure(_ cause: String) { logRefusal("refused a connection", cause) }
    package func learn(_ change: (inout TransportFacts) -> Void) { info.learn(change) }
}

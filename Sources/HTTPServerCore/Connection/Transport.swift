internal import HTTPParser
package import ToolkitSystem

/// The handful of calls a connection makes on what carries its bytes: a plain socket, TLS later,
/// or memory in tests. All of them return at once.
package protocol Transport: AnyObject {
    /// Takes bytes that have come; `.done(0)` is the end of the peer's stream.
    func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult
    /// Gives bytes away, fewer than all when the peer is slow.
    /// - Parameter more: more follows at once.
    func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult
    /// Gives away part of a file; `.done(0)` means that the file ends before `offset`.
    func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult
    /// Registers for readiness events, which go to the connection.
    func watch(_ interest: PollInterest)
    /// Says that no more bytes follow; the peer may still send.
    func shutdownWriting()
    /// Ends both directions. It is called once.
    func close()
    /// Makes `close` look like a failure to the peer, not like an end.
    func closesByReset()
}

/// A connected, non-blocking socket that a loop polls.
package final class SocketTransport: Transport {
    private let descriptor: CInt
    private unowned let loop: EventLoop
    private let token: UInt64

    /// - Parameter token: the connection's token in the loop.
    package init(_ descriptor: CInt, loop: EventLoop, token: UInt64) {
        self.descriptor = descriptor
        self.loop = loop
        self.token = token
    }

    /// Begins to poll for input.
    package func open() -> Bool {
        loop.poller.add(descriptor, .read, token: token)
    }

    package func receive(into room: UnsafeMutableRawBufferPointer) -> IOResult {
        unsafe Syscalls.receive(descriptor, room)
    }

    package func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
        unsafe Syscalls.send(descriptor, bytes, more: more)
    }

    package func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult {
        Syscalls.sendFile(descriptor, from: file, offset: offset, count: count)
    }

    package func watch(_ interest: PollInterest) {
        loop.poller.modify(descriptor, interest, token: token)
    }

    package func shutdownWriting() {
        Syscalls.shutdownWriting(descriptor)
    }

    package func closesByReset() {
        Syscalls.dropUnsent(descriptor)
    }

    package func close() {
        // Closing takes the descriptor out of the poller as well.
        Syscalls.close(descriptor)
    }
}

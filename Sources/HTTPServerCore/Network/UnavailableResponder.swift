internal import HTTPParser
internal import ToolkitSystem

/// A connection above the limit: its first bytes are answered with 503 and Retry-After, and it is
/// closed. It has no parser, handler or buffer, and lives for a second at most.
final class UnavailableResponder: LoopClient, @unchecked Sendable {
    private let descriptor: CInt
    private let loop: EventLoop
    private let retryAfter: UInt64
    private let ended: () -> Void
    private var hasAnswered = false
    private var hasEnded = false
    private var readCount = 0

    private static let lifetime: UInt64 = 1_000_000_000
    /// The most bytes to read and drop, so that closing does not destroy the answer on its way.
    private static let readLimit = 64 << 10

    /// - Parameters:
    ///   - descriptor: the connected socket, which the responder owns.
    ///   - retryAfter: the value of Retry-After, in seconds.
    ///   - ended: called once, on the loop, when the socket is closed.
    init(
        _ descriptor: CInt, loop: EventLoop, retryAfter: UInt64, ended: @escaping () -> Void
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.retryAfter = retryAfter
        self.ended = ended
        super.init(in: loop)
    }

    func open() {
        loop.setDeadline(loop.now &+ Self.lifetime, for: self)
        if !loop.poller.add(descriptor, .read, token: token) { close() }
    }

    override func handle(_ event: PollEvent) {
        if event.isHungUp { return close() }
        switch unsafe Syscalls.receive(descriptor, loop.receiveRoom) {
        case .done(0), .failed: close()
        case .wouldBlock: break
        case .done(let count):
            readCount += count
            if !hasAnswered { answer() }
            if readCount > Self.readLimit { close() }
        }
    }

    /// Sends a few hundred bytes, which fit into the buffer of a new socket.
    private func answer() {
        hasAnswered = true
        var response = ByteBuffer(capacity: 256)
        response.append("HTTP/1.1 503 Service Unavailable\r\n")
        unsafe response.append(loop.commonFields)
        response.append(
            "Retry-After: \(retryAfter)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        _ = unsafe Syscalls.send(descriptor, response.unsafeBytes, more: false)
        Syscalls.shutdownWriting(descriptor)
    }

    override func deadlineReached() { close() }

    private func close() {
        guard !hasEnded else { return }
        hasEnded = true
        loop.remove(self)
        Syscalls.close(descriptor)
        ended()
    }
}

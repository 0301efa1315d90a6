internal import HTTPParser
internal import Logging
internal import Synchronization
package import ToolkitSystem

/// One connection: the bytes between a transport, `ConnectionState` and a handler.
///
/// It is confined to its loop. Requests are parsed where they were read; what is left of a read
/// is kept only when a request is unfinished, so an idle connection is little more than this
/// object.
///
/// Its code is in the files beside this one: `Connection+Input` turns bytes into requests,
/// `+Content` their content into pieces, `+Requests` has them answered, `+Responses` turns the
/// answers into bytes, `+Output` sends these, and `+Observing` notifies observers.
package final class Connection: LoopClient, @unchecked Sendable {
    /// A head that came in pieces: the parser remembers how far it got.
    final class PartialHead {
        var parser: HeadParser
        init(_ parser: consuming HeadParser) { self.parser = parser }
    }

    enum DeadlineKind { case none, head, idle, content, write, linger }
    enum Closing { case no, afterOutput, lingerAfterOutput, lingering, closed }

    let loop: EventLoop
    let core: ServerCore
    @exclusivity(unchecked)
    var handler: any Handler
    let info: ConnectionInfo
    var transport: (any Transport)?
    @exclusivity(unchecked)
    var state = ConnectionState()
    var closing = Closing.no
    /// Why the connection will close, once that is known.
    var closeReason: ConnectionCloseReason?
    var interest: PollInterest = .read
    var deadlineKind = DeadlineKind.none
    var isHead = false
    @exclusivity(unchecked)
    var tail = ByteBuffer()
    var partial: PartialHead?
    var exchange: Exchange?
    var output = OutputQueue() {
        didSet { hasOutput = !output.isEmpty }
    }
    /// Whether `output` waits: asked for each request, so it is kept apart.
    private(set) var hasOutput = false
    @exclusivity(unchecked)
    var serializer = ResponseSerializer()
    var lingered = 0
    /// The figures of the current request, if an observer wants them.
    @exclusivity(unchecked)
    var observation: RequestObservation?
    var trailers = HTTPFields()
    /// Whether the response can have trailers.
    var isChunked = false
    /// Whether nothing but the end of the connection is the end of the response.
    var isUntilClose = false

    /// Bytes that wait for a slow client before `ResponseWriter.write` suspends.
    static let highWater = 64 << 10
    /// Bytes of files that wait for it before `ResponseWriter.write` suspends; they are not in memory.
    static let fileHighWater: Int64 = 2 << 20
    /// Files up to this size are copied behind the head: one call instead of two.
    static let copiedFileLimit: Int64 = 16 << 10
    /// Pieces of content that a handler may have read for it in one turn.
    static let readAheadLimit = 3
    /// Bytes that are read and dropped after the last answer. Further bytes stay in the socket,
    /// which stops the peer.
    static let lingerBytes = 64 << 10
    static let lingerTime: UInt64 = 2_000_000_000
    /// How long a new connection is not taken for an idle one.
    static let newcomerTime: UInt64 = 1_000_000_000

    /// Bytes in memory that wait for the client to take them.
    package var waitingBytes: Int { output.buffered }

    package init(loop: EventLoop, core: ServerCore, peer: PeerAddress, local: SocketAddress) {
        self.loop = loop
        self.core = core
        unsafe handler = core.handler
        info = ConnectionInfo(core: core, loop: loop, peer: peer, local: local)
        super.init(in: loop)
        info.token.store(token, ordering: .relaxed)
    }

    /// Takes over a transport that is being watched for input, or is about to be.
    /// - Returns: `false` when the connection was refused, and closed.
    @discardableResult
    package func open(_ transport: any Transport) -> Bool {
        self.transport = transport
        guard isAdmitted() else { return false }
        setDeadline(.head, core.headTime)
        return true
    }

    /// Requests whose heads come from now on are answered by another handler.
    func use(_ handler: any Handler) {
        unsafe self.handler = handler
    }

    func setDeadline(_ kind: DeadlineKind, _ time: UInt64) {
        deadlineKind = kind
        loop.setDeadline(kind == .none ? .max : loop.now &+ time, for: self)
    }

    // MARK: Events

    package override func handle(_ event: PollEvent) {
        if event.isHungUp { return peerWasLost() }
        if event.isWritable { sendPending() }
        if event.isReadable, closing != .closed { receive() }
    }

    func watch(_ interest: PollInterest) {
        guard interest != self.interest, closing != .closed else { return }
        self.interest = interest
        transport?.watch(interest)
    }

    // MARK: Deadlines and ends

    package override func deadlineReached() {
        switch deadlineKind {
        case .none: break
        case .idle: abort(.timedOut(.idle))
        case .write: abort(.timedOut(.write))
        case .linger: finish()
        case .head: headIsLate()
        case .content: contentIsLate()
        }
    }

    private func headIsLate() {
        guard unsafe !tail.isEmpty else { return abort(.timedOut(.head)) }
        isHead = false
        closeReason = .timedOut(.head)
        unsafe state.refusedInput()
        beginObserving(nil)
        answer(
            HTTPError(.requestTimeout, "the head of the request was too slow"),
            into: &loop.sendBuffer)
        flush()
    }

    /// The rate of content is checked while a reader waits for it, not while the handler is behind.
    private func contentIsLate() {
        guard let exchange, unsafe state.input == .content else { return }
        let wanted = Int64(core.configuration.contentRate) * Int64(core.graceTime / 1_000_000_000)
        let isWaited = !exchange.hasUntakenContent
        if !isWaited || exchange.received - exchange.rateMark >= wanted { return judgeContent() }
        unsafe state.inputFailed()
        closeReason = .timedOut(.content)
        if unsafe exchange.connection == nil || state.hasBegunResponse { return finish() }
        exchange.failInput(HTTPError(.requestTimeout, "the content was too slow"))
        guard exchange.isCollecting else { return }
        answerCollected(exchange, into: &loop.sendBuffer)
        flush()
    }

    /// The server wants to stop: idle connections close now, busy ones after their response. A
    /// request that has come already is answered before.
    package func shutDown() {
        guard closing == .no else { return }
        closeReason = .shutdown
        guard unsafe state.beginsShutdown() else { return }
        if unsafe tail.isEmpty && !state.peerHasEnded, !hasOutput { receive() }
        closeWhenIdle()
    }

    /// Since when it waits for a request of which nothing has come, in nanoseconds of the loop's
    /// `now`; `nil` while anything is under way.
    var idleSince: UInt64? {
        guard closing == .no, !hasOutput, unsafe !state.isBusy && state.input == .head,
            unsafe tail.isEmpty
        else { return nil }
        switch deadlineKind {
        case .idle: return unsafe deadline &- core.idleTime
        // A new connection is about to send its first request.
        case .head:
            let since = unsafe deadline &- core.headTime
            return since &+ Self.newcomerTime < loop.now ? since : nil
        default: return nil
        }
    }

    /// Closes to make room for a new connection, unless a request has come meanwhile.
    /// - Returns: whether it did.
    func giveWay() -> Bool {
        guard idleSince != nil else { return false }
        receive()
        guard closing != .closed else { return true }
        guard idleSince != nil else { return false }
        abort(.displaced)
        return true
    }

    /// Ends a connection that the server wants to stop, once everything is sent.
    func closeWhenIdle() {
        guard closing == .no, !hasOutput, unsafe state.isIdleAtShutdown else { return }
        if unsafe tail.isEmpty || partial != nil { abort(.shutdown) }
    }

    /// The transport says that nothing more can be sent or received.
    func peerWasLost() {
        let isIdle = unsafe !state.isBusy && state.input == .head && tail.isEmpty && !hasOutput
        abort(isIdle ? .clientClosed : .connectionLost)
    }

    /// Closes for the reason that was found before.
    func finish() {
        abort(closeReason ?? .finished)
    }

    /// Closes at once and cancels handlers that still work for the peer.
    package func abort(_ reason: ConnectionCloseReason = .shutdown) {
        guard closing != .closed else { return }
        // Once everything was said, it does not matter how the peer takes its leave.
        let reason = closing == .lingering ? closeReason ?? reason : reason
        closing = .closed
        endObserving(failure: reason)
        // Truncated content must not look complete (RFC 9112 section 8).
        if isUntilClose, unsafe hasOutput || state.isBusy { transport?.closesByReset() }
        unsafe state.closed()
        info.forgetSocket()
        transport?.close()
        transport = nil
        loop.remove(self)
        output.removeAll()
        partial = nil
        let exchange = self.exchange
        self.exchange = nil
        exchange?.detach(RequestBodyError.connectionLost)
        wasClosed(reason)
    }
}

internal import HTTPParser
internal import Logging
internal import Synchronization
package import ToolkitSystem

/// One connection: the bytes between a transport, `ConnectionState` and a handler.
///
/// It is confined to its loop. Requests are parsed in the buffer of the loop that they were read
/// into. Only unparsed bytes are copied, so an idle connection is little more than this object.
///
/// It reports events to its `state`, and carries out the returned steps. The code is in several
/// files: `Connection+Input` turns bytes into requests, `+Content` their content into pieces,
/// `+Requests` calls handlers, `+Responses` turns responses into bytes, `+Output` sends these,
/// `+Upgrade` hands the connection to another protocol, and `+Observing` notifies observers.
package final class Connection: LoopClient, @unchecked Sendable {
    /// The parser of an incomplete head, which keeps its position.
    final class PartialHead {
        var parser: HeadParser
        init(_ parser: consuming HeadParser) { self.parser = parser }
    }

    package let loop: EventLoop
    let core: ServerCore
    @exclusivity(unchecked)
    var handler: any Handler
    package let info: ConnectionInfo
    var transport: (any Transport)?
    @exclusivity(unchecked)
    var state = ConnectionState()
    /// Received bytes that wait to be parsed.
    @exclusivity(unchecked)
    var tail = ByteBuffer()
    var partial: PartialHead?
    var exchange: Exchange?
    @exclusivity(unchecked)
    var response: ResponseInProgress?
    @exclusivity(unchecked)
    var output = OutputQueue()
    /// The protocol that has taken over from HTTP.
    var upgraded: (any UpgradedProtocol)?

    /// Bytes that wait for a slow client before `ResponseWriter.write` suspends.
    static let highWater = 64 << 10
    /// Bytes of files, not in memory, that wait for a slow client before `write` suspends.
    static let fileHighWater: Int64 = 2 << 20
    /// Files of up to this many bytes are copied after the head: one system call instead of two.
    static let copiedFileLimit: Int64 = 16 << 10
    /// How many pieces of content are read ahead for a handler in one turn.
    static let readAheadLimit = 3
    static let lingerTime: UInt64 = 2_000_000_000
    /// How long a new connection does not count as idle, in nanoseconds.
    static let firstRequestTime: UInt64 = 1_000_000_000

    /// Bytes in memory that wait for the client to take them.
    package var waitingBytes: Int { unsafe output.buffered }

    var hasOutput: Bool { unsafe !output.isEmpty }

    /// The readiness that is watched for.
    var interest: PollInterest { transport?.interest ?? [] }

    var buffers: ConnectionState.Buffers {
        ConnectionState.Buffers(hasInput: unsafe !tail.isEmpty, hasOutput: hasOutput)
    }

    package init(loop: EventLoop, core: ServerCore, peer: PeerAddress, local: SocketAddress) {
        self.loop = loop
        self.core = core
        unsafe handler = core.handler
        info = ConnectionInfo(logger: core.logger, loop: loop, peer: peer, local: local)
        super.init(in: loop)
        info.token.store(token, ordering: .relaxed)
    }

    /// Takes over a transport that is already polled for input, or soon will be.
    /// - Returns: `false` when the connection was refused, and closed.
    @discardableResult
    package func open(_ transport: any Transport) -> Bool {
        self.transport = transport
        guard isAdmitted() else { return false }
        setDeadline(unsafe state.deadline)
        return true
    }

    /// Sets the handler for requests whose heads arrive from now on.
    func use(_ handler: any Handler) { unsafe self.handler = handler }

    // MARK: Events

    package override func handle(_ event: PollEvent) {
        // A client may have sent a request before it closed its Unix socket.
        if event.isHungUp, event.isReadable, unsafe !state.isClosed { return receive() }
        if event.isHungUp { return perform(unsafe state.lostPeer(buffers)) }
        if event.isWritable {
            transport?.becameWritable()
            sendPending()
        }
        if event.isReadable, unsafe !state.isClosed { receive() }
    }

    package override func deadlineReached() {
        // A slow client may have taken some of the bytes that the system holds for it.
        let rate = min(core.configuration.contentRate, 1 << 24)
        let least = rate * Int(core.times.write / 1_000_000_000)
        let before = unsafe state.unacknowledged
        let isTaken = transport?.unacknowledgedBytes.map { $0 + max(least, 1) <= before } ?? false
        perform(unsafe state.deadlineReached(isTaken: isTaken))
    }

    /// The server wants to stop: idle connections close now, busy ones after their response. A
    /// request that has arrived already is answered first.
    package func shutDown() { perform(unsafe state.shutDown(buffers)) }

    /// Carries out the state's reaction to an event. `sendContinue` and `failContent` are left to
    /// the caller, which has the buffer and the error.
    @inline(__always)
    func perform(_ step: ConnectionState.Step) {
        if let deadline = step.deadline { setDeadline(deadline) }
        switch step.action {
        case .none, .sendContinue, .failContent: break
        case .awaitRequest:
            exchange?.end()
            exchange = nil
        default: performRarely(step.action)
        }
    }

    private func performRarely(_ action: ConnectionState.Action) {
        switch action {
        case .none, .sendContinue, .failContent, .awaitRequest: break
        case .discardContent, .endInput: exchange?.end()
        case .checkRate: checkRate()
        case .answerTimeout: answerTimeout()
        case .readOnce:
            receiveWithoutEvent()
            perform(unsafe state.settled(buffers))
        case .resume: loop.execute { [self] in resume() }
        case .linger: linger()
        case .endUpgrade: upgraded?.serverStops()
        case .upgradeDeadline: upgraded?.deadlineReached()
        case .close(let reason): abort(reason)
        }
    }

    func watch(_ interest: PollInterest) {
        guard let transport, interest != transport.interest, unsafe !state.isClosed else { return }
        transport.watch(interest)
    }

    // MARK: Deadlines

    @inline(__always)
    private func setDeadline(_ deadline: ConnectionState.Deadline) {
        switch deadline {
        case .none: loop.setDeadline(.max, for: self)
        case .idle:
            loop.setDeadline(loop.now &+ core.times.idle, for: self)
            if loop.now < loop.idle.busyUntil { loop.idle.add(token, at: loop.now) }
        case .head: loop.setDeadline(loop.now &+ core.times.head, for: self)
        case .write:
            unsafe state.unacknowledged = transport?.unacknowledgedBytes ?? 0
            loop.setDeadline(loop.now &+ core.times.write, for: self)
        case .linger: loop.setDeadline(loop.now &+ Self.lingerTime, for: self)
        case .upgrade: loop.setDeadline(upgraded?.deadline ?? .max, for: self)
        case .content:
            unsafe exchange?.content.markRate(wire: transport?.receivedBytes ?? 0)
            loop.setDeadline(loop.now &+ core.times.grace, for: self)
        }
    }

    private func answerTimeout() {
        unsafe answerUnread(
            HTTPError(.requestTimeout, "the head of the request was too slow"),
            into: &loop.sendBuffer)
        flush()
    }

    /// Checks the rate of content, unless received pieces still wait for the handler.
    private func checkRate() {
        guard let exchange else { return }
        let rate = Int64(min(core.configuration.contentRate, 1 << 24))
        let wanted = rate * Int64(core.times.grace / 1_000_000_000)
        let wire = transport?.receivedBytes ?? 0
        if unsafe exchange.content.hasPieces || exchange.content.hasReceived(wanted, wire: wire) {
            return perform(unsafe state.contentIsFastEnough())
        }
        let step = unsafe state.contentWasTooSlow()
        perform(step)
        guard step.action == .failContent else { return }
        unsafe exchange.content.fail(HTTPError(.requestTimeout, "the content was too slow"))
        unsafe answerCollected(exchange, into: &loop.sendBuffer)
        flush()
    }

    // MARK: Idle connections

    /// When the connection began to wait for a request, in nanoseconds of the loop's `now`; `nil`
    /// while a request, input or output is pending.
    var idleSince: UInt64? {
        guard unsafe state.phase == .idle, buffers == ConnectionState.Buffers() else { return nil }
        switch unsafe state.deadline {
        case .idle: return unsafe deadline &- core.times.idle
        // A new connection may be about to send its first request.
        case .head:
            let since = unsafe deadline &- core.times.head
            return since &+ Self.firstRequestTime < loop.now ? since : nil
        default: return nil
        }
    }

    /// Closes the connection to free its slot, unless a request has arrived.
    /// - Returns: whether the connection is closed.
    func giveWay() -> Bool {
        guard let since = idleSince else { return false }
        receiveWithoutEvent()
        guard unsafe !state.isClosed else { return true }
        guard idleSince == since else { return false }
        abort(.displaced)
        return true
    }

    // MARK: The end

    /// Closes the connection immediately and cancels the task of a running handler.
    /// - Parameter reason: `nil` for the reason that `state` has already.
    package func abort(_ reason: ConnectionCloseReason? = .shutdown) {
        let isUnfinished = unsafe hasOutput || state.isBusy
        guard let reason = unsafe state.close(reason) else { return }
        endObserving(failure: reason)
        // Truncated content must not look complete (RFC 9112 section 8).
        if isUnfinished, unsafe response?.endsWithClose == true { transport?.closesByReset() }
        info.keepSocket(nil)
        transport.take()?.close()
        loop.remove(self)
        unsafe output.removeAll()
        unsafe response = nil
        partial = nil
        let exchange = self.exchange
        self.exchange = nil
        exchange?.end(RequestBodyError.connectionLost)
        upgraded?.connectionClosed(reason)
        upgraded = nil
        wasClosed(reason)
    }
}

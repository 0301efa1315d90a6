internal import Logging
internal import ToolkitSystem

/// Takes new connections from a listener into one loop. All loops poll the same listener.
///
/// At the limit, or without a free descriptor, it closes the connection that has been idle for
/// longest. When none is idle, `connectionOverflow` decides. While new connections wait, it stops
/// polling until one closes or 100 ms pass, because the poller would report the backlog endlessly.
final class Acceptor: LoopClient, @unchecked Sendable {
    private let loop: EventLoop
    private let core: ServerCore
    private let listener: Listener
    private let layers: [any TransportLayer]
    /// Called when the system has taken the listening socket away.
    private let socketWasLost: @Sendable (Listener) -> Void
    private var isPaused = false
    /// Whether `core` already has a callback for the next connection that closes.
    private var waitsForRoom = false
    private var isStopped = false
    /// The request to the other loops to close an idle connection; reset when one is accepted.
    private var question = Question.none
    /// The number of the last question; answers to earlier questions are ignored.
    private var questionNumber = 0
    /// Whether it was already logged that connections cannot be taken.
    private var hasLoggedFailure = false
    /// A reserve, so that a new connection can be accepted and refused when no descriptor is left.
    private var reserve: CInt
    /// A connection that was accepted before a slot was free, because its address had to be known
    /// first. It counts towards the limit of its address.
    private var early: (descriptor: CInt, peer: PeerAddress)?
    /// How many connections above the limit are being answered with 503.
    private var refusals = 0

    /// How many connections are accepted before the loop handles other events.
    private static let batch = 64
    private static let pause: UInt64 = 100_000_000
    /// Nanoseconds that the other loops, which may be busy or wait for a processor, have to answer.
    private static let answerTime: UInt64 = 1_000_000_000
    /// How many connections above the limit may be answered at a time.
    private static let refusalLimit = 64

    init(
        listener: Listener, loop: EventLoop, core: ServerCore,
        socketWasLost: @escaping @Sendable (Listener) -> Void
    ) {
        self.listener = listener
        layers = listener.layers.withLock { $0 }
        self.loop = loop
        self.core = core
        self.socketWasLost = socketWasLost
        reserve = Syscalls.openNull()
        super.init(in: loop)
        watch()
    }

    private func watch() {
        let isAdded = loop.poller.add(listener.descriptor, [.read, .exclusive], token: token)
        // The kernel may have no memory or no watches at the moment.
        if !isAdded { listener.isAlive ? pause() : lost() }
    }

    // MARK: Taking connections

    override func handle(_ event: PollEvent) {
        guard !isPaused, !isStopped else { return }
        takeBatch(Self.batch)
    }

    /// - Returns: whether more connections may be waiting.
    @discardableResult
    private func takeBatch(_ count: Int) -> Bool {
        for _ in 0..<count {
            if let accepted = early, Syscalls.hasEnded(accepted.descriptor) { giveUp(accepted) }
            var isAdmitted = core.admitsConnection()
            if !isAdmitted {
                guard hasWaitingConnection else { return false }
                if early == nil, core.limitsAddresses, !takeEarly() { continue }
                let room = core.mayHaveRoom ? waitForRoom() : makeRoom()
                if room == .awaited { return false }
                isAdmitted = room == .made && core.admitsConnection()
                // Another loop may hold the slot that was made until it finds the backlog empty.
                if !isAdmitted, room == .made || core.configuration.connectionOverflow == .wait {
                    _ = waitForRoom()
                    return false
                }
            }
            if let accepted = early {
                early = nil
                if isAdmitted {
                    take(accepted.descriptor, accepted.peer)
                } else {
                    core.releasePeer(accepted.peer)
                    refuse(accepted.descriptor)
                }
                continue
            }
            var raw = RawSocketAddress()
            let result = listener.accept(&raw)
            if case .done(let descriptor) = result {
                if isAdmitted {
                    admit(CInt(descriptor), PeerAddress(&raw))
                } else {
                    refuse(CInt(descriptor))
                }
                continue
            }
            if isAdmitted { core.releaseSlot() }
            guard case .failed(let code) = result else { return false }
            if SystemError("accept", code: code).lacksDescriptors {
                let room = makeRoom(lacksDescriptors: true)
                if room == .made { continue }
                if room == .awaited { return false }
            }
            failed(code)
            return false
        }
        return true
    }

    private var hasWaitingConnection: Bool { early != nil || listener.hasWaitingConnection }

    /// Accepts a connection before a slot is free, to learn its address: an address that is at its
    /// limit must not displace the connections of others.
    /// - Returns: `false` when the connection was refused, or another loop has taken it.
    private func takeEarly() -> Bool {
        var raw = RawSocketAddress()
        switch listener.accept(&raw) {
        case .done(let descriptor):
            let peer = PeerAddress(&raw)
            guard core.admits(peer) else {
                refuse(CInt(descriptor))
                return false
            }
            early = (CInt(descriptor), peer)
            return true
        // The caller tries again once a slot is free.
        case .failed: return true
        default: return false
        }
    }

    private enum Room { case made, awaited, none }

    private enum Question {
        case none
        case open(until: UInt64)
        case answered(at: UInt64)
    }

    /// Closes the connection that has been idle for longest. When this loop has none, it asks the
    /// others; the new connection waits until all have answered, or for `answerTime`.
    private func makeRoom(lacksDescriptors: Bool = false) -> Room {
        guard core.configuration.closesIdleAtLimit else { return .none }
        if loop.closeLongestIdle() { return .made }
        switch question {
        case .none:
            guard core.hasLoops(besides: loop) else { return .none }
            ask(lacksDescriptors)
        case .open(let end): guard loop.now < end else { return .none }
        case .answered(let time):
            // By now another connection may be waiting, and other connections may be idle.
            guard loop.now &- time > Self.pause else { return .none }
            ask(lacksDescriptors)
        }
        return waitForRoom()
    }

    private func ask(_ lacksDescriptors: Bool) {
        question = .open(until: loop.now &+ Self.answerTime)
        questionNumber &+= 1
        core.askForRoom(besides: loop) { [self, number = questionNumber] isMade in
            loop.execute {
                guard number == self.questionNumber, case .open = self.question else { return }
                // Another loop may take the slot, so the next connection asks again. If descriptors
                // are short it asks later: files may take them, and one client displace others.
                let mayAskAgain = isMade && !lacksDescriptors
                self.question = mayAskAgain ? .none : .answered(at: self.loop.now)
                self.resume()
                if !self.hasWaitingConnection { self.question = .none }
            }
        }
    }

    private func admit(_ descriptor: CInt, _ peer: PeerAddress) {
        guard core.admits(peer) else {
            (hasLoggedFailure, question) = (false, .none)
            core.releaseSlot()
            return refuse(descriptor)
        }
        take(descriptor, peer)
    }

    private func take(_ descriptor: CInt, _ peer: PeerAddress) {
        (hasLoggedFailure, question) = (false, .none)
        core.connectionOpened()
        let connection = Connection(
            loop: loop, core: core, peer: peer, local: listener.address)
        let socket = SocketTransport(descriptor, loop: loop, token: connection.token)
        connection.info.keepSocket(descriptor)
        var transport: any Transport = socket
        for layer in layers { transport = layer.transport(over: transport, for: connection) }
        guard connection.open(transport) else { return }
        if !socket.open() { connection.abort(.connectionLost) }
    }

    private func refuse(_ descriptor: CInt) {
        core.observers.metrics?.connectionRefused()
        guard case .unavailable(let time) = core.configuration.connectionOverflow,
            refusals < Self.refusalLimit, layers.isEmpty
        else { return Syscalls.close(descriptor) }
        refusals += 1
        let seconds = max(time.nanoseconds / 1_000_000_000, 1)
        UnavailableResponder(descriptor, loop: loop, retryAfter: seconds) { [self] in
            refusals -= 1
        }.open()
    }

    private func waitForRoom() -> Room {
        pause()
        guard !waitsForRoom else { return .awaited }
        waitsForRoom = true
        core.whenConnectionCloses { [self] in
            loop.execute {
                self.waitsForRoom = false
                self.resume()
            }
        }
        return .awaited
    }

    // MARK: Failures

    private func failed(_ code: CInt) {
        if listener.isClosed { return }
        let error = SystemError("accept", code: code)
        // Accepting reports these errors only after the system has closed the socket.
        if error.isNoListener { return lost() }
        if !hasLoggedFailure {
            core.logger.warning("cannot take connections", metadata: ["error": "\(error)"])
        }
        hasLoggedFailure = true
        if error.lacksDescriptors { refuseOne() }
        pause()
    }

    private func lost() {
        guard !listener.isClosed, !isStopped else { return }
        stop()
        socketWasLost(listener)
    }

    /// Accepts a connection with the reserve and closes it, which notifies the client immediately.
    /// Otherwise the client would wait in the backlog until it gives up.
    private func refuseOne() {
        guard reserve >= 0 else { return }
        Syscalls.close(reserve)
        var raw = RawSocketAddress()
        if case .done(let descriptor) = listener.accept(&raw) {
            core.observers.metrics?.connectionRefused()
            Syscalls.close(CInt(descriptor))
        }
        reserve = Syscalls.openNull()
    }

    // MARK: Pauses and the end

    override func deadlineReached() { resume() }

    private func pause() {
        loop.setDeadline(loop.now &+ Self.pause, for: self)
        guard !isPaused else { return }
        isPaused = true
        loop.poller.remove(listener.descriptor)
    }

    private func resume() {
        guard isPaused, !isStopped else { return }
        isPaused = false
        if reserve < 0 { reserve = Syscalls.openNull() }
        watch()
        // The early connection has left the backlog, so the poller does not report it.
        if early != nil { takeBatch(Self.batch) }
    }

    /// Whether the acceptor takes connections into `loop`; callable from any thread.
    func isOn(_ loop: EventLoop) -> Bool { loop === self.loop }

    /// Whether the listener is closed; callable from any thread.
    var isOrphaned: Bool { listener.isClosed }

    /// Accepts the connections in the backlog unless paused, then stops. Call on the loop.
    func finish() {
        guard !isStopped else { return }
        // Connections that arrive as fast as they are accepted must not keep the listener open.
        var batches = core.configuration.backlog / Self.batch + 1
        while batches > 0, !isPaused, !listener.isClosed, takeBatch(Self.batch) { batches -= 1 }
        stop()
    }

    private func stop() {
        guard !isStopped else { return }
        isStopped = true
        loop.poller.remove(listener.descriptor)
        loop.remove(self)
        if reserve >= 0 { Syscalls.close(reserve) }
        reserve = -1
        if let early { giveUp(early) }
    }

    private func giveUp(_ accepted: (descriptor: CInt, peer: PeerAddress)) {
        early = nil
        core.releasePeer(accepted.peer)
        Syscalls.close(accepted.descriptor)
    }
}

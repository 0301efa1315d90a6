internal import Logging

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Takes new connections from a listener into one loop. All loops poll the same listener.
///
/// When there are too many connections, or no descriptors, it stops polling until one is free:
/// the system keeps the newcomers in the backlog, and a poller that reports them without end
/// would burn a processor.
final class Acceptor: LoopClient, @unchecked Sendable {
    private let loop: EventLoop
    private let core: ServerCore
    private let listener: Listener
    private var isPaused = false
    private var isStopped = false
    /// Whether the log knows already that connections cannot be taken.
    private var hasComplained = false
    /// Kept so that, without any descriptor left, a newcomer can be taken and turned away.
    private var reserve: CInt

    /// How many connections are taken before others get their turn.
    private static let batch = 64
    private static let pause: UInt64 = 100_000_000

    init(listener: Listener, loop: EventLoop, core: ServerCore) {
        self.listener = listener
        self.loop = loop
        self.core = core
        reserve = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        super.init(in: loop)
        watch()
    }

    private func watch() {
        let isWatched = loop.poller.add(listener.descriptor, [.read, .exclusive], token: token)
        precondition(isWatched, "the listener cannot be polled: \(SystemError("epoll_ctl"))")
    }

    override func handle(_ event: PollEvent) {
        guard !isPaused, !isStopped else { return }
        for _ in 0..<Self.batch {
            guard core.admitsConnection() else { return waitForRoom() }
            var raw = RawSocketAddress()
            switch listener.accept(&raw) {
            case .done(let descriptor): admit(CInt(descriptor), PeerAddress(&raw))
            case .wouldBlock: return core.connectionClosed()
            case .failed(let code):
                core.connectionClosed()
                return failed(code)
            }
        }
    }

    private func admit(_ descriptor: CInt, _ peer: PeerAddress) {
        hasComplained = false
        let connection = Connection(
            loop: loop, core: core, peer: peer, local: listener.address)
        let transport = SocketTransport(descriptor, loop: loop, token: connection.token)
        guard connection.open(transport) else { return }
        if !transport.open() { connection.abort(.connectionLost) }
    }

    private func waitForRoom() {
        suspend()
        core.whenConnectionCloses { [self] in loop.execute { self.resume() } }
        loop.setDeadline(loop.now &+ Self.pause, for: self)
    }

    private func failed(_ code: CInt) {
        if !hasComplained {
            let error = SystemError("accept", code: code)
            core.logger.warning("cannot take connections", metadata: ["error": "\(error)"])
        }
        hasComplained = true
        if code == EMFILE || code == ENFILE { turnOneAway() }
        suspend()
        loop.setDeadline(loop.now &+ Self.pause, for: self)
    }

    /// Without a descriptor the newcomer would wait in the backlog until it gives up; taking it
    /// with the reserve and closing it tells it at once.
    private func turnOneAway() {
        guard reserve >= 0 else { return }
        Syscalls.close(reserve)
        var raw = RawSocketAddress()
        if case .done(let descriptor) = listener.accept(&raw) { Syscalls.close(CInt(descriptor)) }
        reserve = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    override func deadlineReached() {
        resume()
    }

    private func suspend() {
        guard !isPaused else { return }
        isPaused = true
        loop.poller.remove(listener.descriptor)
    }

    private func resume() {
        guard isPaused, !isStopped else { return }
        isPaused = false
        if reserve < 0 { reserve = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }
        watch()
    }

    /// Whether this is the loop that the acceptor serves; from any thread.
    func isOn(_ loop: EventLoop) -> Bool { loop === self.loop }

    /// Takes no more connections. Confined to the loop.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        loop.poller.remove(listener.descriptor)
        loop.remove(self)
        if reserve >= 0 { Syscalls.close(reserve) }
        reserve = -1
    }
}

internal import Logging
internal import Synchronization

/// An HTTP/1.1 server (RFC 9110, RFC 9112).
///
/// ```swift
/// var router = Router()
/// router.on(.get, "/") { _ in Response(.ok, body: .text("Hello\n")) }
/// try await HTTPServer(ServerConfiguration(port: 8080), handler: router).run()
/// ```
public final class HTTPServer: Sendable {
    private struct State: Sendable {
        var isStarted = false
        var listeners: [Listener] = []
        var acceptors: [Acceptor] = []
        var loops: [EventLoop] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isStopped = false
    }

    private let core: ServerCore
    private let state = Locked(State())

    /// Creates a server; it does nothing until it is started.
    public init(_ configuration: ServerConfiguration = ServerConfiguration(), handler: some Handler)
    {
        core = ServerCore(configuration: configuration, handler: handler)
    }

    /// Begins to listen and to serve.
    ///
    /// A server that is started serves until `shutdown`, whether or not somebody still holds it.
    /// It can be started once; a start that failed may be tried again.
    /// - Throws: why an endpoint cannot be listened on; nothing is left open then.
    public func start() throws(ListenError) {
        let isFirst = state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted
        }
        precondition(isFirst, "a server can be started once")
        let listeners: [Listener]
        do throws(ListenError) {
            listeners = try listen()
        } catch {
            state.withLock { $0.isStarted = false }
            throw error
        }
        let configuration = core.configuration
        let loops = (0..<configuration.loopCount).map { index in
            EventLoop(
                label: "http.loop.\(index)", limits: configuration.parserLimits,
                leniency: configuration.leniency, serverName: configuration.serverName)
        }
        state.withLock { state in
            state.listeners = listeners
            state.loops = loops
        }
        for loop in loops {
            for listener in listeners {
                loop.execute { [self] in accept(listener, loop) }
            }
        }
        core.logger.info(
            "listening", metadata: ["addresses": "\(listeners.map(\.address.description))"])
    }

    private func listen() throws(ListenError) -> [Listener] {
        var listeners: [Listener] = []
        for endpoint in core.configuration.endpoints {
            listeners += try endpoint.listen(backlog: core.configuration.backlog)
        }
        return listeners
    }

    private func accept(_ listener: Listener, _ loop: EventLoop) {
        let isWanted = state.withLock { !$0.isStopped && !$0.listeners.isEmpty }
        guard isWanted else { return }
        let acceptor = Acceptor(listener: listener, loop: loop, core: core)
        state.withLock { $0.acceptors.append(acceptor) }
    }

    /// Where the server listens, with the ports the system chose; empty unless it is started.
    public var addresses: [SocketAddress] {
        state.withLock { $0.listeners.map(\.address) }
    }

    /// How many connections are open.
    public var connectionCount: Int { core.openConnections }

    /// Starts and serves until `shutdown` is called or the task is cancelled, which shuts down
    /// with the grace of the configuration.
    public func run() async throws {
        try start()
        await withTaskCancellationHandler {
            await waitUntilShutdown()
        } onCancel: {
            Task { await self.shutdown() }
        }
    }

    /// Waits until a shutdown that somebody else began is complete.
    public func waitUntilShutdown() async {
        await withCheckedContinuation { continuation in
            let isStopped = state.withLock { state in
                if !state.isStopped { state.waiters.append(continuation) }
                return state.isStopped
            }
            if isStopped { continuation.resume() }
        }
    }

    /// Stops: takes no more connections, lets running requests end, closes the idle connections
    /// at once and the others when their time is over.
    /// - Parameter grace: how long running requests may go on; `nil` for the configured time.
    public func shutdown(grace: Duration? = nil) async {
        let (loops, acceptors) = state.withLock { state in
            state.listeners = []
            defer { state.acceptors = [] }
            return (state.loops, state.acceptors)
        }
        for loop in loops {
            loop.execute {
                for acceptor in acceptors where acceptor.isOn(loop) { acceptor.stop() }
                loop.forEachConnection { $0.shutDown() }
            }
        }
        await waitForConnections(grace ?? core.configuration.shutdownGrace)
        for loop in loops {
            loop.execute { loop.forEachConnection { $0.abort() } }
        }
        await waitForConnections(.seconds(1))
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isStopped = true
            state.loops = []
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// A connection that was accepted a moment ago may not be known to its loop yet, so the
    /// loops are asked again while they empty.
    private func waitForConnections(_ time: Duration) async {
        let clock = ContinuousClock()
        let end = clock.now + time
        while core.openConnections > 0, clock.now < end {
            try? await Task.sleep(for: .milliseconds(5))
            for loop in state.withLock({ $0.loops }) {
                loop.execute { loop.forEachConnection { $0.shutDown() } }
            }
        }
    }
}

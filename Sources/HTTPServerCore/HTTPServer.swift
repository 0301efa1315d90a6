internal import HTTPParser
internal import Logging
public import ToolkitSystem

#if !Server
    #error("the products of the server need the trait Server of swift-http-toolkit")
#endif

/// An HTTP/1.1 server (RFC 9110, RFC 9112).
///
/// ```swift
/// var router = Router()
/// router.get("/") { _ in "Hello\n" }
/// try await HTTPServer(ServerConfiguration(port: 8080), handler: router).run()
/// ```
///
/// Any task may start, suspend, resume and shut it down, as often as wanted. Calls take effect in
/// order of arrival, block no thread, and return once the server has the state that they request.
public final class HTTPServer: Sendable {
    struct Status: Sendable {
        var state = State.stopped
        /// Counts the changes of `state`, so that a waiter sees that it has changed.
        var changes = 0
        var listeners: [Listener] = []
        /// The listeners before the suspension, to be bound again.
        var suspended: [Listener] = []
        var acceptors: [Acceptor] = []
        var loops: [EventLoop] = []
        /// When the running or requested shutdown aborts the remaining requests.
        var deadline: ContinuousClock.Instant?
        var stopRequests = 0
        var shutdowns = 0
    }

    package let core: ServerCore
    let status = Locked(Status())
    /// Held by each change of `Status.state`.
    let transitions = AsyncLock()

    /// Creates a server; it does nothing until it is started.
    public init(_ configuration: ServerConfiguration, handler: some Handler) {
        core = ServerCore(configuration: configuration, handler: handler)
    }

    deinit { core.events.finish() }

    // MARK: State

    /// The current state.
    public var state: State { status.withLock { $0.state } }

    /// Where the server listens, with the ports the system chose; empty unless it is running.
    public var addresses: [SocketAddress] {
        status.withLock { $0.listeners.map(\.address) }
    }

    /// The URL by which programs on this machine reach the server, like `http://127.0.0.1:8080/`;
    /// `nil` unless it listens on a network. Tests use it to reach a server started on port 0.
    public var url: String? {
        for listener in listeners {
            guard let port = listener.address.port else { continue }
            let scheme = listener.isSecure ? "https" : "http"
            switch listener.address.host {
            case "0.0.0.0": return "\(scheme)://127.0.0.1:\(port)/"
            case "::": return "\(scheme)://[::1]:\(port)/"
            case let host where host.contains(":"): return "\(scheme)://[\(host)]:\(port)/"
            case let host: return "\(scheme)://\(host):\(port)/"
            }
        }
        return nil
    }

    /// The loops, while the server runs.
    package var loops: [EventLoop] { status.withLock { $0.loops } }

    /// The current listeners.
    package var listeners: [Listener] { status.withLock { $0.listeners } }

    /// How many connections are open.
    public var connectionCount: Int { core.openConnections }

    /// Whether ``Event/connected`` was the last event about connections.
    package var hasReportedClient: Bool { core.events.isConnected }

    /// Events from now on, in order. Each use gives a separate stream, which ends when the server
    /// is deallocated. At most 256 events wait for a reader; after that the oldest are dropped.
    public var events: AsyncStream<Event> { core.events.stream() }

    /// Sends events to a receiver from now on, in place of the previous receiver.
    package func sendEvents(to receiver: EventReceiver?) {
        core.events.setReceiver(receiver)
    }

    // MARK: Starting

    /// Starts to listen and serve, also after a failure. A suspended server is resumed.
    ///
    /// A started server serves until `shutdown`, even if the program does not retain it.
    /// - Throws: the error of the endpoint that cannot listen. `state` is `failed` then, and only
    ///   inherited sockets stay open.
    @concurrent
    public func start() async throws(ListenError) {
        await transitions.lock()
        defer { transitions.unlock() }
        switch state {
        case .running, .starting, .stopping: break
        case .suspended: try await listenAgain()
        case .stopped, .failed: try await listenAfresh()
        }
    }

    private func listenAfresh() async throws(ListenError) {
        let configuration = core.configuration
        enter(.starting)
        core.prepareLimits()
        TemporaryFiles.sweep(below: nil)
        let suspended = status.withLock { status in
            defer { status.suspended = [] }
            return status.suspended
        }
        for listener in suspended where !listener.isInherited { listener.close() }
        let bound = await BlockingPool.binding.value {
            Result { () throws(ListenError) in
                try Self.bind(configuration)
            }
        }
        do throws(ListenError) {
            let listeners = try bound.get()
            do throws(SystemError) {
                try makeLoops()
            } catch {
                for listener in listeners where !listener.isInherited { listener.close() }
                throw .system("event loops", error)
            }
            serve(listeners)
            enter(.running, .started(listeners.map(\.address)))
        } catch {
            enter(.failed(error), .failed(error))
            throw error
        }
    }

    private static func bind(
        _ configuration: ServerConfiguration
    ) throws(ListenError) -> [Listener] {
        var listeners: [Listener] = []
        for endpoint in configuration.endpoints {
            listeners += try endpoint.listen(backlog: configuration.backlog)
        }
        return listeners
    }

    /// Call only while holding `transitions`.
    private func makeLoops() throws(SystemError) {
        guard status.withLock({ $0.loops.isEmpty }) else { return }
        let configuration = core.configuration
        var serverName = configuration.serverName
        var line = ByteBuffer(capacity: 128)
        do throws(HTTPMessageError) {
            try line.append(field: "Server", serverName)
        } catch {
            core.logger.warning("omitting Server: invalid name", metadata: ["error": "\(error)"])
            serverName = ""
        }
        var loops: [EventLoop] = []
        for index in 0..<configuration.loopCount {
            loops.append(
                try EventLoop(
                    label: "http.loop.\(index)", limits: configuration.parserLimits,
                    leniency: configuration.leniency, serverName: serverName,
                    qos: configuration.loopQoS, target: configuration.loopTarget))
        }
        status.withLock { $0.loops = loops }
        core.loops.withLock { $0 = loops }
    }

    /// Has all loops accept connections from these listeners.
    func serve(_ listeners: [Listener]) {
        let loops = status.withLock { status in
            status.listeners += listeners
            return status.loops
        }
        for loop in loops {
            loop.execute { [self] in
                for listener in listeners where !listener.isClosed { accept(listener, loop) }
            }
        }
        core.logger.info(
            "listening", metadata: ["addresses": "\(listeners.map(\.address.description))"])
    }

    private func accept(_ listener: Listener, _ loop: EventLoop) {
        let acceptor = Acceptor(listener: listener, loop: loop, core: core) { [self] listener in
            Task { await listenerDied(listener) }
        }
        status.withLock { $0.acceptors.append(acceptor) }
    }

    // MARK: States

    /// Sets the state and notifies observers. Call only while holding `transitions`.
    func enter(_ state: State, _ event: Event? = nil) {
        status.withLock { status in
            status.state = state
            status.changes += 1
        }
        if let event { core.events.emit(event) }
        core.changes.advance()
    }

    // MARK: Handlers

    /// Replaces the handler for requests whose heads arrive from now on, on open connections, too.
    /// Running requests keep the old handler.
    @concurrent
    public func replaceHandler(with handler: some Handler) async {
        core.handler = handler
        // If two replacements run at the same time, both passes install the last handler.
        await onEveryLoop { [core] loop in loop.forEachConnection { $0.use(core.handler) } }
    }

    /// Runs `body` on every loop, and waits for all of them for at most 250 ms. A loop that a
    /// handler blocks runs it later.
    func onEveryLoop(_ body: @escaping @Sendable (EventLoop) -> Void) async {
        let loops = status.withLock { $0.loops }
        let done = EventCount()
        for loop in loops {
            loop.execute {
                body(loop)
                done.advance()
            }
        }
        await done.wait(for: UInt64(loops.count), until: .now + .milliseconds(250))
    }
}

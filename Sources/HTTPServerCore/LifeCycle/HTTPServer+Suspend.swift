internal import Logging
internal import ToolkitSystem

extension HTTPServer {
    // MARK: Suspending

    /// Closes the listening sockets, so that no client can connect until `resume`; the server
    /// remembers their addresses, with the ports that the system chose.
    ///
    /// Connections in the backlog are accepted first. The state is `suspended` as soon as the
    /// sockets are closed. The call returns when `connections` is carried out, or when the server
    /// is resumed or shut down. It does nothing unless the server runs. Inherited sockets stay
    /// open, but no connections are accepted from them.
    /// - Parameter connections: the treatment of open connections.
    @concurrent
    public func suspend(
        connections: ConnectionsAtSuspension = .finish(within: nil)
    ) async {
        await transitions.lock()
        guard state == .running else { return transitions.unlock() }
        let listeners = await stopListening()
        status.withLock { $0.suspended = listeners }
        enter(.suspended, .suspended)
        let period = status.withLock { $0.changes }
        transitions.unlock()
        core.logger.info("suspended")
        switch connections {
        case .keep: break
        case .close: await closeConnections(in: period)
        case .finish(let time): await finishConnections(time, in: period)
        }
    }

    /// Accepts the connections in the backlogs, then closes the listeners.
    func stopListening() async -> [Listener] {
        await finishAcceptors { _ in true }
        let listeners = status.withLock { status in
            defer { status.listeners = [] }
            return status.listeners
        }
        for listener in listeners where !listener.isInherited { listener.close() }
        return listeners
    }

    private func finishAcceptors(
        where isMeant: @escaping @Sendable (Acceptor) -> Bool
    ) async {
        await onEveryLoop { [status] loop in
            let acceptors = status.withLock { status in
                let acceptors = status.acceptors.filter { $0.isOn(loop) && isMeant($0) }
                status.acceptors.removeAll { $0.isOn(loop) && isMeant($0) }
                return acceptors
            }
            for acceptor in acceptors { acceptor.finish() }
        }
    }

    private func finishConnections(_ time: Duration?, in period: Int) async {
        let end = ContinuousClock.now + (time ?? core.configuration.shutdownGrace)
        forEachConnection(in: period) { $0.shutDown() }
        await waitForConnections(until: end, in: period)
        await closeConnections(in: period)
    }

    private func closeConnections(in period: Int) async {
        forEachConnection(in: period) { $0.abort() }
        await waitForConnections(until: .now + .seconds(1), in: period)
    }

    private func waitForConnections(
        until end: ContinuousClock.Instant, in period: Int
    ) async {
        await core.waitForConnections { isIn(period) ? end : nil }
    }

    /// Calls `body` with the connections of a suspension, unless that suspension is over.
    private func forEachConnection(
        in period: Int, _ body: @escaping @Sendable (Connection) -> Void
    ) {
        for loop in status.withLock({ $0.loops }) {
            loop.execute { [self] in
                if isIn(period) { loop.forEachConnection(body) }
            }
        }
    }

    private func isIn(_ period: Int) -> Bool { status.withLock { $0.changes == period } }

    // MARK: Resuming

    /// Listens again at the addresses and ports that `suspend` closed, and serves.
    ///
    /// Another program may use a port for a moment, so binding is retried after short pauses, up to
    /// the `rebindTimeout` of the configuration. On a running server, `resume` checks the listening
    /// sockets, and replaces dead ones.
    /// - Throws: the error of the address that cannot listen; `state` is `failed` then, and
    ///   `resume` may be tried again. `ListenError.serverStopped` if the server is stopped, or is
    ///   shut down during the call.
    @concurrent
    public func resume() async throws(ListenError) {
        await transitions.lock()
        defer { transitions.unlock() }
        switch state {
        case .running: try await replaceDeadListeners()
        case .suspended: try await listenAgain()
        case .failed:
            guard status.withLock({ !$0.suspended.isEmpty }) else { throw .serverStopped }
            try await listenAgain()
        case .stopped, .starting, .stopping: throw .serverStopped
        }
    }

    /// Call only while holding `transitions`.
    func listenAgain() async throws(ListenError) {
        let suspended = status.withLock { $0.suspended }
        enter(.starting)
        do throws(ListenError) {
            let listeners = try await bindAgain(suspended)
            status.withLock { $0.suspended = [] }
            serve(listeners)
            enter(.running, .resumed(listeners.map(\.address)))
        } catch .serverStopped {
            enter(.suspended)
            throw .serverStopped
        } catch {
            enter(.failed(error), .failed(error))
            throw error
        }
    }

    private func bindAgain(_ closed: [Listener]) async throws(ListenError) -> [Listener] {
        let backlog = core.configuration.backlog
        let end = ContinuousClock.now + core.configuration.rebindTimeout
        var pause = Duration.milliseconds(5)
        while true {
            let bound = await BlockingPool.binding.value {
                Result { () throws(ListenError) in
                    var listeners: [Listener] = []
                    for listener in closed {
                        listeners.append(try listener.reopened(backlog: backlog))
                    }
                    return listeners
                }
            }
            do throws(ListenError) {
                return try bound.get()
            } catch {
                guard error.mayPass, .now + pause < end else { throw error }
                try await wait(pause)
                pause = min(pause * 2, .milliseconds(250))
            }
        }
    }

    /// Waits; throws as soon as a shutdown is requested.
    private func wait(_ time: Duration) async throws(ListenError) {
        let end = ContinuousClock.now + time
        while end > .now {
            let known = core.changes.count
            if status.withLock({ $0.stopRequests > 0 }) { throw .serverStopped }
            await core.changes.wait(for: known + 1, until: end)
        }
    }

    // MARK: Sockets that were taken away

    /// Replaces a socket that the system has closed, as systems that freeze programs may do.
    func listenerDied(_ listener: Listener) async {
        await transitions.lock()
        defer { transitions.unlock() }
        guard state == .running, status.withLock({ $0.listeners.contains { $0 === listener } })
        else { return }
        core.logger.warning(
            "the system closed a listening socket", metadata: ["address": "\(listener.address)"])
        // The delegate and the readers of events get the error.
        try? await replaceDeadListeners(listener)
    }

    /// Call only while holding `transitions`.
    private func replaceDeadListeners(_ known: Listener? = nil) async throws(ListenError) {
        let dead = status.withLock { status in
            status.listeners.filter { $0 === known || !$0.isAlive }
        }
        guard !dead.isEmpty else { return }
        enter(.starting)
        for listener in dead { listener.close() }
        status.withLock { status in status.listeners.removeAll { $0.isClosed } }
        await finishAcceptors { $0.isOrphaned }
        do throws(ListenError) {
            serve(try await bindAgain(dead))
            enter(.running, .rebound(addresses))
        } catch {
            let others = await stopListening()
            status.withLock { $0.suspended = others + dead }
            if error == .serverStopped {
                enter(.suspended)
            } else {
                enter(.failed(error), .failed(error))
            }
            throw error
        }
    }
}

extension ListenError {
    /// Whether trying again in a moment may help.
    fileprivate var mayPass: Bool {
        switch self {
        case .addressInUse, .addressNotAvailable: true
        default: false
        }
    }
}

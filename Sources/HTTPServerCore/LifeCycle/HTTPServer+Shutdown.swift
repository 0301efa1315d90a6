internal import Logging
internal import ToolkitSystem

extension HTTPServer {
    /// Stops: accepts no more connections, and closes idle connections immediately and the others
    /// when their requests end, or at the deadline.
    ///
    /// It returns when no connection is left, or a second after the deadline if a loop is blocked.
    /// Another call may shorten the grace; both calls return together. The server can be restarted.
    /// - Parameter grace: how long running requests may continue; `nil` for `shutdownGrace`.
    @concurrent
    public func shutdown(grace: Duration? = nil) async {
        await stop(by: .now + (grace ?? core.configuration.shutdownGrace), .requested)
    }

    /// Stops, as `shutdown(grace:)` does.
    /// - Parameter deadline: when running requests are aborted.
    @concurrent
    public func shutdown(deadline: ContinuousClock.Instant) async {
        await stop(by: deadline, .requested)
    }

    /// Waits until a shutdown by another caller is complete; returns immediately if the server is
    /// stopped now.
    @concurrent
    public func waitUntilShutdown() async {
        let shutdowns = status.withLock { $0.shutdowns }
        await waitForChanges { $0.state == .stopped || $0.shutdowns != shutdowns }
    }

    /// Waits for a condition on the status.
    func waitForChanges(until isMet: @Sendable (Status) -> Bool) async {
        while true {
            let known = core.changes.count
            if status.withLock({ isMet($0) }) { return }
            await core.changes.wait(for: known + 1)
        }
    }

    func stop(by deadline: ContinuousClock.Instant, _ reason: StopReason) async {
        status.withLock { status in
            status.stopRequests += 1
            status.hasten(to: deadline)
        }
        // Wakes a retry of binding, which gives up, and a running shutdown, which checks its
        // deadline.
        core.changes.advance()
        await transitions.lock()
        if state != .stopped { await stopNow(by: deadline, reason) }
        status.withLock { status in
            status.stopRequests -= 1
            if status.stopRequests == 0 { status.deadline = nil }
        }
        transitions.unlock()
    }

    /// Call only while holding `transitions`.
    private func stopNow(by deadline: ContinuousClock.Instant, _ reason: StopReason) async {
        enter(.stopping)
        let parked = status.withLock { status in
            status.hasten(to: deadline)
            defer { status.suspended = [] }
            return status.suspended
        }
        for listener in await stopListening() + parked { listener.close() }
        forEachConnection { $0.shutDown() }
        await core.waitForConnections { status.withLock { $0.deadline } }
        forEachConnection { $0.abort() }
        let end = ContinuousClock.now + .seconds(1)
        await core.waitForConnections { end }
        // Aborted requests may have left files, and the process may end after this.
        await TemporaryFiles.waitForRemovals(until: .now + .seconds(1))
        core.events.connectionsEnded()
        status.withLock { status in
            status.loops = []
            status.shutdowns += 1
        }
        core.loops.withLock { $0 = [] }
        enter(.stopped, .stopped(reason))
        core.logger.info("stopped")
    }

    private func forEachConnection(_ body: @escaping @Sendable (Connection) -> Void) {
        for loop in status.withLock({ $0.loops }) {
            loop.execute { loop.forEachConnection(body) }
        }
    }
}

extension HTTPServer.Status {
    fileprivate mutating func hasten(to deadline: ContinuousClock.Instant) {
        self.deadline = min(self.deadline ?? deadline, deadline)
    }
}

public import ToolkitSystem

#if ServiceLifecycle
    public import ServiceLifecycle
#endif

extension HTTPServer {
    /// Starts and serves until SIGINT or SIGTERM arrives, `shutdown` is called, or the task is
    /// cancelled. Signals and cancellation shut down the server with the grace of the
    /// configuration. `suspend` does not end the call. A second signal has its previous effect
    /// again, which ends most programs immediately. Use ``run(stoppingOn:started:)`` for other
    /// signals, or for none.
    ///
    /// With the package trait `ServiceLifecycle`, signals are left to the service group. Its
    /// graceful shutdown shuts down the server, with the same grace.
    /// - Throws: `ListenError` when the server cannot listen, or cannot listen any more.
    @concurrent
    public func run() async throws {
        #if ServiceLifecycle
            try await run(stoppingOn: [])
        #else
            try await run(stoppingOn: [.interrupt, .terminate])
        #endif
    }

    /// Serves until a shutdown ends.
    /// - Parameter shutdowns: how many shutdowns had ended before the server started. If another
    ///   has ended since then, the method returns immediately.
    private func run(since shutdowns: Int) async throws {
        #if ServiceLifecycle
            try await withGracefulShutdownHandler {
                try await serveUntilStopped(.cancelled, since: shutdowns)
            } onGracefulShutdown: {
                self.requestStop(.requested)
            }
        #else
            try await serveUntilStopped(.cancelled, since: shutdowns)
        #endif
    }

    /// Starts and serves like `run()`, and shuts down with the grace of the configuration on the
    /// first of these signals.
    ///
    /// After the first signal, and after the return, signals have their previous effect again: a
    /// second Control-C ends most programs immediately.
    /// - Parameters:
    ///   - signals: the signals to stop on, such as `[.interrupt, .terminate]`. The first has no
    ///     other effect. A signal that cannot be caught keeps its effect.
    ///   - started: called once the server listens, with its addresses.
    /// - Throws: `ListenError` when the server cannot listen, or cannot listen any more.
    @concurrent
    public func run(
        stoppingOn signals: Set<StopSignal>,
        started: @escaping @Sendable (_ addresses: [SocketAddress]) -> Void = { _ in }
    ) async throws {
        // A signal may stop the server before `started` has returned.
        let shutdowns = status.withLock { $0.shutdowns }
        let received = Locked<StopSignal?>(nil)
        let watch = SignalWatch(signals) { [weak self] signal in
            received.withLock { $0 = signal }
            self?.requestStop(.signal(signal))
        }
        defer { watch.end() }
        try await start()
        // A signal before the end of `start` may have had nothing to stop.
        if let signal = received.withLock({ $0 }) { requestStop(.signal(signal)) }
        started(addresses)
        try await run(since: shutdowns)
    }

    private func serveUntilStopped(_ reason: StopReason, since shutdowns: Int) async throws {
        await withTaskCancellationHandler {
            await waitForChanges { status in
                if case .failed = status.state { return true }
                return status.state == .stopped || status.shutdowns != shutdowns
            }
        } onCancel: {
            requestStop(reason)
        }
        guard case .failed(let error) = state else { return }
        await stop(by: .now + core.configuration.shutdownGrace, .failure(error))
        throw error
    }

    private func requestStop(_ reason: StopReason) {
        let deadline = ContinuousClock.now + core.configuration.shutdownGrace
        Task { await stop(by: deadline, reason) }
    }
}

#if ServiceLifecycle
    // The module has a type `Service`, too.
    extension HTTPServer: ServiceLifecycle.Service {}
#endif

internal import HTTPParser
package import HTTPServerCore
package import WebSocketConnections
internal import WebSocketFrames

/// The server's connection below a WebSocket.
struct ServerCarrier: WebSocketCarrier {
    let base: any UpgradeCarrier

    var waitingBytes: Int { base.waitingBytes }
    func write(_ body: (inout ByteBuffer) -> Void) { base.write(body) }
    func flush() { base.flush() }
    func readOn() { base.readOn() }
    func deadlineChanged() { base.deadlineChanged() }
    func finish(leavesInput: Bool) { base.finish(leavesInput: leavesInput) }
}

extension EventLoop: WebSocketLoop {
    package var monotonicTime: UInt64 { now }
    package var isEntered: Bool { isFree }

    package func hand(_ work: @escaping @Sendable () -> Void) -> Bool {
        execute(work)
        return true
    }

    package func handAfterTasks(_ work: @escaping @Sendable () -> Void) {
        Task(executorPreference: self) {
            if self.isFree { work() } else { self.execute(work) }
        }
    }
}

extension WebSocketConnection: UpgradedProtocol {
    package func serverStops() { stop() }

    package func connectionClosed(_ reason: ConnectionCloseReason) { carrierEnded() }

    /// Runs the handler's closure with the socket.
    /// - Parameter report: gets an error that the closure throws, other than the end of the
    ///   connection or a cancellation.
    func run(
        _ body: @escaping @Sendable (WebSocket) async throws -> Void, with socket: WebSocket,
        on loop: EventLoop, report: @escaping @Sendable (any Error) -> Void
    ) {
        // Keep few values across the wait, because the task lives as long as the connection.
        let task = Task(executorPreference: loop) {
            do {
                try await body(socket)
                self.handlerEnded()
            } catch {
                self.handlerEnded(by: error, report)
            }
        }
        // After a regular close the handler may have work to do; after a cut-off it is cancelled. A
        // handler that does not read would not notice its client's close otherwise.
        whenEnded { connection, end in
            switch end.cause {
            case .local where !connection.isStopping: break
            case .local where connection.hasReader, .peer where connection.hasReader: break
            // The connection is being written to, so the cancellation, which may run code of the
            // program, is deferred.
            case .local, .peer, .failure, .transport: loop.execute { task.cancel() }
            }
        }
    }

    private func handlerEnded(
        by error: any Error, _ report: @Sendable (any Error) -> Void
    ) {
        switch error {
        // The end was reported already.
        case is WebSocketClosedError: handlerEnded()
        case is CancellationError: handlerEnded(.goingAway)
        default:
            report(error)
            handlerEnded(.internalError)
        }
    }

    private func handlerEnded(_ code: CloseCode = .normal) {
        onLoop {
            self.close(code, "")
            self.abandonMessages()
        }
    }
}

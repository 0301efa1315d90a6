internal import HTTPParser
package import HTTPServerCore
package import WebSocketConnections
internal import WebSocketFrames

/// A connection of the server below a WebSocket.
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

    /// Runs what the handler does with the socket.
    /// - Parameter report: is handed an error of the handler's own.
    func run(
        _ body: @escaping @Sendable (WebSocket) async throws -> Void, with socket: WebSocket,
        on loop: EventLoop, report: @escaping @Sendable (any Error) -> Void
    ) {
        // Little stays across the wait, because the task lives as long as the connection.
        let task = Task(executorPreference: loop) {
            do {
                try await body(socket)
                self.handlerEnded()
            } catch {
                self.handlerEnded(by: error, report)
            }
        }
        // A closed conversation may be followed by work; one that was cut off is of no use. Without a
        // reader nothing else would tell the handler that its client has closed.
        whenEnded { connection, end in
            switch end.cause {
            case .local where !connection.isStopping: break
            case .local where connection.hasReader, .peer where connection.hasReader: break
            // The connection is in the middle of writing: what the program does when its task is
            // cancelled has to wait.
            case .local, .peer, .failure, .transport: loop.execute { task.cancel() }
            }
        }
    }

    private func handlerEnded(
        by error: any Error, _ report: @Sendable (any Error) -> Void
    ) {
        switch error {
        // The end is known already.
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

internal import HTTPParser
package import HTTPServerCore
internal import Logging
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
    package var isEntered: Bool { isCurrent }

    package func hand(_ work: @escaping @Sendable () -> Void) -> Bool {
        execute(work)
        return true
    }

    package func handAfterTasks(_ work: @escaping @Sendable () -> Void) {
        Task(executorPreference: self) {
            if self.isCurrent { work() } else { self.execute(work) }
        }
    }
}

extension WebSocketConnection: UpgradedProtocol {
    package func serverStops() { close(.goingAway, "") }

    package func connectionClosed(_ reason: ConnectionCloseReason) { carrierEnded() }

    /// Runs what the handler does with the socket.
    func run(
        _ body: @escaping @Sendable () async throws -> Void, on loop: EventLoop, logger: Logger
    ) {
        let task = Task(executorPreference: loop) {
            var code = CloseCode.normal
            do {
                try await body()
            } catch is WebSocketClosedError {
                // The end is known already.
            } catch is CancellationError {
                code = .goingAway
            } catch {
                code = .internalError
                logger.error("a WebSocket handler failed", metadata: ["error": "\(error)"])
            }
            await self.close(code, reason: "")
        }
        // A closed conversation may be followed by work; one that was cut off is of no use.
        whenEnded { end in
            switch end.cause {
            case .peer, .local: break
            case .failure, .transport: task.cancel()
            }
        }
    }
}

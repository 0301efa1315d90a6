internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem
internal import WebSocketConnections
internal import WebSocketFrames

/// The state that a WebSocket's task and the loop share.
final class WebSocketState: Sendable {
    typealias Waiting = WaitingReader<WebSocketConnection>

    /// The phase of the WebSocket.
    enum Phase {
        case idle
        case connecting
        case open(WebSocketConnection)
        case failed(ClientError)
    }

    private struct Values: @unchecked Sendable {
        var phase = Phase.idle
        var options: WebSocketOptions
        var response: ClientResponse?
        var subprotocol: String?
        /// The tasks that wait for the end of the handshake.
        var waits: [Waiting] = []
    }

    private let values: Locked<Values>

    init(_ options: WebSocketOptions) {
        values = Locked(Values(options: options))
    }

    var phase: Phase { values.withLock { $0.phase } }
    var response: ClientResponse? { values.withLock { $0.response } }
    var subprotocol: String? { values.withLock { $0.subprotocol } }

    var options: WebSocketOptions {
        get { values.withLock { $0.options } }
        set { values.withLock { $0.options = newValue } }
    }

    /// The connection, once the handshake is done.
    var connection: WebSocketConnection? {
        if case .open(let connection) = phase { connection } else { nil }
    }

    /// The error with which the handshake failed.
    var error: ClientError? {
        if case .failed(let error) = phase { error } else { nil }
    }

    // MARK: Any thread

    /// Notes that the WebSocket was started.
    /// - Returns: false if it was started before.
    func start() -> Bool {
        values.withLock { values in
            guard case .idle = values.phase else { return false }
            values.phase = .connecting
            return true
        }
    }

    /// Waits for the end of the handshake.
    /// - Throws: `ClientError`; `CancellationError` when the task is cancelled.
    func opened() async throws -> WebSocketConnection {
        if let connection { return connection }
        return try await Waiting.value {
            self.wait($0, $1)
        } onCancel: {
            self.cancel($0)
        }
    }

    private func wait(_ reader: Waiting.Reader, _ wait: Waiting.Wait) {
        let known = values.withLock { values -> Result<WebSocketConnection, any Error>? in
            if wait.isCancelled { return .failure(CancellationError()) }
            switch values.phase {
            case .open(let connection): return .success(connection)
            case .failed(let error): return .failure(error)
            case .idle, .connecting:
                var waiting = Waiting()
                waiting.begin(reader, wait)
                values.waits.append(waiting)
                return nil
            }
        }
        switch known {
        case .success(let connection): reader.resume(returning: connection)
        case .failure(let error): reader.resume(throwing: error)
        case nil: break
        }
    }

    private func cancel(_ wait: Waiting.Wait) {
        let reader = values.withLock { values -> Waiting.Reader? in
            var none = Waiting()
            _ = none.cancel(wait)
            for index in values.waits.indices {
                guard let reader = values.waits[index].cancel(wait) else { continue }
                values.waits.remove(at: index)
                return reader
            }
            return nil
        }
        reader?.resume(throwing: CancellationError())
    }

    // MARK: The loop's side

    func answered(_ response: ClientResponse) {
        values.withLock { $0.response = response }
    }

    func open(_ connection: WebSocketConnection, subprotocol: String?) {
        end(.open(connection), subprotocol)
    }

    /// Fails the handshake; no effect once the handshake is over.
    func fail(_ error: ClientError) { end(.failed(error), nil) }

    private func end(_ phase: Phase, _ subprotocol: String?) {
        let waits = values.withLock { values -> [Waiting] in
            switch values.phase {
            case .open, .failed: return []
            case .idle, .connecting: break
            }
            (values.phase, values.subprotocol) = (phase, subprotocol)
            defer { values.waits = [] }
            return values.waits
        }
        for var wait in waits {
            switch phase {
            case .open(let connection): wait.take()?.resume(returning: connection)
            case .failed(let error): wait.take()?.resume(throwing: error)
            case .idle, .connecting: break
            }
        }
    }
}

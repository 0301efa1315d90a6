internal import Dispatch
internal import ToolkitSystem

/// Sends the events of a server, in order, to the readers of `events` and to the delegate.
final class EventHub: Sendable {
    private struct State: Sendable {
        var presence: ConnectionPresence
        var readers: [UInt64: AsyncStream<HTTPServer.Event>.Continuation] = [:]
        var lastID: UInt64 = 0
        var receiver: EventReceiver?
    }

    /// How many events wait for a reader of `events` before the oldest are dropped.
    static let readerLimit = 256

    private let queue = DispatchQueue(label: "http.events")
    private let state: Locked<State>

    /// - Parameter interval: nanoseconds without a connection before `disconnected` is sent.
    init(interval: UInt64) {
        state = Locked(State(presence: ConnectionPresence(interval: interval)))
    }

    /// A stream of the events from now on.
    func stream() -> AsyncStream<HTTPServer.Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: HTTPServer.Event.self, bufferingPolicy: .bufferingNewest(Self.readerLimit))
        let id = state.withLock { state in
            state.lastID += 1
            state.readers[state.lastID] = continuation
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.readers.removeValue(forKey: id) }
        }
        return stream
    }

    func setReceiver(_ receiver: EventReceiver?) { state.withLock { $0.receiver = receiver } }

    /// Ends the streams of all readers, when the server is deallocated.
    func finish() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        queue.async { for reader in readers { reader.finish() } }
    }

    func emit(_ event: HTTPServer.Event) {
        state.withLock { tell(event, $0) }
    }

    /// Called with the lock held, which puts the events in order. No foreign code runs here.
    private func tell(_ event: HTTPServer.Event, _ state: State) {
        if !state.readers.isEmpty {
            let readers = Array(state.readers.values)
            queue.async { for reader in readers { reader.yield(event) } }
        }
        if let receiver = state.receiver {
            receiver.queue.async { receiver.take(event) }
        }
    }

    /// The first connection was opened, or the last one was closed.
    /// - Parameter isOpen: evaluated under the lock, so the later of two threads is up to date.
    func connectionsChanged(_ isOpen: () -> Bool) {
        let now = Syscalls.monotonic()
        state.withLock { state in
            follow(state.presence.changed(isOpen: isOpen(), now: now), state)
        }
    }

    /// Whether `connected` was the last event about connections.
    var isConnected: Bool { state.withLock { $0.presence.isConnected } }

    /// All connections are closed, and no new ones are accepted.
    func connectionsEnded() {
        state.withLock { state in follow(state.presence.stopped(), state) }
    }

    private func timerFired() {
        let now = Syscalls.monotonic()
        state.withLock { state in follow(state.presence.timerFired(now: now), state) }
    }

    private func follow(_ step: ConnectionPresence.Step, _ state: State) {
        switch step {
        case .none: break
        case .connected: tell(.connected, state)
        case .disconnected: tell(.disconnected, state)
        case .wait(let time):
            let delay = DispatchTimeInterval.nanoseconds(Int(min(time, 1 << 62)))
            queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.timerFired() }
        }
    }
}

internal import ToolkitSystem

/// Sends each event to all open streams.
final class Broadcast<Event: Sendable>: Sendable {
    private struct State: Sendable {
        var readers: [Int: AsyncStream<Event>.Continuation] = [:]
        var next = 0
    }

    private let state = Locked(State())

    deinit {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.finish() }
    }

    /// The events from now on. A slow reader loses the oldest of 64 events.
    func stream() -> AsyncStream<Event> {
        let (stream, reader) = AsyncStream<Event>.makeStream(
            bufferingPolicy: .bufferingNewest(64))
        let number = state.withLock { state in
            state.next += 1
            state.readers[state.next] = reader
            return state.next
        }
        reader.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ event: Event) {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield(event) }
    }
}

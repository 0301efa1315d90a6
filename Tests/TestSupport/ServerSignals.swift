internal import HTTPServerCore
internal import ToolkitSystem

/// A gate at which a handler waits until a test opens it, once.
package final class ServerGate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    package func open() { continuation.finish() }

    /// Waits until the gate opens. Only one task may wait; it returns early when it is cancelled.
    package func wait() async {
        for await _ in stream {}
    }
}

/// Entries that handlers report to a test, in order.
package final class ServerLog<Entry: Sendable>: Sendable {
    private let stream: AsyncStream<Entry>
    private let continuation: AsyncStream<Entry>.Continuation
    private let all = Locked<[Entry]>([])

    package init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    package func add(_ entry: Entry) {
        all.withLock { $0.append(entry) }
        continuation.yield(entry)
    }

    /// All entries so far.
    package var entries: [Entry] { all.withLock { $0 } }

    /// Waits for the first entry that meets a condition; `nil` when the test's task is cancelled,
    /// or after 120 seconds.
    package func first(where isMet: (Entry) -> Bool = { _ in true }) async -> Entry? {
        let alarm = Task { [continuation] in
            guard (try? await Task.sleep(for: .seconds(120))) != nil else { return }
            continuation.finish()
        }
        defer { alarm.cancel() }
        for await entry in stream where isMet(entry) { return entry }
        return nil
    }
}

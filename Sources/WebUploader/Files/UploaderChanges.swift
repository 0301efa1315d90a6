internal import ToolkitSystem
internal import WebDAVKit

/// Notifies listeners of changes in their folders, by the page or by WebDAV: both use the same
/// `PathLock`.
final class UploaderChanges: Sendable {
    /// The subscription of a browser; it ends with this object.
    final class Listener: Sendable {
        /// A signal for a change or a heartbeat. Signals that are not read yet are merged.
        let signals: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation
        private let hasChanged = Locked(false)
        private let onEnd: @Sendable () -> Void

        fileprivate init(_ onEnd: @escaping @Sendable () -> Void) {
            (signals, continuation) = AsyncStream<Void>.makeStream(
                bufferingPolicy: .bufferingNewest(1))
            self.onEnd = onEnd
        }

        deinit {
            onEnd()
        }

        /// Notes and signals a change.
        func change() {
            hasChanged.withLock { $0 = true }
            continuation.yield()
        }

        /// Signals without a change. The reader sends a comment, so that no proxy closes the
        /// connection as idle.
        func beat() { continuation.yield() }

        /// Ends the signals.
        func end() { continuation.finish() }

        /// Whether there was a change since the last call.
        func takeChange() -> Bool {
            hasChanged.withLock { hasChanged in
                defer { hasChanged = false }
                return hasChanged
            }
        }
    }

    private struct Entry: Sendable {
        var folder: ResourcePath
        weak var listener: Listener?
    }

    private struct State: Sendable {
        var entries: [Int: Entry] = [:]
        var next = 0
    }

    private let state = Locked(State())
    private let limit: Int

    init(_ pathLock: PathLock, limit: Int) {
        self.limit = limit
        pathLock.observe { [weak self] paths in
            guard let self else { return false }
            tell(paths)
            return true
        }
    }

    /// The number of listeners.
    var count: Int { state.withLock { $0.entries.count } }

    /// Begins to listen to a folder.
    /// - Returns: `nil` if the limit of listeners is reached.
    func listen(to folder: ResourcePath) -> Listener? {
        let number = state.withLock { state -> Int? in
            guard state.entries.count < limit else { return nil }
            state.next += 1
            state.entries[state.next] = Entry(folder: folder)
            return state.next
        }
        guard let number else { return nil }
        let listener = Listener { [weak self] in
            self?.state.withLock { $0.entries[number] = nil }
        }
        state.withLock { $0.entries[number]?.listener = listener }
        return listener
    }

    private func tell(_ paths: [ResourcePath]) {
        let listeners = state.withLock { state in
            state.entries.values.filter { entry in
                paths.contains { path in
                    path.parent == entry.folder || entry.folder.isWithin(path)
                }
            }
        }
        for entry in listeners { entry.listener?.change() }
    }
}

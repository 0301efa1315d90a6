internal import HTTPServerCore
internal import Synchronization
internal import ToolkitSystem

/// Decides where short work on files runs: on the calling thread, even an event loop, as long as
/// the disk responds at once; else on a thread that may wait.
///
/// Short work is a few calls on names, and at most `LocalContent.memoryLimit` bytes that go to the
/// system's memory: handing it to another thread and waking up again takes longer than doing it.
/// The file system may still have to wait for its journal. So each run is timed, and from the second
/// long wait on further work goes to the pool, twenty times as long as the wait: an event loop spends
/// at most a twentieth of its time waiting for a disk. File systems of other machines and programs
/// may block without limit; an event loop never calls them.
package final class InlineIOPolicy: Sendable {
    /// The longest short work, in nanoseconds.
    private static let limit: UInt64 = 1_000_000
    private static let restFactor: UInt64 = 20
    private static let watchTime: UInt64 = 1_000_000_000

    /// Whether the file system is local.
    let isLocal: Bool
    private let isBusyUntil = Atomic<UInt64>(0)
    /// The end of the period in which waits of the thread are counted, which costs a call each
    /// time. It outlasts the rest after the same wait: a disk that is slow each time is known.
    private let isWatchedUntil = Atomic<UInt64>(0)

    /// - Parameter isLocal: whether the file system is local.
    package init(isLocal: Bool) {
        self.isLocal = isLocal
    }

    /// Whether short work runs on the calling thread.
    package var isQuick: Bool {
        BlockingPool.mayBlockHere
            || (isLocal && Syscalls.monotonic() >= isBusyUntil.load(ordering: .relaxed))
    }

    /// Runs short work on files, on this thread or on one that may wait.
    package func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        guard !BlockingPool.mayBlockHere else { return try body() }
        let start = Syscalls.monotonic()
        guard isLocal, start >= isBusyUntil.load(ordering: .relaxed) else {
            return try await BlockingPool.files.run(body)
        }
        let isWatched = start < isWatchedUntil.load(ordering: .relaxed)
        let waits = isWatched ? BlockingPool.waits : nil
        defer { note(from: start, to: Syscalls.monotonic(), waits) }
        return try body()
    }

    /// Runs short work on this thread.
    /// - Returns: `nil`, without a call of `body`, when the work must go to another thread.
    package func runNow<Result>(_ body: () throws -> Result?) rethrows -> Result? {
        guard !BlockingPool.mayBlockHere else { return try body() }
        let start = Syscalls.monotonic()
        guard isLocal, start >= isBusyUntil.load(ordering: .relaxed) else { return nil }
        let isWatched = start < isWatchedUntil.load(ordering: .relaxed)
        let waits = isWatched ? BlockingPool.waits : nil
        defer { note(from: start, to: Syscalls.monotonic(), waits) }
        return try body()
    }

    /// Records how long a call took, and how often its thread had waited before; nil if that was
    /// not measured, which starts a period of measuring.
    private func note(from start: UInt64, to end: UInt64, _ waits: Int64?) {
        guard end > start, end - start > Self.limit else { return }
        let (rest, _) = (end - start).multipliedReportingOverflow(by: Self.restFactor)
        isWatchedUntil.max(end &+ rest &+ Self.watchTime, ordering: .relaxed)
        guard let waits, waits < 0 || BlockingPool.waits != waits else { return }
        isBusyUntil.max(end &+ rest, ordering: .relaxed)
    }
}

internal import HTTPServerCore
internal import Synchronization
internal import ToolkitSystem

/// Decides where short work on files runs: on the calling thread, even an event loop, while the
/// disk responds fast; otherwise on a thread that may wait.
///
/// Short work is a few calls on names, and at most `LocalContent.memoryLimit` bytes that are
/// written to the system's memory. Passing it to another thread and waking up again takes longer
/// than doing it. The file system may still have to wait for its journal, so each run is timed.
/// From the second long wait on, work goes to the pool for twenty times as long as the wait took,
/// so an event loop spends at most a twentieth of its time waiting for a disk. File systems of
/// other machines and programs may block without limit; an event loop never calls them.
package final class InlineIOPolicy: Sendable {
    /// The longest short work, in nanoseconds.
    private static let limit: UInt64 = 1_000_000
    private static let restFactor: UInt64 = 20
    private static let watchTime: UInt64 = 1_000_000_000

    /// Whether the file system is local.
    let isLocal: Bool
    /// The monotonic time until which work goes to the pool, because the disk was slow.
    private let busyUntil = Atomic<UInt64>(0)
    /// The end of the period in which the waits of the thread are counted, which costs one more
    /// system call for each run. It is later than `busyUntil` after the same wait, so that a disk
    /// that is always slow is detected.
    private let watchedUntil = Atomic<UInt64>(0)

    /// - Parameter isLocal: whether the file system is local.
    package init(isLocal: Bool) {
        self.isLocal = isLocal
    }

    /// Whether short work runs on the calling thread.
    package var isQuick: Bool {
        BlockingPool.mayBlockHere
            || (isLocal && Syscalls.monotonic() >= busyUntil.load(ordering: .relaxed))
    }

    /// Runs short work on files, on this thread or on one that may wait.
    /// - Parameter isReading: whether the work changes nothing. On another thread it is then skipped in
    ///   a cancelled task, which throws `CancellationError`.
    package func run<Result: Sendable>(
        isReading: Bool = false, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        guard !BlockingPool.mayBlockHere else { return try body() }
        let start = Syscalls.monotonic()
        guard isLocal, start >= busyUntil.load(ordering: .relaxed) else {
            let pool = BlockingPool.files
            return try await isReading ? pool.runUnlessCancelled(body) : pool.run(body)
        }
        let isWatched = start < watchedUntil.load(ordering: .relaxed)
        let waits = isWatched ? BlockingPool.waits : nil
        defer { note(from: start, to: Syscalls.monotonic(), waits) }
        return try body()
    }

    /// Runs short work on this thread.
    /// - Returns: `nil`, without a call of `body`, when the work must go to another thread.
    package func runNow<Result>(_ body: () throws -> Result?) rethrows -> Result? {
        guard !BlockingPool.mayBlockHere else { return try body() }
        let start = Syscalls.monotonic()
        guard isLocal, start >= busyUntil.load(ordering: .relaxed) else { return nil }
        let isWatched = start < watchedUntil.load(ordering: .relaxed)
        let waits = isWatched ? BlockingPool.waits : nil
        defer { note(from: start, to: Syscalls.monotonic(), waits) }
        return try body()
    }

    /// Records a call that took long, and prolongs the period in which waits are counted. `waits`
    /// is the count of its thread before the call; nil if it was not counted.
    private func note(from start: UInt64, to end: UInt64, _ waits: Int64?) {
        guard end > start, end - start > Self.limit else { return }
        let (rest, _) = (end - start).multipliedReportingOverflow(by: Self.restFactor)
        watchedUntil.max(end &+ rest &+ Self.watchTime, ordering: .relaxed)
        guard let waits, waits < 0 || BlockingPool.waits != waits else { return }
        busyUntil.max(end &+ rest, ordering: .relaxed)
    }
}

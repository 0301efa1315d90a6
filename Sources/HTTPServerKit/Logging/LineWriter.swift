internal import Dispatch
package import HTTPParser
internal import HTTPServerCore
package import ToolkitSystem

/// Writes lines to a file or a descriptor, without blocking its callers.
///
/// Lines are collected in memory and written on a separate queue, at most every 10 ms. If the
/// reader is too slow, up to 1 MiB of lines waits in memory; further lines are dropped and counted.
package final class LineWriter: @unchecked Sendable {
    /// State shared by the callers and the queue; the lock also guards `lines`.
    private struct State: Sendable {
        var isScheduled = false
        var dropped = 0
        /// The number of dropped lines that no notice has reported yet.
        var untold = 0
        var lastFlush: UInt64 = 0
        var clock = LogClock()
    }

    private let path: String?
    private let notice: (@Sendable (_ dropped: Int) -> String)?
    private let state = Locked(State())
    @exclusivity(unchecked)
    private var lines = ByteBuffer(capacity: 16 << 10)
    private let queue = DispatchQueue(label: "http.lines")
    /// The lines that are being written. Used only on the queue.
    private var spare = ByteBuffer(capacity: 16 << 10)
    /// Whether the last write failed, maybe inside of a line. Used only on the queue.
    private var isCut = false
    private var descriptor: CInt

    private static let limit = 1 << 20
    private static let interval: UInt64 = 10_000_000

    /// Appends to a file, creating it if it is missing. Its owner may read and write it, its group
    /// may read it.
    package init(path: String) throws(SystemError) {
        descriptor = try Syscalls.openLog(path)
        self.path = path
        notice = nil
    }

    /// Writes to a descriptor that the caller opens and closes.
    /// - Parameters:
    ///   - descriptor: a file, a terminal or a pipe. Lines to a pipe without a reader are lost.
    ///   - notice: makes the line that reports how many lines were dropped before it; `nil` reports
    ///     none.
    package init(descriptor: CInt, notice: (@Sendable (_ dropped: Int) -> String)? = nil) {
        self.descriptor = descriptor
        path = nil
        self.notice = notice
    }

    deinit {
        if path != nil { Syscalls.close(descriptor) }
    }

    /// Writes a line. Safe to call from any thread.
    /// - Parameters:
    ///   - value: passed to `append`, because capturing it in a closure would copy it.
    ///   - append: appends the line without a line break. Called at most once, before this returns.
    package func write<Value>(
        _ value: Value, _ append: (Value, inout ByteBuffer, inout LogClock) -> Void
    ) {
        let delay: UInt64? = state.withLock { state in
            guard unsafe lines.count < Self.limit else {
                state.dropped += 1
                state.untold += 1
                return nil
            }
            unsafe append(value, &lines, &state.clock)
            unsafe lines.append(literal: "\n")
            guard !state.isScheduled else { return nil }
            state.isScheduled = true
            let elapsed = Syscalls.monotonic() &- state.lastFlush
            return elapsed < Self.interval ? Self.interval - elapsed : 0
        }
        guard let delay else { return }
        guard delay > 0 else { return queue.async { @Sendable [self] in drain() } }
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay))) { @Sendable [self] in
            drain()
        }
    }

    /// The number of lines that were dropped, because writing failed or was too slow.
    package var droppedLines: Int { state.withLock { $0.dropped } }

    /// Blocks until all lines so far were passed to the system. Never call it on an event loop.
    package func flush() {
        queue.sync { drain() }
    }

    /// Blocks until all lines so far were passed to the system, or a time has passed, because the
    /// reader may have stopped.
    /// - Returns: whether all lines so far were passed to the system.
    @discardableResult
    package func flush(within time: Duration) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { @Sendable [self] in
            drain()
            done.signal()
        }
        let wait = DispatchTimeInterval.nanoseconds(Int(clamping: time.nanoseconds))
        return done.wait(timeout: .now() + wait) == .success
    }

    /// Opens the path again. Call it after log rotation has renamed the file. No effect on a
    /// caller's descriptor. It blocks: never call it on an event loop.
    /// - Throws: the reason why the file cannot be opened; lines are then still written to the old
    ///   file.
    package func reopen() throws(SystemError) {
        guard let path else { return }
        let new = try Syscalls.openLog(path)
        queue.sync {
            drain()
            Syscalls.close(descriptor)
            descriptor = new
        }
    }

    /// Writes all lines so far. Runs on the queue.
    private func drain() {
        let told = state.withLock { state -> Int in
            unsafe swap(&lines, &spare)
            state.isScheduled = false
            state.lastFlush = Syscalls.monotonic()
            guard let notice, state.untold > 0 else { return 0 }
            spare.append(notice(state.untold) + "\n")
            defer { state.untold = 0 }
            return state.untold
        }
        guard !spare.isEmpty else { return }
        do throws(SystemError) {
            // End the line that the failed write may have cut.
            if isCut { try Syscalls.writeLog(descriptor, "\n") }
            isCut = true
            try unsafe Syscalls.writeLog(descriptor, spare.unsafeBytes)
            isCut = false
        } catch {
            let count = unsafe spare.unsafeBytes.reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) }
            // The notice is not a caller's line, and has to be repeated.
            let lost = told > 0 ? count - 1 : count
            state.withLock { state in
                state.dropped += lost
                state.untold += lost + told
            }
        }
        spare.removeAll()
        if spare.isOversized { spare = ByteBuffer(capacity: 16 << 10) }
    }
}

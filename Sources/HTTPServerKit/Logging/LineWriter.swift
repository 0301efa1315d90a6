internal import Dispatch
package import HTTPParser
internal import HTTPServerCore
package import ToolkitSystem

/// Writes lines to a file, or to a descriptor, without keeping its callers waiting.
///
/// Lines are gathered in memory and written on a queue of their own, at once when nothing was
/// written for 10 ms, else when that time is over. While the reader is slower than the lines come,
/// up to 1 MiB waits; further lines are dropped, and counted.
package final class LineWriter: @unchecked Sendable {
    /// State shared by the callers and the queue; the lock also guards `lines`.
    private struct State: Sendable {
        var isScheduled = false
        var dropped = 0
        /// Dropped lines that were not reported yet.
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
    /// Touched on the queue alone.
    private var spare = ByteBuffer(capacity: 16 << 10)
    /// Whether the last write failed, maybe inside of a line. Touched on the queue alone.
    private var isCut = false
    private var descriptor: CInt

    private static let limit = 1 << 20
    private static let interval: UInt64 = 10_000_000

    /// Appends to a file, creating it if it is missing; its owner may read and write it, its group
    /// read it.
    package init(path: String) throws(SystemError) {
        descriptor = try Syscalls.openLog(path)
        self.path = path
        notice = nil
    }

    /// Writes to a descriptor that the caller opens and closes.
    /// - Parameters:
    ///   - descriptor: a file, a terminal or a pipe. A pipe whose reader is gone loses the lines.
    ///   - notice: a line that reports how many lines were dropped before it.
    package init(descriptor: CInt, notice: (@Sendable (_ dropped: Int) -> String)? = nil) {
        self.descriptor = descriptor
        path = nil
        self.notice = notice
    }

    deinit {
        if path != nil { Syscalls.close(descriptor) }
    }

    /// Takes a line; from any thread.
    /// - Parameters:
    ///   - value: the value that the line tells; a closure would keep a copy of it.
    ///   - append: appends the line without its end; called at most once, before this returns.
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

    /// How many lines were dropped because they could not be written, or not as fast as they came.
    package var droppedLines: Int { state.withLock { $0.dropped } }

    /// Waits until all lines so far are with the system. It blocks: never call it on an event loop.
    package func flush() {
        queue.sync { drain() }
    }

    /// The same, but not for longer than that: the reader may have stopped to read.
    /// - Returns: whether all lines so far are with the system.
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

    /// Opens the file again by its path, after it was renamed to begin a new one; no effect on a
    /// descriptor of the caller. It blocks: never call it on an event loop.
    /// - Throws: why it cannot be opened; lines go on into the old one then.
    package func reopen() throws(SystemError) {
        guard let path else { return }
        let new = try Syscalls.openLog(path)
        queue.sync {
            drain()
            Syscalls.close(descriptor)
            descriptor = new
        }
    }

    /// Runs on the queue.
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
            // The beginning of a line must not be taken for that of the next one.
            if isCut { try Syscalls.writeLog(descriptor, "\n") }
            isCut = true
            try unsafe Syscalls.writeLog(descriptor, spare.unsafeBytes)
            isCut = false
        } catch {
            let count = unsafe spare.unsafeBytes.reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) }
            // The notice is no line of a caller, and has to be repeated.
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

internal import Dispatch
internal import HTTPCodecs
internal import HTTPParser

/// Writes access log lines to a file, or to a descriptor, without keeping event loops waiting.
///
/// ```swift
/// let log = try AccessLogWriter(path: "access.log")
/// configuration.accessLog = { log.write($0) }
/// ```
///
/// Lines are gathered in memory and written on a queue of their own, at once when nothing was
/// written for 10 ms, else when that time is over. While the disk is slower than the clients, up to
/// 1 MiB waits; further lines are dropped, and counted. Call `flush` before the process ends.
public final class AccessLogWriter: @unchecked Sendable {
    /// What is shared by the loops and the queue, with `lines`, which its lock is for as well.
    private struct State: Sendable {
        var isScheduled = false
        var dropped = 0
        var lastFlush: UInt64 = 0
        var clock = LogClock()
    }

    private let format: AccessLogFormat
    private let path: String?
    private let state = Locked(State())
    private var lines = ByteBuffer(capacity: 16 << 10)
    private let queue = DispatchQueue(label: "http.accesslog")
    /// Touched on the queue alone.
    private var spare = ByteBuffer(capacity: 16 << 10)
    private var descriptor: CInt

    private static let limit = 1 << 20
    private static let interval: UInt64 = 10_000_000

    /// Appends to a file, which is made if it is missing, for its owner, and for its group to read.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - format: how a line looks.
    /// - Throws: why it cannot be opened.
    public init(path: String, format: AccessLogFormat = .combined) throws(SystemError) {
        descriptor = try Syscalls.openLog(path)
        self.path = path
        self.format = format
    }

    /// Writes to a descriptor that somebody else opened and closes.
    /// - Parameters:
    ///   - descriptor: a file, a terminal or a pipe. A pipe whose reader is gone loses the lines.
    ///   - format: how a line looks.
    public init(descriptor: CInt, format: AccessLogFormat = .combined) {
        self.descriptor = descriptor
        path = nil
        self.format = format
    }

    deinit {
        if path != nil { Syscalls.close(descriptor) }
    }

    /// Takes a record; from any thread.
    public func write(_ record: AccessRecord) {
        let delay: UInt64? = state.withLock { state in
            guard lines.count < Self.limit else {
                state.dropped += 1
                return nil
            }
            format.append(record, to: &lines, &state.clock)
            lines.append(literal: "\n")
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
    public var droppedLines: Int { state.withLock { $0.dropped } }

    /// Waits until all lines so far are with the system. It blocks: never call it on an event loop.
    public func flush() {
        queue.sync { drain() }
    }

    /// Opens the file again by its path, after it was renamed to begin a new one; of no effect for
    /// a descriptor of somebody else. It blocks: never call it on an event loop.
    /// - Throws: why it cannot be opened; lines go on into the old one then.
    public func reopen() throws(SystemError) {
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
        state.withLock { state in
            swap(&lines, &spare)
            state.isScheduled = false
            state.lastFlush = Syscalls.monotonic()
        }
        guard !spare.isEmpty else { return }
        do throws(SystemError) {
            try unsafe Syscalls.writeLog(descriptor, spare.unsafeBytes)
        } catch {
            let lost = unsafe spare.unsafeBytes.reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) }
            state.withLock { $0.dropped += lost }
        }
        spare.removeAll()
        if spare.isOversized { spare = ByteBuffer(capacity: 16 << 10) }
    }
}

internal import HTTPParser
public import HTTPServerCore
public import ToolkitSystem

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
public final class AccessLogWriter: Sendable {
    private let format: AccessLogFormat
    private let lines: LineWriter

    /// Appends to a file, creating it if it is missing; its owner may read and write it, its group
    /// read it.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - format: how a line looks.
    /// - Throws: why it cannot be opened.
    public init(path: String, format: AccessLogFormat = .combined) throws(SystemError) {
        lines = try LineWriter(path: path)
        self.format = format
    }

    /// Writes to a descriptor that the caller opens and closes.
    /// - Parameters:
    ///   - descriptor: a file, a terminal or a pipe. A pipe whose reader is gone loses the lines.
    ///   - format: how a line looks.
    public convenience init(descriptor: CInt, format: AccessLogFormat = .combined) {
        self.init(LineWriter(descriptor: descriptor), format: format)
    }

    /// Writes among other lines.
    package init(_ lines: LineWriter, format: AccessLogFormat = .combined) {
        self.lines = lines
        self.format = format
    }

    /// Takes a record; from any thread.
    public func write(_ record: AccessRecord) {
        lines.write(record) { format.append($0, to: &$1, &$2) }
    }

    /// How many lines were dropped because they could not be written, or not as fast as they came.
    public var droppedLines: Int { lines.droppedLines }

    /// Waits until the system has all lines so far. It blocks without limit if the reader of a pipe
    /// has stopped: never call it on an event loop.
    public func flush() { lines.flush() }

    /// The same, but not for longer than some time.
    /// - Returns: whether all lines so far are with the system.
    @discardableResult
    public func flush(within time: Duration) -> Bool { lines.flush(within: time) }

    /// Opens the file again by its path, after it was renamed to begin a new one; no effect on a
    /// descriptor of the caller. It blocks: never call it on an event loop.
    /// - Throws: why it cannot be opened; lines go on into the old one then.
    public func reopen() throws(SystemError) { try lines.reopen() }
}

internal import HTTPParser
public import HTTPServerCore
public import ToolkitSystem

/// Writes access log lines to a file or a descriptor, without blocking event loops.
///
/// ```swift
/// let log = try AccessLogWriter(path: "access.log")
/// configuration.accessLog = { log.write($0) }
/// ```
///
/// Lines are collected in memory and written on a separate queue, at most every 10 ms. If the disk
/// is too slow, up to 1 MiB of lines waits in memory; further lines are dropped and counted. Call
/// `flush` before the process ends.
public final class AccessLogWriter: Sendable {
    private let format: AccessLogFormat
    private let lines: LineWriter

    /// Appends to a file, creating it if it is missing. Its owner may read and write it, its group
    /// may read it.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - format: the format of a line.
    /// - Throws: the reason why the file cannot be opened.
    public init(path: String, format: AccessLogFormat = .combined) throws(SystemError) {
        lines = try LineWriter(path: path)
        self.format = format
    }

    /// Writes to a descriptor that the caller opens and closes.
    /// - Parameters:
    ///   - descriptor: a file, a terminal or a pipe. Lines to a pipe without a reader are lost.
    ///   - format: the format of a line.
    public convenience init(descriptor: CInt, format: AccessLogFormat = .combined) {
        self.init(LineWriter(descriptor: descriptor), format: format)
    }

    /// Writes to a line writer that may also write other lines.
    package init(_ lines: LineWriter, format: AccessLogFormat = .combined) {
        self.lines = lines
        self.format = format
    }

    /// Writes a record. Safe to call from any thread.
    public func write(_ record: AccessRecord) {
        lines.write(record) { format.append($0, to: &$1, &$2) }
    }

    /// The number of lines that were dropped, because writing failed or was too slow.
    public var droppedLines: Int { lines.droppedLines }

    /// Blocks until all lines so far were passed to the system: without limit if the reader of a
    /// pipe has stopped. Never call it on an event loop.
    public func flush() { lines.flush() }

    /// Blocks until all lines so far were passed to the system, or a time has passed.
    /// - Returns: whether all lines so far were passed to the system.
    @discardableResult
    public func flush(within time: Duration) -> Bool { lines.flush(within: time) }

    /// Opens the path again. Call it after log rotation has renamed the file. No effect on a
    /// caller's descriptor. It blocks: never call it on an event loop.
    /// - Throws: the reason why the file cannot be opened; lines are then still written to the old
    ///   file.
    public func reopen() throws(SystemError) { try lines.reopen() }
}

internal import HTTPParser

/// Splits a stream of newline-delimited JSON, which arrives in pieces of any size, into lines.
///
/// LF or CRLF ends a line, and the end of the input ends the last one. Lines with nothing but white
/// space are skipped.
///
/// ```swift
/// var splitter = JSONLineSplitter()
/// splitter.append(piece.span)
/// while let line = try splitter.next() { print(line.offset, line.bytes.count) }
/// ```
public struct JSONLineSplitter: Sendable {
    /// One line.
    public struct Line: Hashable, Sendable {
        /// The offset of the line in the stream, in bytes.
        public var offset: Int64
        /// The line without its line end; never blank.
        public var bytes: [UInt8]
    }

    private let lineLimit: Int
    private var buffer: [UInt8] = []
    /// The index in the buffer at which the current line begins.
    private var start = 0
    /// The index of the first byte that was not yet searched for a line end.
    private var scanned = 0
    /// The offset in the stream of the buffer's first byte.
    private var base: Int64 = 0
    private var isFinished = false

    /// Creates a splitter.
    /// - Parameter lineLimit: the most bytes of a line without its line end; a longer line throws
    ///   `.inputTooLong`.
    public init(lineLimit: Int = 2 << 20) {
        self.lineLimit = max(lineLimit, 0)
    }

    /// Adds more of the stream. Traps after `finish()`.
    public mutating func append(_ bytes: Span<UInt8>) {
        precondition(!isFinished, "the input is finished")
        if start > 0 {
            buffer.removeSubrange(..<start)
            base += Int64(start)
            scanned -= start
            start = 0
        }
        buffer.append(copying: bytes)
    }

    /// Marks the end of the stream; `next()` then returns the lines that are left.
    public mutating func finish() {
        isFinished = true
    }

    /// The next line; `nil` if more bytes are needed, or at the end after `finish()`.
    /// - Throws: `.inputTooLong` at the first byte beyond the limit, and at each further call.
    public mutating func next() throws(CodecError) -> Line? {
        while let end = lineEnd() {
            let line = try line(endingAt: end)
            start = min(end + 1, buffer.count)
            scanned = start
            if let line { return line }
        }
        // One byte more is allowed if it may be the CR of a CRLF.
        let length = buffer.count - start
        let mayEnd = length - 1 == lineLimit && buffer.last == 0x0D
        guard length <= lineLimit || mayEnd else { throw tooLong }
        return nil
    }

    /// The index of the current line's LF, or of the end of the input.
    private mutating func lineEnd() -> Int? {
        while scanned < buffer.count {
            if buffer[scanned] == 0x0A { return scanned }
            scanned += 1
        }
        return isFinished && start < buffer.count ? buffer.count : nil
    }

    /// - Returns: `nil` for a blank line.
    private func line(endingAt end: Int) throws(CodecError) -> Line? {
        let endsWithReturn = end > start && buffer[end - 1] == 0x0D
        let end = endsWithReturn ? end - 1 : end
        guard end - start <= lineLimit else { throw tooLong }
        let bytes = buffer[start..<end]
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return nil }
        return Line(offset: base + Int64(start), bytes: Array(bytes))
    }

    private var tooLong: CodecError {
        CodecError(.inputTooLong, at: base + Int64(start) + Int64(lineLimit), "a line of JSON")
    }
}

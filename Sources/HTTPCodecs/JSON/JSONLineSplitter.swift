internal import HTTPParser

/// Cuts a stream of newline-delimited JSON into its lines, fed at any split.
///
/// LF and CRLF end a line, the end of the input ends the last one too, and lines of white space
/// alone are skipped.
///
/// ```swift
/// var splitter = JSONLineSplitter()
/// splitter.append(piece.span)
/// while let line = try splitter.next() { print(line.offset, line.bytes.count) }
/// ```
public struct JSONLineSplitter: Sendable {
    /// One line.
    public struct Line: Hashable, Sendable {
        /// Where it begins, counted from the first byte ever given.
        public var offset: Int64
        /// The line without what ends it, never blank.
        public var bytes: [UInt8]
    }

    private let lineLimit: Int
    private var buffer: [UInt8] = []
    /// The first byte of the line that is not handed out yet.
    private var start = 0
    /// How far that line was searched for its end.
    private var scanned = 0
    /// The place of the buffer's first byte.
    private var base: Int64 = 0
    private var isFinished = false

    /// Creates a splitter.
    /// - Parameter lineLimit: the most bytes of a line, without what ends it; above it
    ///   `.inputTooLong`.
    public init(lineLimit: Int = 2 << 20) {
        self.lineLimit = max(lineLimit, 0)
    }

    /// Takes in more of the stream.
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

    /// Says that the stream ends; `next()` gives what is left.
    public mutating func finish() {
        isFinished = true
    }

    /// The next line, or `nil` for "more bytes, please" or, after `finish()`, the end.
    /// - Throws: `.inputTooLong` at the first byte beyond the limit; it is of no use to go on.
    public mutating func next() throws(CodecError) -> Line? {
        while let end = lineEnd() {
            let line = try line(endingAt: end)
            start = min(end + 1, buffer.count)
            scanned = start
            if let line { return line }
        }
        // One more may be the CR of the line's end.
        let length = buffer.count - start
        let mayEnd = length == lineLimit + 1 && buffer.last == 0x0D
        guard length <= lineLimit || mayEnd else { throw tooLong }
        return nil
    }

    /// Where the current line's LF stands, or where the input ends.
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

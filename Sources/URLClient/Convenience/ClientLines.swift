/// The lines of content as they arrive, without their line ends: LF, CR or CRLF.
///
/// Bytes that are not valid UTF-8 become U+FFFD. Text after the last line end is a line if it is
/// not empty.
public struct ClientLines: AsyncSequence, Sendable {
    let content: ClientContent
    let byteLimit: Int

    /// Reads the lines, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: ClientContent.AsyncIterator
        private var reader: LineReader

        init(_ lines: ClientLines) {
            pieces = lines.content.makeAsyncIterator()
            reader = LineReader(byteLimit: lines.byteLimit)
        }

        /// The next line; nil after the last.
        /// - Throws: when the transfer of the content fails, and
        ///   ``ClientError/Kind/contentTooLong`` for a line that is longer than the limit.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClientError) -> String? {
            while true {
                if let line = try reader.next() { return String(decoding: line, as: UTF8.self) }
                guard let piece = try await pieces.next(isolation: actor) else {
                    return reader.finish().map { String(decoding: $0, as: UTF8.self) }
                }
                reader.append(piece)
            }
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// Splits bytes at line ends.
struct LineReader {
    let byteLimit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    /// The index of the first byte that was not yet searched for a line end.
    private var position = 0
    /// Whether the last line ended with CR: an LF right after it belongs to the same line end.
    private var skipsLineFeed = false

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    mutating func append(_ piece: [UInt8]) {
        if start == bytes.count {
            bytes = piece
        } else {
            bytes.removeSubrange(..<start)
            bytes += piece
        }
        (start, position) = (0, position - start)
    }

    mutating func next() throws(ClientError) -> ArraySlice<UInt8>? {
        if skipsLineFeed, start < bytes.count {
            if bytes[start] == 10 { (start, position) = (start + 1, start + 1) }
            skipsLineFeed = false
        }
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 10 || byte == 13 else {
                position += 1
                continue
            }
            let line = bytes[start..<position]
            skipsLineFeed = byte == 13
            (start, position) = (position + 1, position + 1)
            guard line.count <= byteLimit else { throw tooLong }
            return line
        }
        guard bytes.count - start <= byteLimit else { throw tooLong }
        return nil
    }

    /// The text after the last line end.
    mutating func finish() -> ArraySlice<UInt8>? {
        defer { start = bytes.count }
        return start < bytes.count ? bytes[start...] : nil
    }

    private var tooLong: ClientError {
        ClientError(.contentTooLong, "a line of more than \(byteLimit) bytes")
    }
}

extension ClientContent {
    /// The lines of the content as they arrive, each of at most 1 MiB.
    public var lines: ClientLines { lines(upTo: 1 << 20) }

    /// The lines of the content as they arrive.
    /// - Parameter byteLimit: the most bytes of a line; a longer line throws
    ///   ``ClientError/Kind/contentTooLong``.
    public func lines(upTo byteLimit: Int) -> ClientLines {
        ClientLines(content: self, byteLimit: byteLimit)
    }
}

internal import HTTPParser

/// A server-sent event (HTML standard, section 9.2).
public struct ClientEvent: Sendable, Hashable {
    /// The type of the event; `message` if the server sets none.
    public var type: String
    /// The data of the event, with line feeds between lines.
    public var data: String
    /// The identifier of this event, or of the last event that had one. Send it as `Last-Event-ID`
    /// in the next request to continue after this event.
    public var id: String
    /// How long to wait before the next connection; nil if the server has not set it.
    public var retry: Duration?
}

/// The events of `text/event-stream` content as they arrive.
public struct ClientEvents: AsyncSequence, Sendable {
    let content: ClientContent
    let byteLimit: Int

    /// Reads the events, one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: ClientContent.AsyncIterator
        private var lines: LineReader
        private var parser: ClientEventParser

        init(_ events: ClientEvents) {
            pieces = events.content.makeAsyncIterator()
            lines = LineReader(byteLimit: events.byteLimit)
            parser = ClientEventParser(byteLimit: events.byteLimit)
        }

        /// The next event; nil after the last. An event ends with an empty line.
        /// - Throws: the error that kept the content from being complete, and
        ///   ``ClientError/Kind/contentTooLong`` for an event that is longer than the limit.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClientError) -> ClientEvent? {
            while true {
                while let line = try lines.next() {
                    if let event = try parser.take(line) { return event }
                }
                guard let piece = try await pieces.next(isolation: actor) else { return nil }
                lines.append(piece)
            }
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// Parses events from lines.
struct ClientEventParser {
    let byteLimit: Int
    private var type = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var id = ""
    private var retry: Duration?
    private var isFirst = true

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    /// Adds a line, and returns the event that the line ends.
    mutating func take(_ line: ArraySlice<UInt8>) throws(ClientError) -> ClientEvent? {
        var line = line
        if isFirst, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        isFirst = false
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == 32 { value = value.dropFirst() }
        try take(name: line[..<colon], value)
        return nil
    }

    /// Adds a field. Comments, which have an empty name, and unknown fields are ignored.
    private mutating func take(
        name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>
    ) throws(ClientError) {
        if name.elementsEqual("data".utf8) {
            guard data.count + value.count < byteLimit else {
                throw ClientError(.contentTooLong, "an event of more than \(byteLimit) bytes")
            }
            data += value
            data.append(10)
            hasData = true
        } else if name.elementsEqual("event".utf8) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("id".utf8) {
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8) {
            let digits = String(decoding: value, as: UTF8.self)
            if let number = FieldValues.parseDecimal(digits) { retry = .milliseconds(number) }
        }
    }

    private mutating func dispatch() -> ClientEvent? {
        defer { (type, data, hasData) = ("", [], false) }
        guard hasData else { return nil }
        return ClientEvent(
            type: type.isEmpty ? "message" : type,
            data: String(decoding: data.dropLast(), as: UTF8.self), id: id, retry: retry)
    }
}

extension ClientContent {
    /// The events of the content as they arrive, each of at most 1 MiB.
    public var events: ClientEvents { events(upTo: 1 << 20) }

    /// The events of the content as they arrive.
    /// - Parameter byteLimit: the most bytes of an event; a longer event throws
    ///   ``ClientError/Kind/contentTooLong``.
    public func events(upTo byteLimit: Int) -> ClientEvents {
        ClientEvents(content: self, byteLimit: byteLimit)
    }

    /// Writes the content to a file, which appears when it is complete, and replaces an existing
    /// file.
    ///
    /// A caller can thus read the head first, and then decide where to write the content.
    /// - Parameter path: the path of the file.
    /// - Returns: the length of the file in bytes.
    /// - Throws: the error that kept the file from being complete. An existing file then stays
    ///   unchanged.
    @discardableResult
    public func save(to path: String) async throws(ClientError) -> Int64 {
        let file = FileSink(to: path, resuming: nil)
        do throws(ClientError) {
            if let error = file.begin() { throw error }
            var pieces = makeAsyncIterator()
            while let piece = try await pieces.next() {
                if let error = file.write(piece) { throw error }
            }
            if let error = file.finish(trailers: HTTPFields()) { throw error }
            return file.offset
        } catch {
            reader.task.cancel()
            file.abandon(error)
            throw error
        }
    }
}

internal import HTTPParser

/// An event that a server sends, as the HTML standard has it (section 9.2).
public struct ClientEvent: Sendable, Hashable {
    /// Its type, `message` where the server names none.
    public var type: String
    /// The lines of its data, with line feeds between them.
    public var data: String
    /// The number or name of the last event that had one; a request goes on with it as
    /// `Last-Event-ID`.
    public var id: String
    /// How long to wait before the next connection, if the server has said that so far.
    public var retry: Duration?
}

/// The events of content as it comes: of `text/event-stream`.
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
        /// - Throws: when the content does not come in whole, and
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

/// Puts events together from lines.
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

    /// Takes a line; gives the event that it ends.
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

    /// An empty name is a comment, and what is not known is left aside.
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
    /// The events of the content, as they come, each of 1 MiB at most.
    public var events: ClientEvents { events(upTo: 1 << 20) }

    /// The events of the content, as they come.
    /// - Parameter byteLimit: the longest event; above it ``ClientError/Kind/contentTooLong`` is
    ///   thrown.
    public func events(upTo byteLimit: Int) -> ClientEvents {
        ClientEvents(content: self, byteLimit: byteLimit)
    }

    /// Writes the content to a file, which appears when it is whole and replaces one that is there.
    ///
    /// So a caller can look at the head first, and then decide where the content goes.
    /// - Parameter path: where the file will be.
    /// - Returns: how many bytes it has.
    /// - Throws: why there is no file; what was there before stays then.
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

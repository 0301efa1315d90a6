import HTTPParser

/// A parser and the bytes appended to it. The output needs the bytes for Latin-1 text, because the
/// parser decodes valid UTF-8, and for limits on a whole head or target.
struct MessageReader<Parser: MessageParser & ~Copyable>: ~Copyable {
    private var parser: Parser
    private var history: History
    private let budget: HeadBudget
    /// How far the parser's offsets are ahead of the true ones; see `offset()`.
    private var bias = 0
    private var isInHead = true
    private var framing = FramingWord.none
    /// The end of the last content whose length was announced: no line end follows it.
    private var contentEnd = 0

    /// Creates a reader for a stream of any length, with the standard limits.
    init(_ parser: consuming Parser) {
        self.parser = parser
        budget = HeadBudget()
        history = History()
    }

    /// Creates a reader for a case, with any limits.
    init(_ parser: consuming Parser, budget: HeadBudget) {
        self.parser = parser
        self.budget = budget
        history = History(keeping: .max)
    }

    /// The reason why the parser has stopped without an error.
    var stopReason: StopReason? { parser.stopReason }

    mutating func append(_ bytes: Span<UInt8>) {
        history.append(bytes)
        parser.append(bytes)
    }

    /// The bytes that were not read; after a stop they belong to another protocol.
    mutating func takeRest() -> [UInt8] { parser.takeRest() }

    /// The next event; `nil` if more bytes are needed or the parser has stopped. An error is final.
    mutating func next() throws(HTTPParseError) -> MessageEvent? {
        let event: MessageEvent?
        do {
            event = try parser.nextEvent()
        } catch {
            throw settled(error)
        }
        switch event {
        case .interim(let head): return .interim(try checked(head))
        case .head(let head):
            let head = try checked(head)
            isInHead = false
            framing = head.framing
            return .head(head)
        case .end(let trailers):
            isInHead = true
            if framing == .length { contentEnd = offset() }
            return .end(inLatin1(trailers))
        case .content, nil: return event
        }
    }

    /// Marks the end of the stream; `next()` may return one more event then.
    mutating func finish() throws(HTTPParseError) {
        do {
            try parser.finish()
        } catch {
            throw settled(error)
        }
    }

    /// The parser's error at its true offset, or the error for a limit that the head exceeded
    /// before it.
    private mutating func settled(_ error: HTTPParseError) -> HTTPParseError {
        let error = HTTPParseError(error.kind, at: error.offset - bias)
        guard isInHead, !budget.isUnlimited else { return error }
        let start = offset()
        return budget.fault(in: history.bytes(from: start, to: error.offset), at: start) ?? error
    }

    /// The head with its reason phrase in Latin-1; throws if the head exceeds a limit.
    private mutating func checked(_ head: ParsedHead) throws(HTTPParseError) -> ParsedHead {
        let isPlain = head.reason?.isASCII ?? true
        guard !isPlain || !budget.isUnlimited else { return head }
        let end = offset()
        // The start line, the field lines and the empty line.
        let lines = history.lines(head.fields.count + 2, from: contentEnd, to: end)
        guard let start = lines.first?.lowerBound else { return head }
        if let fault = budget.fault(in: history.bytes(from: start, to: end), at: start) {
            throw fault
        }
        guard !isPlain, case .response(let status, _) = head.startLine else { return head }
        var head = head
        // Skip "HTTP/1.1 200 ", the 13 bytes before the reason phrase.
        let reason = history.bytes(from: start + 13, to: lines[0].upperBound)
        head.startLine = .response(status: status, reason: latin1(reason.span))
        return head
    }

    /// Trailers in Latin-1: the lines before the empty one that was read last.
    private mutating func inLatin1(_ trailers: [ParsedField]) -> [ParsedField] {
        guard !trailers.allSatisfy(\.value.isASCII) else { return trailers }
        let lines = history.lines(trailers.count + 1, from: contentEnd, to: offset())
        return zip(trailers, lines).map { field, line in
            let colon = line.lowerBound + field.name.utf8.count
            let value = history.bytes(from: colon + 1, to: line.upperBound)
            return ParsedField(name: field.name, value: trimmingBlanks(latin1(value.span)))
        }
    }

    /// The offset up to which the parser has read. The protocol does not report it, so the unread
    /// bytes are taken and appended again; the parser then counts them twice.
    private mutating func offset() -> Int {
        let rest = parser.takeRest()
        parser.append(rest.span)
        bias += rest.count
        return history.end - rest.count
    }
}

private func trimmingBlanks(_ text: String) -> String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let start = text.utf8.drop(while: isBlank).startIndex
    guard let last = text.utf8.lastIndex(where: { !isBlank($0) }) else { return "" }
    return String(text[start...last])
}

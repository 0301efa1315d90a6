/// The parts of a request, in the order of the wire.
public enum RequestEvent: ~Copyable, ~Escapable {
    /// The head of a request.
    case head(RequestHead)
    /// A piece of the content, transfer coding taken off. It is lent until the parser is used
    /// again.
    case content(Span<UInt8>)
    /// The request is complete; the fields are its trailers, usually none.
    case end(HTTPFields)
}

/// Turns a stream of bytes into requests (RFC 9112), as a value: no socket, no callback.
///
/// ```swift
/// var parser = RequestParser()
/// parser.append(Array("GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n".utf8).span)
/// while let event = try parser.next() {
///     switch event {
///     case .head(let head): print(head.method, head.target.path, head.fields[.host] ?? "-")
///     case .content(let bytes): print(bytes.count)
///     case .end(let trailers): print(trailers.count)
///     }
/// }
/// ```
///
/// The bytes may be split anywhere; the events are the same but for the sizes of content pieces.
/// Pipelined requests come one after the other. Memory is bounded by the limits of a head plus
/// what was appended and not yet asked for.
public struct RequestParser: ~Copyable {
    private var input = ReceiveBuffer()
    private var head: HeadParser
    private var progress = MessageProgress()
    /// Whether the connection ends after the request in any case, also when it offers an upgrade.
    private var isLast = false
    private let limits: ParserLimits

    /// Creates a parser.
    public init(limits: ParserLimits = .standard, leniency: ParserLeniency = []) {
        head = HeadParser(.request, limits: limits, leniency: leniency)
        self.limits = limits
    }

    /// Adds bytes to the input.
    public mutating func append(_ bytes: Span<UInt8>) {
        input.append(bytes)
    }

    /// How many bytes of the stream the events so far have used.
    package var usedCount: Int { input.offset }

    /// Why the parser stopped after a complete request, or `nil` while it reads on. `takeRest()`
    /// returns the bytes that follow.
    public var stopReason: StopReason? { progress.stop }

    /// The next event, or `nil` for "more bytes, please", or when the parser has stopped.
    /// - Throws: what makes the input unacceptable. The error is final: it is thrown again.
    @_lifetime(&self)
    public mutating func next() throws(HTTPParseError) -> RequestEvent? {
        if let failure = progress.failure { throw failure }
        guard progress.stop == nil else { return nil }
        do {
            if progress.body != nil {
                let event = try nextOfBody()
                return unsafe _overrideLifetime(event, mutating: &self)
            }
            let event = try nextHead()
            return unsafe _overrideLifetime(event, mutating: &self)
        } catch {
            let failure = error.moved(by: input.offset)
            progress.failure = failure
            throw failure
        }
    }

    /// Says that no more bytes come.
    /// - Throws: `.truncated` when the input stops inside a request. Ask for the last events by
    ///   `next()` before.
    public mutating func finish() throws(HTTPParseError) {
        if let failure = progress.failure { throw failure }
        guard progress.stop == nil, progress.body != nil || !isBetweenRequests else { return }
        let failure = HTTPParseError(.truncated, at: input.end)
        progress.failure = failure
        throw failure
    }

    /// Whether nothing waits but empty lines, which belong to no request (RFC 9112 section 2.2).
    private var isBetweenRequests: Bool {
        unsafe input.bytes.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }

    /// Goes on with HTTP after the parser has stopped, as a server does that declines an upgrade.
    ///
    /// After a request that asked for the end of the connection, too, the parser stops for `.close`
    /// (RFC 9112 section 9.6); called once more, it goes on. Before the parser has stopped, this does
    /// nothing.
    public mutating func resume() {
        guard let stop = progress.stop else { return }
        progress.stop = isLast && stop != .close ? .close : nil
    }

    /// Takes the unread bytes, which after a stop belong to another protocol.
    public mutating func takeRest() -> [UInt8] {
        input.takeAll()
    }

    @_lifetime(immortal)
    private mutating func nextHead() throws(HTTPParseError) -> RequestEvent? {
        guard let length = try unsafe head.parse(input.bytes) else { return nil }
        guard let base = unsafe input.bytes.baseAddress else { return nil }
        let request = unsafe RequestHead(head, bytes: base, length: length)
        progress.body = BodyParser(request.framing, limits: limits)
        isLast = !request.isPersistent
        progress.stopAtEnd = stop(after: request)
        head.reset()
        input.consume(length)
        return .head(request)
    }

    private func stop(after request: borrowing RequestHead) -> StopReason? {
        if request.framing == .tunnel { return .tunnel }
        if request.offersUpgrade { return .upgrade }
        return isLast ? .close : nil
    }

    @_lifetime(immortal)
    private mutating func nextOfBody() throws(HTTPParseError) -> RequestEvent? {
        let bytes = unsafe input.bytes
        let (step, taken) = try unsafe progress.step(bytes)
        input.consume(taken)
        switch step {
        case .more: return nil
        case .content(let range): return unsafe .content(lend(bytes, range))
        case .end: return .end(progress.endMessage())
        }
    }
}

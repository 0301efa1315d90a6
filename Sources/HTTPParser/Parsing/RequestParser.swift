/// The parts of a request, in the order of the wire.
public enum RequestEvent: ~Copyable, ~Escapable {
    /// The head of a request.
    case head(RequestHead)
    /// A piece of the content, without its transfer coding. The span is valid until the parser is
    /// used again.
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
/// The bytes may be split anywhere; only the sizes of content pieces depend on it. Pipelined
/// requests are returned one after the other. Memory is bounded by the limits of a head plus the
/// input that was appended and not yet read.
public struct RequestParser: ~Copyable {
    private var input = ReceiveBuffer()
    private var head: HeadParser
    private var progress = MessageProgress()
    /// Whether the connection ends after the request, even if an offered upgrade is declined.
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

    /// The number of bytes of the stream that the events so far have used.
    package var usedCount: Int { input.offset }

    /// The reason why the parser stopped after a complete request; `nil` if it has not stopped.
    /// `takeRest()` returns the bytes that follow.
    public var stopReason: StopReason? { progress.stop }

    /// The next event; `nil` if more bytes are needed or the parser has stopped.
    /// - Throws: the violation in the input. The error is final: later calls throw it again.
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

    /// Ends the input. Before it, call `next()` until it returns `nil`.
    /// - Throws: `.truncated` if the input ends inside a request.
    public mutating func finish() throws(HTTPParseError) {
        if let failure = progress.failure { throw failure }
        guard progress.stop == nil, progress.body != nil || !isBetweenRequests else { return }
        let failure = HTTPParseError(.truncated, at: input.end)
        progress.failure = failure
        throw failure
    }

    /// Whether the unread input is only empty lines, which belong to no request (RFC 9112 section
    /// 2.2).
    private var isBetweenRequests: Bool {
        unsafe input.bytes.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }

    /// Continues with HTTP after the parser has stopped, as after an upgrade that the server
    /// declines.
    ///
    /// If the request also ends the connection, the parser then stops with `.close` (RFC 9112
    /// section 9.6); a second call continues even then. Does nothing if the parser has not stopped.
    public mutating func resume() {
        guard let stop = progress.stop else { return }
        progress.stop = isLast && stop != .close ? .close : nil
    }

    /// Takes the unread bytes. After `.upgrade` and `.tunnel` they belong to another protocol.
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

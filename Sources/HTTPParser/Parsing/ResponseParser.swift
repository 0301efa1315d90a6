/// The parts of a response, in the order of the wire.
public enum ResponseEvent: ~Copyable, ~Escapable {
    /// An interim response, 1xx except 101; the final response follows (RFC 9110 section 15.2).
    case interim(ResponseHead)
    /// The head of a final response.
    case head(ResponseHead)
    /// A piece of the content, without its transfer coding. The span is valid until the parser is
    /// used again.
    case content(Span<UInt8>)
    /// The response is complete; the fields are its trailers, usually none.
    case end(HTTPFields)
}

/// Turns a stream of bytes into responses (RFC 9112), as a value: no socket, no callback.
///
/// The end of a response depends on its request, so call `expect(_:)` with the method of each
/// request that is sent. Without a call, every response is taken as a response to GET.
///
/// ```swift
/// var parser = ResponseParser()
/// parser.append(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8).span)
/// while let event = try parser.next() {
///     switch event {
///     case .interim(let head): print("interim", head.status)
///     case .head(let head): print(head.status)
///     case .content(let bytes): print(bytes.count)
///     case .end(let trailers): print(trailers.count)
///     }
/// }
/// ```
public struct ResponseParser: ~Copyable {
    private var input = ReceiveBuffer()
    private var head: HeadParser
    private var progress = MessageProgress()
    private var methods: [HTTPMethod]?
    private let limits: ParserLimits

    /// Creates a parser.
    public init(limits: ParserLimits = .standard, leniency: ParserLeniency = []) {
        head = HeadParser(.response, limits: limits, leniency: leniency)
        self.limits = limits
    }

    /// Records that a request with this method was sent. After the first call, a response without
    /// an outstanding request is an error.
    public mutating func expect(_ method: HTTPMethod) {
        methods = (methods ?? []) + [method]
    }

    /// Adds bytes to the input.
    public mutating func append(_ bytes: Span<UInt8>) {
        input.append(bytes)
    }

    /// The reason why the parser stopped after a complete response; `nil` if it has not stopped.
    /// `takeRest()` returns the bytes that follow.
    public var stopReason: StopReason? { progress.stop }

    /// The next event; `nil` if more bytes are needed or the parser has stopped.
    /// - Throws: the violation in the input. The error is final: later calls throw it again.
    @_lifetime(&self)
    public mutating func next() throws(HTTPParseError) -> ResponseEvent? {
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

    /// Ends the input, which completes content that ends with the connection: `next()` returns the
    /// rest of that content, then `.end`. Before this, call `next()` until it returns `nil`.
    /// - Throws: `.truncated` if the input ends inside a response.
    public mutating func finish() throws(HTTPParseError) {
        if let failure = progress.failure { throw failure }
        progress.inputEnded = true
        guard progress.stop == nil else { return }
        do throws(HTTPParseError) {
            try checkEnd(at: input.end)
        } catch {
            progress.failure = error
            throw error
        }
    }

    private mutating func checkEnd(at end: Int) throws(HTTPParseError) {
        if progress.body != nil {
            // Unread bytes are still content.
            if progress.body?.endsWithInput == true, input.count > 0 { return }
            try progress.body?.finish(at: end)
        } else if input.count > 0 || progress.sawInterim {
            throw HTTPParseError(.truncated, at: end)
        }
    }

    /// The number of bytes of the stream that the events so far have used.
    package var usedCount: Int { input.offset }

    /// Takes the unread bytes. After `.upgrade` and `.tunnel` they belong to another protocol.
    public mutating func takeRest() -> [UInt8] {
        input.takeAll()
    }

    @_lifetime(immortal)
    private mutating func nextHead() throws(HTTPParseError) -> ResponseEvent? {
        guard input.count > 0 else { return nil }
        guard methods?.isEmpty != true else { throw HTTPParseError(.unexpectedResponse, at: 0) }
        let method = methods?.first ?? .get
        head.answersConnect = method == .connect
        guard let length = try unsafe head.parse(input.bytes) else { return nil }
        guard let base = unsafe input.bytes.baseAddress else { return nil }
        let response = unsafe ResponseHead(
            head, bytes: base, length: length, requestMethod: method)
        head.reset()
        input.consume(length)
        if response.status.class == .informational, response.status != .switchingProtocols {
            progress.sawInterim = true
            return .interim(response)
        }
        if methods != nil { methods?.removeFirst() }
        progress.sawInterim = false
        progress.body = BodyParser(response.framing, limits: limits)
        progress.stopAtEnd = Self.stop(after: response)
        return .head(response)
    }

    private static func stop(after response: borrowing ResponseHead) -> StopReason? {
        if response.framing == .tunnel { return .tunnel }
        if response.status == .switchingProtocols { return .upgrade }
        return response.isPersistent ? nil : .close
    }

    @_lifetime(immortal)
    private mutating func nextOfBody() throws(HTTPParseError) -> ResponseEvent? {
        let bytes = unsafe input.bytes
        if input.count == 0, progress.inputEnded, progress.body?.endsWithInput == true {
            try progress.body?.finish(at: 0)
        }
        let (step, taken) = try unsafe progress.step(bytes)
        input.consume(taken)
        switch step {
        case .more: return nil
        case .content(let range): return unsafe .content(lend(bytes, range))
        case .end: return .end(progress.endMessage())
        }
    }
}

import HTTPParser

/// The operations of both parsers that the command needs.
protocol MessageParser: ~Copyable {
    var stopReason: StopReason? { get }
    mutating func append(_ bytes: Span<UInt8>)
    mutating func nextEvent() throws(HTTPParseError) -> MessageEvent?
    mutating func finish() throws(HTTPParseError)
    mutating func takeRest() -> [UInt8]
}

extension RequestParser: MessageParser {
    mutating func nextEvent() throws(HTTPParseError) -> MessageEvent? {
        guard let event = try next() else { return nil }
        switch event {
        case .head(let head): return .head(ParsedHead(head))
        case .content(let bytes): return .content(copy(bytes))
        case .end(let trailers): return .end(parsedTrailers(trailers))
        }
    }
}

extension ResponseParser: MessageParser {
    mutating func nextEvent() throws(HTTPParseError) -> MessageEvent? {
        guard let event = try next() else { return nil }
        switch event {
        case .interim(let head): return .interim(ParsedHead(head))
        case .head(let head): return .head(ParsedHead(head))
        case .content(let bytes): return .content(copy(bytes))
        case .end(let trailers): return .end(parsedTrailers(trailers))
        }
    }
}

private func copy(_ bytes: Span<UInt8>) -> [UInt8] {
    unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) }
}

private func parsedTrailers(_ trailers: HTTPFields) -> [ParsedField] {
    trailers.map { ParsedField(name: $0.name.text, value: $0.value) }
}

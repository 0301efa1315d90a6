public import HTTPParser

/// A field line as it was on the wire.
public struct FieldLine: Equatable, Sendable {
    /// The bytes of the name.
    public var name: [UInt8]
    /// The bytes of the value, white space around it trimmed.
    public var value: [UInt8]

    /// Creates a line.
    public init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

/// A head as a value that compares and prints.
public struct RecordedHead: Equatable, Sendable {
    /// The start line, built again from its parts.
    public var startLine: [UInt8]
    /// Target form, framing and other facts about the connection.
    public var traits: [String]
    /// The fields in their order.
    public var fields: [FieldLine]

    /// Creates a head.
    public init(startLine: [UInt8], traits: [String], fields: [FieldLine]) {
        self.startLine = startLine
        self.traits = traits
        self.fields = fields
    }
}

/// An event of a parser as a value; adjacent pieces of content are one.
public enum WireEvent: Equatable, Sendable {
    /// The head of a request.
    case request(RecordedHead)
    /// An interim response.
    case interim(RecordedHead)
    /// The head of a final response.
    case response(RecordedHead)
    /// All content up to the next event.
    case content([UInt8])
    /// The end of a message, with its trailers.
    case end([FieldLine])
    /// The parser stopped, and left these bytes unread.
    case stop(StopReason, rest: [UInt8])
    /// The input was refused.
    case failure(HTTPParseError)
}

extension BodyFraming {
    /// The framing in the words of the transcripts.
    public var trait: String {
        switch self {
        case .none: "none"
        case .length(let length): "length \(length)"
        case .chunked: "chunked"
        case .untilClose: "until-close"
        case .tunnel: "tunnel"
        }
    }
}

extension WireEvent: CustomStringConvertible {
    /// The lines that represent the event in a transcript.
    public var description: String {
        switch self {
        case .request(let head): "request \(head.text)"
        case .interim(let head): "interim \(head.text)"
        case .response(let head): "response \(head.text)"
        case .content(let bytes): "content \(Escapes.text(bytes))"
        case .end(let trailers): "end" + trailers.text
        case .stop(let reason, let rest):
            rest.isEmpty ? "stop \(reason)" : "stop \(reason), rest \(Escapes.text(rest))"
        case .failure(let error):
            "error \(error.kind) at \(error.offset), status \(error.suggestedStatus.code)"
        }
    }
}

extension RecordedHead {
    fileprivate var text: String {
        "\(Escapes.text(startLine)) [\(traits.joined(separator: ", "))]" + fields.text
    }
}

extension [FieldLine] {
    fileprivate var text: String {
        map { line in
            let value = line.value.isEmpty ? "" : " \(Escapes.text(line.value))"
            return "\n  \(Escapes.text(line.name)):\(value)"
        }.joined()
    }
}

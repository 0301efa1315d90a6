public import HTTPParser

/// One complete message among recorded events, ready to be written again.
public struct RecordedMessage: Equatable, Sendable {
    /// The parts of the start line: method, target, version; or version, status, reason.
    public var startLine: [String]
    /// The framing that the head announces.
    public var framing: BodyFraming
    /// Whether the connection ends after the message.
    public var closes: Bool
    /// The fields, without those that the serialisers write themselves.
    public var fields: HTTPFields
    /// All content.
    public var content: [UInt8]
    /// The trailers, without those that the serialisers refuse.
    public var trailers: HTTPFields

    /// The complete messages, interim responses left out.
    public static func messages(in events: [WireEvent]) -> [RecordedMessage] {
        var messages: [RecordedMessage] = []
        var open: RecordedMessage?
        for event in events {
            switch event {
            case .request(let head), .response(let head): open = RecordedMessage(head)
            case .content(let bytes): open?.content = bytes
            case .end(let trailers):
                open?.trailers = fields(trailers)
                if let message = open { messages.append(message) }
                open = nil
            case .interim, .stop, .failure: continue
            }
        }
        return messages
    }

    private init(_ head: RecordedHead) {
        startLine = String(decoding: head.startLine, as: UTF8.self)
            .split(separator: " ", maxSplits: 2).map { String($0) }
        framing = head.traits.lazy.compactMap { Self.framing($0) }.first ?? .none
        closes = head.traits.contains("closing")
        fields = Self.fields(head.fields)
        content = []
        trailers = HTTPFields()
    }

    private static func framing(_ trait: String) -> BodyFraming? {
        switch trait {
        case "none": return BodyFraming.none
        case "chunked": return .chunked
        case "until-close": return .untilClose
        case "tunnel": return .tunnel
        default:
            guard trait.hasPrefix("length ") else { return nil }
            return Int64(trait.dropFirst(7)).map { .length($0) }
        }
    }

    private static func fields(_ lines: [FieldLine]) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            guard let name = HTTPFieldName(String(decoding: line.name, as: UTF8.self)),
                ![.connection, .contentLength, .transferEncoding].contains(name)
            else { continue }
            fields.append(name, text(line.value))
        }
        return fields
    }

    private static func text(_ value: [UInt8]) -> String {
        if let text = String(validating: value, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(value.map { Unicode.Scalar($0) }))
    }
}

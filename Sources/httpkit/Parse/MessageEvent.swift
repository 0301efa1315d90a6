import HTTPParser

/// The events of both parsers as plain text that can be kept and printed.
enum MessageEvent: Equatable, Sendable {
    case interim(ParsedHead)
    case head(ParsedHead)
    case content([UInt8])
    case end([ParsedField])
}

/// A field line as Latin-1 text: each byte of the wire is one character.
struct ParsedField: Equatable, Sendable {
    var name: String
    var value: String
}

/// How the end of the content was known, named as in the output.
enum FramingWord: String, Sendable {
    case none, length, chunked, close, tunnel
}

/// The head of a request or a response.
struct ParsedHead: Equatable, Sendable {
    enum StartLine: Equatable, Sendable {
        case request(method: String, target: String)
        case response(status: UInt16, reason: String)
    }

    var startLine: StartLine
    var minorVersion: UInt8
    var fields: [ParsedField]
    var framing: FramingWord
    var isPersistent: Bool
    var isUpgrade: Bool
}

extension ParsedHead {
    init(_ head: borrowing RequestHead) {
        startLine = .request(method: head.method.name, target: head.target.text)
        minorVersion = head.version.minor
        fields = parsedFields(head.fields)
        framing = FramingWord(head.framing, announced: head.contentLength)
        isPersistent = head.isPersistent
        isUpgrade = head.offersUpgrade
    }

    init(_ head: borrowing ResponseHead) {
        startLine = .response(status: head.status.code, reason: head.reasonPhrase)
        minorVersion = head.version.minor
        fields = parsedFields(head.fields)
        framing = FramingWord(
            head.framing, announced: head.status.forbidsContent ? nil : head.contentLength)
        isPersistent = head.isPersistent
        isUpgrade = head.status == .switchingProtocols
    }

    /// The reason phrase of a response.
    var reason: String? {
        guard case .response(_, let reason) = startLine else { return nil }
        return reason
    }
}

extension FramingWord {
    /// An announced length of zero also counts as a length, if the message may have content.
    init(_ framing: BodyFraming, announced: Int64?) {
        switch framing {
        case .none: self = announced == 0 ? .length : .none
        case .length: self = .length
        case .chunked: self = .chunked
        case .untilClose: self = .close
        case .tunnel: self = .tunnel
        }
    }
}

private func parsedFields(_ section: borrowing FieldSection) -> [ParsedField] {
    var fields: [ParsedField] = []
    fields.reserveCapacity(section.count)
    section.forEachBytes { name, value in
        fields.append(ParsedField(name: latin1(name), value: latin1(value)))
    }
    return fields
}

/// Latin-1 text: each byte is the character of the same number.
func latin1(_ bytes: Span<UInt8>) -> String {
    unsafe bytes.withUnsafeBytes { bytes in
        // ASCII is the same in UTF-8, and faster to decode.
        let isASCII = unsafe bytes.allSatisfy { $0 < 0x80 }
        return unsafe isASCII ? String(decoding: bytes, as: UTF8.self) : latin1Text(bytes)
    }
}

extension String {
    /// Whether the text is ASCII, so that the parser's text and the Latin-1 text are equal.
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

public import HTTPParser

/// A head read in a slow and simple way, line by line from the whole input: the oracle that the
/// parser is compared with. It follows the grammar of RFC 9112 sections 3 to 5 as text and shares
/// no code with the parser.
public struct PlainHead: Equatable, Sendable {
    /// The oracle's result for the input.
    public enum Outcome: Equatable, Sendable {
        /// The head is not complete.
        case incomplete
        /// The head is refused.
        case failure(HTTPParseError)
        /// The head is complete.
        case head(PlainHead)
    }

    /// The place of a field.
    public struct Slot: Equatable, Sendable {
        /// The bytes of the name.
        public var name: Range<Int>
        /// The bytes of the value.
        public var value: Range<Int>

        /// Creates a place.
        public init(name: Range<Int>, value: Range<Int>) {
            self.name = name
            self.value = value
        }
    }

    /// The length with the empty line.
    public var length = 0
    /// The places of the fields.
    public var slots: [Slot] = []
    /// The place of the request target.
    public var target = 0..<0
    /// The place of the reason phrase.
    public var reason = 0..<0
    /// The head as the parser's events record it.
    public var recorded = RecordedHead(startLine: [], traits: [], fields: [])
    var method = ""
    var form = ""
    var minor = 0
    var code = 0

    /// Reads the head at the front of `bytes`.
    public static func read(
        _ bytes: [UInt8], _ kind: HeadParser.Kind, limits: ParserLimits = .standard,
        leniency: ParserLeniency = []
    ) -> Outcome {
        var reader = PlainReader(bytes, kind, limits, leniency)
        do throws(PlainReader.Stop) {
            try reader.readAll()
            return .head(reader.head)
        } catch {
            guard case .failure(let failure) = error else { return .incomplete }
            return .failure(failure)
        }
    }
}

/// The state of one reading.
struct PlainReader {
    enum Stop: Error {
        case incomplete
        case failure(HTTPParseError)
    }

    let bytes: [UInt8]
    let kind: HeadParser.Kind
    let limits: ParserLimits
    let leniency: ParserLeniency
    var head = PlainHead()
    var framing = PlainFraming()
    var position = 0

    init(
        _ bytes: [UInt8], _ kind: HeadParser.Kind, _ limits: ParserLimits,
        _ leniency: ParserLeniency
    ) {
        self.bytes = bytes
        self.kind = kind
        self.limits = limits
        self.leniency = leniency
    }

    mutating func readAll() throws(Stop) {
        if kind != .trailers { try readStartLine() }
        let fieldsStart = position
        while true {
            let line = try takeLine(fieldsStart: fieldsStart)
            if line.isEmpty { break }
            try readField(line)
        }
        head.length = position
        if kind == .request { try framing.checkRequest(self) }
        head.recorded = framing.record(self)
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: Unicode.ASCII.self)
    }

    func stop(_ kind: HTTPParseError.Kind, _ offset: Int) -> Stop {
        .failure(HTTPParseError(kind, at: offset))
    }

    /// The content of the next line. `fieldsStart` is `nil` for the start line.
    private mutating func takeLine(fieldsStart: Int?) throws(Stop) -> Range<Int> {
        let start = position
        var end = start
        while end < bytes.count, isText(bytes[end]) {
            end += 1
            if let limit = exceeded(start..<end, fieldsStart) { throw stop(limit, end - 1) }
        }
        guard end < bytes.count else { throw .incomplete }
        if bytes[end] == 0x0A, leniency.contains(.bareLineFeed) {
            position = end + 1
            return start..<end
        }
        guard bytes[end] == 0x0D else {
            throw stop(control(start..<end, bytes[end], isField: fieldsStart != nil), end)
        }
        guard end + 1 < bytes.count else { throw .incomplete }
        guard bytes[end + 1] == 0x0A else { throw stop(.bareCarriageReturn, end) }
        position = end + 2
        return start..<end
    }

    private func isText(_ byte: UInt8) -> Bool {
        byte == 0x09 || (0x20...0x7E).contains(byte) || byte >= 0x80
    }

    /// The limit that a line exceeds; of two, the one that it exceeds first.
    private func exceeded(_ line: Range<Int>, _ fieldsStart: Int?) -> HTTPParseError.Kind? {
        guard let fieldsStart else {
            return line.count > limits.startLineBytes ? .requestLineTooLong : nil
        }
        if line.count > limits.fieldLineBytes { return .fieldTooLong }
        let sectionLimit = kind == .trailers ? limits.trailerBytes : limits.fieldSectionBytes
        // The line has to fit together with its CRLF.
        guard line.upperBound + 2 - fieldsStart > sectionLimit else { return nil }
        return kind == .trailers ? .trailersTooLong : .fieldsTooLong
    }

    private func control(
        _ line: Range<Int>, _ byte: UInt8, isField: Bool
    ) -> HTTPParseError.Kind {
        if byte == 0x0A { return .bareLineFeed }
        if isField { return text(line).contains(":") ? .invalidFieldValue : .invalidFieldName }
        if kind == .response { return .invalidStatusLine }
        return text(line).contains(" ") ? .invalidTarget : .invalidMethod
    }

    private mutating func readStartLine() throws(Stop) {
        var emptyLines = 0
        while true {
            let start = position
            let line = try takeLine(fieldsStart: nil)
            guard line.isEmpty else {
                return try kind == .request ? readRequestLine(line) : readStatusLine(line)
            }
            emptyLines += 1
            guard kind == .request else { throw stop(.invalidStatusLine, start) }
            guard emptyLines <= limits.leadingEmptyLines else {
                throw stop(.tooManyEmptyLines, start)
            }
        }
    }

    private mutating func readField(_ line: Range<Int>) throws(Stop) {
        guard head.slots.count < limits.fieldCount else {
            throw stop(.tooManyFields, line.lowerBound)
        }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        guard !isBlank(bytes[line.lowerBound]) else {
            throw stop(.obsoleteFolding, line.lowerBound)
        }
        let nameEnd = bytes[line].firstIndex { !PlainGrammar.isToken($0) } ?? line.upperBound
        guard nameEnd < line.upperBound else { throw stop(.missingColon, nameEnd) }
        guard !isBlank(bytes[nameEnd]) else { throw stop(.whitespaceBeforeColon, nameEnd) }
        guard bytes[nameEnd] == UInt8(ascii: ":"), nameEnd > line.lowerBound else {
            throw stop(.invalidFieldName, nameEnd)
        }
        let value = bytes[(nameEnd + 1)..<line.upperBound]
        let start = value.firstIndex { !isBlank($0) } ?? line.upperBound
        let end = value.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
        let slot = PlainHead.Slot(name: line.lowerBound..<nameEnd, value: start..<end)
        if kind != .trailers { try framing.take(slot, self) }
        head.slots.append(slot)
    }
}

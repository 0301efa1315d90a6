internal import HTTPParser
internal import ToolkitSystem

/// The head of a response as it was received. Its fields are parsed at their first use.
///
/// libcurl has already split the lines and checked that they form a head. Parsing never fails: a
/// line that is not a field is left out, a bare line feed ends a line, and bytes beyond ASCII are
/// kept.
final class ResponseFields: Sendable {
    private let bytes: [UInt8]
    private let names: FieldNameFilter
    private let known = LazyReference<Known>()

    /// The parsed fields.
    private final class Known: Sendable {
        let fields: HTTPFields

        init(_ fields: HTTPFields) {
            self.fields = fields
        }
    }

    /// - Parameters:
    ///   - bytes: the lines of a head, the status line first.
    ///   - names: a filter to which all field names of the head were added.
    init(bytes: [UInt8], names: FieldNameFilter = .all) {
        self.bytes = bytes
        self.names = names
    }

    init(_ fields: HTTPFields) {
        bytes = []
        names = .all
        _ = known.storeIfNil(Known(fields))
    }

    var fields: HTTPFields {
        if let known = known.load() { return known.fields }
        return known.storeIfNil(Known(FieldLines.fields(in: bytes))).fields
    }

    var reasonPhrase: String {
        guard let end = bytes.firstIndex(of: 10) else { return "" }
        let words = bytes[..<end].split(
            separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
        return words.count == 3 ? FieldLines.text(FieldLines.trimmed(words[2])) : ""
    }

    /// The value of the first field with this name, which must be in lower case. No other fields
    /// are parsed.
    func value(of name: StaticString) -> String? {
        guard !bytes.isEmpty else {
            return HTTPFieldName("\(name)").flatMap { fields[$0] }
        }
        guard names.mayContain(name) else { return nil }
        return FieldLines.value(of: name, in: bytes)
    }

    /// The values of all fields with this name, which must be in lower case, as the received bytes.
    func rawValues(of name: StaticString) -> [[UInt8]] {
        guard !bytes.isEmpty else {
            return HTTPFieldName("\(name)").map { fields.values(of: $0).map { Array($0.utf8) } }
                ?? []
        }
        guard names.mayContain(name) else { return [] }
        var found: [[UInt8]] = []
        FieldLines.forEachValue(of: name, in: bytes) { value in
            found.append(Array(value))
            return true
        }
        return found
    }

    var contentLength: Int64? {
        guard let text = value(of: "content-length"), !text.isEmpty, text.utf8.count <= 18,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

/// A 64-bit Bloom filter over the field names of a head. It rules out most missing names without a
/// search. The hash of a name combines its length, its first and its last letter.
struct FieldNameFilter {
    private var bits: UInt64

    static let none = FieldNameFilter(bits: 0)
    static let all = FieldNameFilter(bits: .max)

    private static func bit(_ first: UInt8, _ last: UInt8, _ length: Int) -> UInt64 {
        1 << UInt64((Int(first | 0x20) &+ Int(last | 0x20) &* 9 &+ length &* 29) & 63)
    }

    /// Adds the field name at the beginning of a line.
    mutating func add(_ line: UnsafeRawBufferPointer) {
        guard let first = unsafe line.first else { return }
        var length = 0
        while length < line.count, unsafe line[length] != 0x3A { length += 1 }
        guard length > 0 else { return }
        bits |= unsafe Self.bit(first, line[length - 1], length)
    }

    /// Whether the head may contain this name, which must be in lower case.
    func mayContain(_ name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        return unsafe bits & Self.bit(name.utf8Start[0], name.utf8Start[count - 1], count) != 0
    }
}

/// Reads lines of fields leniently.
enum FieldLines {
    /// The fields of a head; its first line is left out if it is a status line.
    static func fields(in bytes: [UInt8]) -> HTTPFields {
        var fields = HTTPFields()
        forEachLine(bytes) { line in
            guard let colon = line.firstIndex(of: 0x3A) else { return true }
            // A line with white space before its colon is not a field (RFC 9112 section 5.1).
            if let name = HTTPFieldName(text(line[..<colon])) {
                fields.append(name, text(trimmed(line[(colon + 1)...])))
            }
            return true
        }
        return fields
    }

    static func value(of name: StaticString, in bytes: [UInt8]) -> String? {
        var found: String?
        forEachValue(of: name, in: bytes) { value in
            found = text(value)
            return false
        }
        return found
    }

    /// Calls `body` with the value of each field with this name, which must be in lower case, until
    /// `body` returns false.
    static func forEachValue(
        of name: StaticString, in bytes: [UInt8], _ body: (ArraySlice<UInt8>) -> Bool
    ) {
        forEachLine(bytes) { line in
            let length = name.utf8CodeUnitCount
            guard line.count > length, line[line.startIndex + length] == 0x3A else { return true }
            let key = unsafe UnsafeBufferPointer(start: name.utf8Start, count: length)
            let matches = unsafe zip(line, key).allSatisfy { byte, wanted in
                (byte | (((0x41...0x5A).contains(byte)) ? 0x20 : 0)) == wanted
            }
            return matches ? body(trimmed(line[(line.startIndex + length + 1)...])) : true
        }
    }

    /// Calls `body` with each line, without its line feed, until `body` returns false. A line that
    /// begins with white space continues the previous line (RFC 9112 section 5.2).
    private static func forEachLine(_ bytes: [UInt8], _ body: (ArraySlice<UInt8>) -> Bool) {
        var start = 0
        while start < bytes.count {
            var end = lineEnd(in: bytes, from: start)
            guard isContinued(bytes, at: end + 1) else {
                if !body(bytes[start..<end]) { return }
                start = end + 1
                continue
            }
            var line = Array(trimmed(bytes[start..<end]))
            while isContinued(bytes, at: end + 1) {
                start = end + 1
                end = lineEnd(in: bytes, from: start)
                line.append(32)
                line += trimmed(bytes[start..<end])
            }
            if !body(line[...]) { return }
            start = end + 1
        }
    }

    private static func lineEnd(in bytes: [UInt8], from start: Int) -> Int {
        bytes[start...].firstIndex(of: 10) ?? bytes.count
    }

    private static func isContinued(_ bytes: [UInt8], at start: Int) -> Bool {
        start < bytes.count && (bytes[start] == 32 || bytes[start] == 9)
    }

    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 32 || first == 9 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 32 || last == 9 || last == 13 || last == 10 {
            bytes = bytes.dropLast()
        }
        return bytes
    }

    /// The value of a number that consists of decimal digits only. White space around it is
    /// ignored.
    static func decimal(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 || byte == 10 }
        var (start, end) = (0, bytes.count)
        while start < end, unsafe isSpace(bytes[start]) { start += 1 }
        while start < end, unsafe isSpace(bytes[end - 1]) { end -= 1 }
        let digits = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        let span = unsafe Span<UInt8>(_unsafeElements: digits.bindMemory(to: UInt8.self))
        return FieldValues.parseDecimal(span)
    }

    /// The bytes as text: UTF-8, or Latin-1 if they are not valid UTF-8.
    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

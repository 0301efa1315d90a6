internal import HTTPCodecs
internal import HTTPParser

/// The head of a response as it came, read when somebody asks.
///
/// libcurl has found its lines and checked that they can be one head. Nothing here fails: a line
/// that is no field is left out, bare line feeds are line ends, bytes beyond ASCII are kept.
final class ResponseFields: Sendable {
    private let bytes: [UInt8]
    private let known: Locked<HTTPFields?>

    /// The lines of a head, the status line first.
    init(bytes: [UInt8]) {
        self.bytes = bytes
        known = Locked(nil)
    }

    init(_ fields: HTTPFields) {
        bytes = []
        known = Locked(fields)
    }

    var fields: HTTPFields {
        known.withLock { known in
            if let known { return known }
            let fields = FieldLines.fields(in: bytes)
            known = fields
            return fields
        }
    }

    var reasonPhrase: String {
        guard let end = bytes.firstIndex(of: 10) else { return "" }
        let words = bytes[..<end].split(
            separator: 32, maxSplits: 2, omittingEmptySubsequences: false)
        return words.count == 3 ? FieldLines.text(FieldLines.trimmed(words[2])) : ""
    }

    /// The value of the first field with a name in lower case, found without reading the others.
    func value(of name: StaticString) -> String? {
        guard !bytes.isEmpty else {
            return HTTPFieldName("\(name)").flatMap { fields[$0] }
        }
        return FieldLines.value(of: name, in: bytes)
    }

    var contentLength: Int64? {
        guard let text = value(of: "content-length"), !text.isEmpty, text.utf8.count <= 18,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

/// Reads lines of fields leniently.
enum FieldLines {
    /// The fields of a head; its first line is left out if it is a status line.
    static func fields(in bytes: [UInt8]) -> HTTPFields {
        var fields = HTTPFields()
        forEachLine(bytes) { line in
            guard let colon = line.firstIndex(of: 0x3A) else { return true }
            let name = text(trimmed(line[..<colon]))
            if let name = HTTPFieldName(name) {
                fields.append(name, text(trimmed(line[(colon + 1)...])))
            }
            return true
        }
        return fields
    }

    static func value(of name: StaticString, in bytes: [UInt8]) -> String? {
        var found: String?
        forEachLine(bytes) { line in
            let length = name.utf8CodeUnitCount
            guard line.count > length, line[line.startIndex + length] == 0x3A else { return true }
            let key = unsafe UnsafeBufferPointer(start: name.utf8Start, count: length)
            let matches = unsafe zip(line, key).allSatisfy { byte, wanted in
                (byte | (((0x41...0x5A).contains(byte)) ? 0x20 : 0)) == wanted
            }
            if matches { found = text(trimmed(line[(line.startIndex + length + 1)...])) }
            return found == nil
        }
        return found
    }

    private static func forEachLine(_ bytes: [UInt8], _ body: (ArraySlice<UInt8>) -> Bool) {
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: 10) ?? bytes.count
            if !body(bytes[start..<end]) { return }
            start = end + 1
        }
    }

    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 32 || first == 9 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 32 || last == 9 || last == 13 || last == 10 {
            bytes = bytes.dropLast()
        }
        return bytes
    }

    /// UTF-8, or Latin-1 where it is not.
    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

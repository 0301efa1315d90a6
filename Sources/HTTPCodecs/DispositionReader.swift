internal import HTTPParser

/// Reads the parameters of a disposition in the grammar of its place, each name once.
struct DispositionReader: ~Escapable {
    private var reader: FieldValueReader
    private let place: ContentDisposition.Place

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ place: ContentDisposition.Place) {
        reader = FieldValueReader(bytes)
        self.place = place
    }

    /// disposition-type, in lower case.
    mutating func takeType() -> String? {
        reader.takeToken().map { reader.text($0).lowercased() }
    }

    /// All parameters up to the end; nil if one is malformed or occurs twice. Empty parameters are
    /// skipped.
    mutating func takeParameters() -> [FieldParameter]? {
        var parameters: [FieldParameter] = []
        var names: Set<String> = []
        reader.skipWhitespace()
        while !reader.isAtEnd {
            guard reader.take(UInt8(ascii: ";")) else { return nil }
            reader.skipWhitespace()
            guard !reader.isAtEnd, reader.next != UInt8(ascii: ";") else { continue }
            guard let parameter = takeParameter(), names.insert(parameter.name).inserted else {
                return nil
            }
            parameters.append(parameter)
            reader.skipWhitespace()
        }
        return parameters
    }

    private mutating func takeParameter() -> FieldParameter? {
        guard let token = reader.takeToken(), reader.take(UInt8(ascii: "=")),
            let value = takeValue()
        else { return nil }
        let isName = place == .formData
        let parameter = FieldParameter(name: reader.text(token), value: Self.text(value))
        guard isName, parameter.name == "name" || parameter.name == "filename" else {
            return parameter
        }
        return FieldParameter(name: parameter.name, value: Self.text(Self.unescaped(value)))
    }

    private mutating func takeValue() -> [UInt8]? {
        guard reader.next == UInt8(ascii: "\"") else {
            let range = reader.takeWhile(Self.isUnquotedByte)
            return range.isEmpty ? nil : reader.copy(range)
        }
        return place == .field ? reader.takeQuotedString() : takeFormQuotedString()
    }

    /// Whether a byte may occur in a value without quotes. Clients send more than tokens; bytes
    /// that could end the value are excluded.
    private static func isUnquotedByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\\"): false
        default: byte > 0x20 && byte != 0x7F
        }
    }

    /// Takes a quoted string in which a backslash may stand for itself.
    private mutating func takeFormQuotedString() -> [UInt8]? {
        guard reader.take(UInt8(ascii: "\"")) else { return nil }
        var content: [UInt8] = []
        while let byte = reader.next, FieldValues.isQuotableByte(byte) {
            _ = reader.take(byte)
            switch byte {
            case UInt8(ascii: "\""):
                return content
            case UInt8(ascii: "\\"):
                content.append(takeEscaped() ?? byte)
            default:
                content.append(byte)
            }
        }
        return nil
    }

    /// The quote or backslash after a backslash, unless it is the final quote.
    private mutating func takeEscaped() -> UInt8? {
        if reader.take(UInt8(ascii: "\\")) { return UInt8(ascii: "\\") }
        let isLast = reader.position + 1 == reader.bytes.count
        guard !isLast, reader.take(UInt8(ascii: "\"")) else { return nil }
        return UInt8(ascii: "\"")
    }

    /// Decodes the three escapes of the HTML standard, which must be in upper case.
    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "%")) else { return bytes }
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let byte = escape(bytes, at: index)
            output.append(byte ?? bytes[index])
            index += byte == nil ? 1 : 3
        }
        return output
    }

    private static func escape(_ bytes: [UInt8], at index: Int) -> UInt8? {
        guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count else { return nil }
        switch (bytes[index + 1], bytes[index + 2]) {
        case (0x32, 0x32): return UInt8(ascii: "\"")
        case (0x30, 0x44): return 0x0D
        case (0x30, 0x41): return 0x0A
        default: return nil
        }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self) ?? ExtendedValue.latin1(bytes)
    }
}

/// Reads one field value from left to right.
///
/// All field grammars of the toolkit are built from it. Each method takes the element it is named
/// after and advances, or returns `nil` or `false` if that element does not come next. Positions
/// are offsets into the span. RFC 9110, section 5.6.
package struct FieldValueReader: ~Escapable {
    package let bytes: Span<UInt8>
    /// The offset of the next byte, at most `bytes.count`.
    package private(set) var position = 0

    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
    }

    package var isAtEnd: Bool { position == bytes.count }

    /// The next byte, nil at the end.
    package var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Takes the byte if it is the next one.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Takes bytes while they belong to the class, possibly none.
    package mutating func takeWhile(_ belongs: (UInt8) -> Bool) -> Range<Int> {
        let start = position
        while position < bytes.count, belongs(bytes[position]) {
            position += 1
        }
        return start..<position
    }

    /// Takes optional white space (OWS, section 5.6.3).
    package mutating func skipWhitespace() {
        _ = takeWhile { $0 == 0x20 || $0 == 0x09 }
    }

    /// Takes a token (section 5.6.2); nil if the next byte begins none.
    package mutating func takeToken() -> Range<Int>? {
        let range = takeWhile(FieldValues.isTokenByte)
        return range.isEmpty ? nil : range
    }

    /// Takes a quoted string (section 5.6.4) and returns its content without quotes and escapes.
    ///
    /// Nil if the next byte begins none, or the string does not end or contains a forbidden byte.
    package mutating func takeQuotedString() -> [UInt8]? {
        guard take(0x22) else { return nil }
        var content: [UInt8] = []
        while let byte = next, FieldValues.isQuotableByte(byte) {
            position += 1
            switch byte {
            case 0x22:
                return content
            case 0x5C:
                guard let escaped = next, FieldValues.isQuotableByte(escaped) else { return nil }
                position += 1
                content.append(escaped)
            default:
                content.append(byte)
            }
        }
        return nil
    }

    /// Takes a token or the content of a quoted string.
    package mutating func takeTokenOrQuotedString() -> [UInt8]? {
        if next == 0x22 { return takeQuotedString() }
        return takeToken().map { copy($0) }
    }

    /// Takes the white space and commas between list elements (section 5.6.1.2).
    package mutating func skipEmptyElements() {
        _ = takeWhile { $0 == 0x2C || $0 == 0x20 || $0 == 0x09 }
    }

    /// Takes the end of a list element: white space, then a comma or the end.
    package mutating func takeElementEnd() -> Bool {
        skipWhitespace()
        return isAtEnd || take(0x2C)
    }

    /// Takes parameters (section 5.6.6), each after a semicolon, possibly none.
    ///
    /// Stops before anything but a semicolon. Nil if a parameter is malformed; empty parameters are
    /// skipped. Names are returned in lower case.
    package mutating func takeParameters() -> [FieldParameter]? {
        var parameters: [FieldParameter] = []
        while true {
            let start = position
            skipWhitespace()
            guard take(0x3B) else {
                position = start
                return parameters
            }
            skipWhitespace()
            guard let name = takeToken() else { continue }
            guard take(0x3D), let value = takeTokenOrQuotedString() else { return nil }
            parameters.append(
                FieldParameter(name: text(name).lowercased(), value: Self.text(value)))
        }
    }

    /// The bytes of a range that another method returned.
    package func copy(_ range: Range<Int>) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(range.count)
        for index in range {
            content.append(bytes[index])
        }
        return content
    }

    /// The text of a range that another method returned; invalid UTF-8 becomes U+FFFD.
    package func text(_ range: Range<Int>) -> String {
        Self.text(copy(range))
    }

    private static func text(_ content: [UInt8]) -> String {
        String(decoding: content, as: UTF8.self)
    }
}

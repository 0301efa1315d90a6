extension FieldValues {
    /// The elements of a comma-separated list, as offsets into the bytes.
    ///
    /// Commas inside quoted strings do not separate; empty elements are skipped; elements exclude
    /// white space around them. Nil if a quoted string does not end or contains a forbidden byte.
    /// Elements are not checked further. RFC 9110, section 5.6.1.
    public static func list(_ bytes: Span<UInt8>) -> [Range<Int>]? {
        var reader = FieldValueReader(bytes)
        var elements: [Range<Int>] = []
        reader.skipEmptyElements()
        while !reader.isAtEnd {
            guard let element = reader.takeListElement() else { return nil }
            elements.append(element)
            reader.skipEmptyElements()
        }
        return elements
    }

    /// The elements of a comma-separated list.
    ///
    /// Follows the rules of ``list(_:)-(Span<UInt8>)``; quoted strings keep their quotes.
    public static func list(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        return list(bytes.span)?.map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    /// The tokens of a list of nothing but tokens, such as `Connection` or `Allow`.
    ///
    /// Nil if an element is not a token. RFC 9110, section 5.6.1.
    public static func tokens(_ text: String) -> [String]? {
        guard let elements = list(text), elements.allSatisfy({ isToken($0) }) else { return nil }
        return elements
    }

    /// The content of a quoted string, without its quotes and escapes.
    ///
    /// Nil unless the text is exactly one quoted string. RFC 9110, section 5.6.4.
    public static func unquoted(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        var reader = FieldValueReader(bytes.span)
        guard let content = reader.takeQuotedString(), reader.isAtEnd else { return nil }
        return String(decoding: content, as: UTF8.self)
    }

    /// The text as a quoted string, with quotation marks and backslashes escaped.
    ///
    /// Nil if the text contains a control character other than a tab: no field value can carry one.
    /// RFC 9110, section 5.6.4.
    public static func quoted(_ text: String) -> String? {
        var content: [UInt8] = [0x22]
        for byte in text.utf8 {
            guard isQuotableByte(byte) else { return nil }
            if byte == 0x22 || byte == 0x5C { content.append(0x5C) }
            content.append(byte)
        }
        content.append(0x22)
        return String(decoding: content, as: UTF8.self)
    }
}

extension FieldValueReader {
    /// Takes everything up to the next comma outside quotes, without white space before that comma.
    fileprivate mutating func takeListElement() -> Range<Int>? {
        let start = position
        var end = position
        while let byte = next, byte != 0x2C {
            if byte == 0x22 {
                guard takeQuotedString() != nil else { return nil }
                end = position
            } else {
                _ = take(byte)
                if byte != 0x20, byte != 0x09 { end = position }
            }
        }
        return start..<end
    }
}

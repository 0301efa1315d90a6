/// The grammar that field values share: tokens, numbers, quoted strings, lists and weights.
///
/// Input is a field value from the parser; several lines of one field are one value when joined
/// with commas. A malformed value gives nil, never a guess. All work is linear in the length.
///
/// ```swift
/// FieldValues.list(#"a, "b, c", d"#)      // ["a", "\"b, c\"", "d"]
/// FieldValues.quoted(#"say "hi""#)        // "say \"hi\""
/// FieldValues.parseDecimal("+5")          // nil
/// ```
///
/// RFC 9110, section 5.6.
public enum FieldValues {
    /// Whether the text is a token; an empty text is not.
    ///
    /// RFC 9110, section 5.6.2.
    public static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// Whether the bytes are a token; no bytes are not.
    ///
    /// RFC 9110, section 5.6.2.
    public static func isToken(_ bytes: Span<UInt8>) -> Bool {
        var reader = FieldValueReader(bytes)
        return reader.takeToken() != nil && reader.isAtEnd
    }

    /// Parses a number that consists of digits only.
    ///
    /// Nil without digits, with a sign, white space or other digits than ASCII, and above
    /// `Int64.max`. Leading zeros are allowed, as in the grammar `1*DIGIT`.
    public static func parseDecimal(_ bytes: Span<UInt8>) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var number: Int64 = 0
        for index in bytes.indices {
            guard case 0x30...0x39 = bytes[index] else { return nil }
            let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int64(bytes[index] - 0x30))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return number
    }

    /// Parses a number that consists of digits only.
    ///
    /// Parses the UTF-8 of the text like ``parseDecimal(_:)-(Span<UInt8>)``.
    public static func parseDecimal(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        return parseDecimal(bytes.span)
    }

    /// Parses a weight in thousandths, 0 to 1000.
    ///
    /// Accepts only `0` or `1`, then optionally a dot and up to three digits, at most 1 in total.
    /// RFC 9110, section 12.4.2.
    public static func parseWeight(_ bytes: Span<UInt8>) -> Int? {
        guard 1...5 ~= bytes.count, bytes[0] == 0x30 || bytes[0] == 0x31 else { return nil }
        var weight = Int(bytes[0] - 0x30) * 1_000
        var unit = 100
        for index in bytes.indices.dropFirst() {
            if index == 1 {
                guard bytes[1] == 0x2E else { return nil }
                continue
            }
            guard case 0x30...0x39 = bytes[index] else { return nil }
            weight += Int(bytes[index] - 0x30) * unit
            unit /= 10
        }
        return weight <= 1_000 ? weight : nil
    }

    /// Parses a weight in thousandths, 0 to 1000.
    ///
    /// Parses the UTF-8 of the text like ``parseWeight(_:)-(Span<UInt8>)``.
    public static func parseWeight(_ text: String) -> Int? {
        let bytes = Array(text.utf8)
        return parseWeight(bytes.span)
    }
}

// The classes of bytes, each with its rule.
extension FieldValues {
    /// tchar: letters, digits and fifteen signs (section 5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// A byte that a quoted string may contain, bare or after a backslash: HTAB, SP, VCHAR and
    /// obs-text (section 5.6.4). The caller checks for a bare quote or backslash first.
    package static func isQuotableByte(_ byte: UInt8) -> Bool {
        byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
    }
}

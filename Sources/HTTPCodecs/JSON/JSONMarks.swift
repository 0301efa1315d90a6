/// Limits the combining marks in JSON strings.
///
/// A type that compares or hashes strings, such as an enumeration with raw text values, uses their
/// canonical form. That sorts each run of marks in quadratic time.
enum JSONMarks {
    /// The most marks in a row. Texts have few; Unicode's own limit for streams is 30 (UAX #15
    /// section 13).
    static let limit = 128
    /// Strings up to this length in bytes are not checked, because sorting their marks takes little
    /// time.
    static let uncheckedBytes = 1_024

    /// Whether a string of valid JSON has more than `limit` marks in a row, unescaped or as
    /// escapes.
    static func areTooMany(_ text: Span<UInt8>) -> Bool {
        var (index, run) = (0, 0)
        while index < text.count {
            let scalar: UInt32
            if text[index] == UInt8(ascii: "\\") {
                scalar = JSONEscapes.skip(text, &index)
            } else {
                scalar = self.scalar(text, &index)
            }
            run = isMark(scalar) ? run + 1 : 0
            if run > limit { return true }
        }
        return false
    }

    /// The scalar of a well-formed sequence; 0 for scalars below U+0300, which are not marks.
    private static func scalar(_ text: Span<UInt8>, _ index: inout Int) -> UInt32 {
        let first = text[index]
        let length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        defer { index += length }
        guard first >= 0xCC else { return 0 }
        var scalar = UInt32(first) & (0x7F >> UInt32(length))
        for offset in 1..<length { scalar = scalar << 6 | UInt32(text[index + offset] & 0x3F) }
        return scalar
    }

    private static func isMark(_ scalar: UInt32) -> Bool {
        switch scalar {
        // The ranges of most text contain no marks, and need no look-up.
        case ..<0x300, 0x370...0x482, 0x48A...0x590, 0x3100...0xA66E, 0xAC00...0xD7FF: return false
        default:
            let properties = Unicode.Scalar(scalar)?.properties
            return properties.map { $0.canonicalCombiningClass != .notReordered } ?? false
        }
    }
}

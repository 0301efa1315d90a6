internal import HTTPParser

/// One range as a `Range` field writes it, before the length of the content is known.
///
/// RFC 9110, section 14.1.2.
public enum RangeSpec: Hashable, Sendable {
    /// `first-last`, or `first-` with `Int64.max` for `last`; both bytes belong to the range.
    case from(first: Int64, last: Int64)
    /// `-count`: so many bytes at the end.
    case suffix(count: Int64)

    /// The ranges of the field.
    ///
    /// Nil where the field is to be ignored: another unit than bytes, anything malformed, or more
    /// ranges than anyone needs.
    static func ranges(in field: String) -> [RangeSpec]? {
        let bytes = Array(field.utf8)
        var reader = FieldValueReader(bytes.span)
        guard let unit = reader.takeToken(), reader.text(unit).lowercased() == "bytes",
            reader.take(0x3D)
        else { return nil }
        var ranges: [RangeSpec] = []
        reader.skipEmptyElements()
        while !reader.isAtEnd {
            guard ranges.count < RangeDecision.rangeLimit, let range = reader.takeRangeSpec(),
                reader.takeElementEnd()
            else { return nil }
            ranges.append(range)
            reader.skipEmptyElements()
        }
        return ranges.isEmpty ? nil : ranges
    }

    /// Whether the range is satisfiable for content of that length (RFC 9110 section 14.1.2). A
    /// suffix is, even of empty content, for which ``range(length:)`` is nil.
    public func isSatisfiable(length: Int64) -> Bool {
        switch self {
        case .from(let first, _): first < length
        case .suffix(let count): count > 0
        }
    }

    /// The bytes of the range in content of that length; nil if there are none.
    public func range(length: Int64) -> ByteRange? {
        switch self {
        case .from(let first, let last): ByteRange(first: first, last: min(last, length - 1))
        case .suffix(let count): ByteRange(first: length - min(count, length), last: length - 1)
        }
    }
}

extension FieldValueReader {
    fileprivate mutating func takeRangeSpec() -> RangeSpec? {
        if take(0x2D) {
            return takeSaturatingDecimal().map { .suffix(count: $0) }
        }
        guard let first = takeSaturatingDecimal(), take(0x2D) else { return nil }
        guard let byte = next, 0x30...0x39 ~= byte else { return .from(first: first, last: .max) }
        guard let last = takeSaturatingDecimal(), first <= last else { return nil }
        return .from(first: first, last: last)
    }

    /// Takes digits; a number beyond `Int64` is valid here, and beyond the end of any content.
    private mutating func takeSaturatingDecimal() -> Int64? {
        let digits = takeWhile { 0x30...0x39 ~= $0 }
        guard !digits.isEmpty else { return nil }
        return FieldValues.parseDecimal(bytes.extracting(digits)) ?? .max
    }
}

internal import HTTPParser

/// One range of a `Range` field, before the length of the content is known.
///
/// RFC 9110, section 14.1.2.
public enum RangeSpec: Hashable, Sendable {
    /// `first-last`, or `first-` with `Int64.max` for `last`; both bytes are part of the range.
    case from(first: Int64, last: Int64)
    /// `-count`: the last `count` bytes.
    case suffix(count: Int64)

    /// The ranges of the field; `nil` if the field must be ignored, because its unit is not bytes,
    /// it is malformed, or it has more than 200 ranges.
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

    /// Whether the range is satisfiable for content of `length` bytes (RFC 9110 section 14.1.2). A
    /// suffix of at least one byte always is, even if the content is empty and ``range(length:)``
    /// is `nil`.
    public func isSatisfiable(length: Int64) -> Bool {
        switch self {
        case .from(let first, _): first < length
        case .suffix(let count): count > 0
        }
    }

    /// The bytes of the range in content of `length` bytes; `nil` if there are none.
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

    /// Takes digits. A number above `Int64.max` is valid and becomes `Int64.max`, which is after
    /// the end of any content.
    private mutating func takeSaturatingDecimal() -> Int64? {
        let digits = takeWhile { 0x30...0x39 ~= $0 }
        guard !digits.isEmpty else { return nil }
        return FieldValues.parseDecimal(bytes.extracting(digits)) ?? .max
    }
}

/// A part of some content: the bytes from `first` to `last`, both included.
///
/// Never empty, and `0 <= first <= last`. RFC 9110, section 14.1.2.
public struct ByteRange: Hashable, Sendable {
    /// The offset of the first byte.
    public let first: Int64
    /// The offset of the last byte, which belongs to the range.
    public let last: Int64

    /// Creates a range; `nil` unless `0 <= first <= last < Int64.max`.
    public init?(first: Int64, last: Int64) {
        guard 0 <= first, first <= last, last < .max else { return nil }
        self.first = first
        self.last = last
    }

    /// The number of bytes, at least one.
    public var count: Int64 { last - first + 1 }

    /// The value of `Content-Range` for this part of content of `length` bytes, such as
    /// `bytes 0-99/1000`.
    ///
    /// RFC 9110, section 14.4.
    public func contentRange(ofLength length: Int64) -> String {
        "bytes \(first)-\(last)/\(length)"
    }

    /// The value of `Content-Range` in a 416: no range fits content of `length` bytes.
    ///
    /// RFC 9110, section 15.5.17.
    public static func unsatisfiedContentRange(ofLength length: Int64) -> String {
        "bytes */\(length)"
    }

    /// Whether this range overlaps or adjoins a range that begins at the same offset or later.
    fileprivate func touches(_ later: ByteRange) -> Bool {
        later.first <= last + 1
    }

    fileprivate func merged(with other: ByteRange) -> ByteRange? {
        ByteRange(first: min(first, other.first), last: max(last, other.last))
    }
}

/// The ranges of a `Range` field, resolved against the length of the content.
package enum RangeDecision: Hashable, Sendable {
    /// All of the content (200): no field, another unit, a malformed field, or too many parts.
    case whole
    /// One part (206 with `Content-Range`).
    case single(ByteRange)
    /// Two parts or more (206 with `multipart/byteranges`), neither overlapping nor adjacent, in
    /// the order in which they were asked for.
    case several([ByteRange])
    /// No part fits (416).
    case unsatisfiable
}

extension RangeDecision {
    /// The most parts of one response; a request for more gets all of the content.
    package static let partLimit = 16
    /// The most ranges in a field; a field with more is an attack or a mistake.
    package static let rangeLimit = 200

    /// Decides which parts to send of content of `length` bytes.
    ///
    /// The caller has checked that the method is GET and that the preconditions allow a range. A
    /// number above `Int64.max` counts as `Int64.max`, which is after the end of any content.
    /// Ranges that overlap or adjoin are joined, and ranges are cut at the end of the content; the
    /// parts together are therefore never longer than the content. RFC 9110, section 14.2.
    package init(field: String?, length: Int64) {
        guard let field, length >= 0, let ranges = RangeSpec.ranges(in: field) else {
            self = .whole
            return
        }
        self.init(ranges, length: length)
    }

    private init(_ specs: [RangeSpec], length: Int64) {
        let isSatisfiable = specs.contains { $0.isSatisfiable(length: length) }
        guard isSatisfiable else {
            self = .unsatisfiable
            return
        }
        let parts = Self.coalesced(specs.compactMap { $0.range(length: length) })
        // A suffix of empty content is satisfiable, but Content-Range of 206 cannot name it.
        guard let first = parts.first, parts.count <= Self.partLimit else {
            self = .whole
            return
        }
        self = parts.count == 1 ? .single(first) : .several(parts)
    }

    /// Joins ranges that overlap or adjoin. Each part has the position of its first range in the
    /// list.
    private static func coalesced(_ ranges: [ByteRange]) -> [ByteRange] {
        var parts: [(range: ByteRange, rank: Int)] = []
        let ascending = ranges.enumerated().sorted { $0.element.first < $1.element.first }
        for (rank, range) in ascending {
            if let part = parts.last, part.range.touches(range),
                let merged = part.range.merged(with: range)
            {
                parts[parts.count - 1] = (merged, min(part.rank, rank))
            } else {
                parts.append((range, rank))
            }
        }
        return parts.sorted { $0.rank < $1.rank }.map(\.range)
    }
}

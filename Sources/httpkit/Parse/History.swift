import HTTPParser

/// The end of a stream of bytes, addressed by offsets from the stream's first byte.
///
/// By default it keeps at least the last MiB, several times the most that the standard limits allow
/// for a head, trailers and one read of input together.
struct History: ~Copyable {
    private static var slack: Int { 3 << 20 }

    private let kept: Int
    private var buffer = ByteBuffer()
    private var start = 0

    init(keeping kept: Int = 1 << 20) {
        self.kept = kept
    }

    /// The offset after the last byte.
    var end: Int { start + buffer.count }

    mutating func append(_ bytes: Span<UInt8>) {
        let surplus = buffer.count - kept
        if surplus > Self.slack {
            buffer.consume(surplus)
            start += surplus
        }
        buffer.append(bytes)
    }

    /// The bytes between two offsets, as far as they are still kept.
    func bytes(from lower: Int, to upper: Int) -> [UInt8] {
        let upper = min(max(upper, start), end)
        let lower = min(max(lower, start), upper)
        let piece = buffer.bytes.extracting((lower - start)..<(upper - start))
        return unsafe piece.withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// The last `count` lines between two offsets, without their CRLFs; the second offset is at the
    /// end of a line.
    func lines(_ count: Int, from lower: Int, to upper: Int) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        let bytes = buffer.bytes
        let first = max(lower - start, 0)
        var lineEnd = min(upper - start, bytes.count) - 2
        while lines.count < count, lineEnd >= first {
            var lineStart = lineEnd
            while lineStart > first, bytes[lineStart - 1] != UInt8(ascii: "\n") { lineStart -= 1 }
            lines.append((start + lineStart)..<(start + lineEnd))
            lineEnd = lineStart - 2
        }
        return lines.reversed()
    }
}

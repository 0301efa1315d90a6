import HTTPCodecs
import HTTPParser
import Testing

/// The result of decoding some bytes: the content, and the error at its end.
struct DecodedContent: Equatable, CustomStringConvertible {
    var content: [UInt8] = []
    var error: CodecError?

    var description: String {
        let end = error.map(\.description) ?? "its end"
        return "\(content.count) bytes, then \(end)"
    }

    /// Decodes the bytes in pieces that end at the cuts, which ascend.
    /// - Parameter room: how much content is requested at a time; nil for all of it.
    init(
        _ coding: ContentCoding, _ bytes: [UInt8], cuts: [Int] = [],
        limits: ContentDecodingLimits = ContentDecodingLimits(outputBytes: 1 << 24),
        room: Int? = nil
    ) throws {
        var decoder = try ContentDecoder(coding, limits: limits)
        do throws(CodecError) {
            var start = 0
            for cut in cuts + [bytes.count] {
                try Self.decode(bytes.span.extracting(start..<cut), room, &decoder, &content)
                start = cut
            }
            try decoder.finish(into: &content)
        } catch {
            self.error = error
            expectSameErrorAgain(&decoder, error)
        }
        #expect(Int64(content.count) <= limits.outputBytes)
    }

    private static func decode(
        _ bytes: Span<UInt8>, _ room: Int?, _ decoder: inout ContentDecoder,
        _ content: inout [UInt8]
    ) throws(CodecError) {
        guard let room else { return try decoder.decode(bytes, into: &content) }
        var position = 0
        var wantsInput = false
        while !wantsInput {
            let before = content.count
            wantsInput = try decoder.decode(bytes, from: &position, into: &content, upTo: room)
            #expect(content.count - before <= room)
        }
        #expect(position == bytes.count)
    }

    private func expectSameErrorAgain(_ decoder: inout ContentDecoder, _ error: CodecError) {
        var more: [UInt8] = []
        var again: CodecError?
        do throws(CodecError) { try decoder.finish(into: &more) } catch { again = error }
        let isComplete = decoder.isComplete
        #expect(again == error && more.isEmpty && !isComplete)
    }
}

/// Decodes the bytes as a whole, one by one, cut in two at each place (long ones at many), and
/// with little room; expects the same result each time, and returns it.
@discardableResult
func decodeAtEverySplit(
    _ coding: ContentCoding, _ bytes: [UInt8],
    limits: ContentDecodingLimits = ContentDecodingLimits(outputBytes: 1 << 24),
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> DecodedContent {
    let whole = try DecodedContent(coding, bytes, limits: limits)
    func check(_ cuts: [Int], _ room: Int?) throws {
        let split = try DecodedContent(coding, bytes, cuts: cuts, limits: limits, room: room)
        guard split != whole else { return }
        Issue.record(
            "\(split) when cut at \(cuts.prefix(4)) with room for \(room ?? .max), but \(whole)",
            sourceLocation: sourceLocation)
    }
    for room in [nil, 1, 7, 300, 70_000] where (room ?? 300) * 20_000 > whole.content.count {
        try check([], room)
        try check(Array(0...bytes.count), room)
    }
    // Long content is cut at fewer places.
    let places = min(400, max(10, (10 << 20) / (whole.content.count + 1)))
    for place in stride(from: 0, through: bytes.count, by: max(1, bytes.count / places)) {
        try check([place], nil)
    }
    return whole
}

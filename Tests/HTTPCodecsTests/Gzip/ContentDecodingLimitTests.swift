import HTTPCodecs
import HTTPParser
import Testing

@Suite("Decoding: limits on the size of decoded content")
struct ContentDecodingLimitTests {
    static func limits(_ outputBytes: Int64, ratio: Int64 = 2_000) -> ContentDecodingLimits {
        ContentDecodingLimits(outputBytes: outputBytes, ratio: ratio)
    }

    /// An encoded stream of zeros; it is a thousandth as long as the zeros.
    static func zeros(_ count: Int64, coding: ContentCoding = .gzip) throws -> [UInt8] {
        var encoder = try ContentEncoder(coding, level: 9)
        let piece = [UInt8](repeating: 0, count: 1 << 20)
        var bomb: [UInt8] = []
        var left = count
        while left > 0 {
            let length = min(Int(clamping: left), piece.count)
            encoder.encode(piece.span.extracting(..<length), into: &bomb)
            left -= Int64(length)
        }
        encoder.finish(into: &bomb)
        return bomb
    }

    @Test(
        "Content is decoded up to the limit and no further", arguments: ContentCoding.allCases,
        [-1, 0, 1])
    func outputLimit(coding: ContentCoding, excess: Int64) throws {
        let contents = [
            [7], GzipSamples.text(1_000, seed: 1), GzipSamples.random(3_000, seed: 2),
            GzipSamples.runs(70_000, seed: 3),
        ]
        for content in contents {
            let limit = Int64(content.count) - excess
            let bytes = try coding.encode(content.span)
            let decoded = try decodeAtEverySplit(coding, bytes, limits: Self.limits(limit))
            #expect(decoded.error?.kind == (excess > 0 ? .outputTooLong : nil))
            #expect(decoded.content == Array(content.prefix(Int(limit))))
        }
    }

    @Test("With a limit of 0, only empty content is decoded", arguments: ContentCoding.allCases)
    func emptyContent(coding: ContentCoding) throws {
        let nothing = try coding.encode([UInt8]().span)
        #expect(try decodeAtEverySplit(coding, nothing, limits: Self.limits(0)).error == nil)
        let one = try coding.encode([1].span)
        let decoded = try decodeAtEverySplit(coding, one, limits: Self.limits(0))
        #expect(decoded.error?.kind == .outputTooLong && decoded.content.isEmpty)
    }

    @Test("One limit applies to all members together")
    func members() throws {
        let member = try GzipSamples.text(1_000, seed: 4).gzipped()
        let three = member + member + member
        #expect(try decodeAtEverySplit(.gzip, three, limits: Self.limits(3_000)).error == nil)
        let decoded = try decodeAtEverySplit(.gzip, three, limits: Self.limits(2_999))
        #expect(decoded.error?.kind == .outputTooLong && decoded.content.count == 2_999)
    }

    @Test("The limit applies to raw data whose last symbol and end share a byte")
    func lastByte() throws {
        // Runs whose last match and end of block (7 bits, RFC 1951, 3.2.6) end in one byte.
        for count in 1...2_000 {
            let content = [UInt8](repeating: 0x61, count: count)
            let bytes = try DeflateDecoderTests.raw(content, level: 9)
            let exact = try DecodedContent(.deflate, bytes, limits: Self.limits(Int64(count)))
            #expect(exact.error == nil && exact.content == content)
            let limits = Self.limits(Int64(count) - 1)
            let cuts = Array(0...bytes.count)
            let short = try DecodedContent(.deflate, bytes, limits: limits)
            let pieces = try DecodedContent(.deflate, bytes, cuts: cuts, limits: limits)
            #expect(short.error?.kind == .outputTooLong && short == pieces)
        }
    }

    @Test(
        "The ratio applies only to content above the floor",
        arguments: ContentCoding.allCases.filter { $0 != .identity })
    func ratio(coding: ContentCoding) throws {
        var limits = ContentDecodingLimits(outputBytes: 10 << 20)
        #expect(limits.ratio == 100 && limits.ratioFloor == 1 << 20)
        let floor = try Self.zeros(1 << 20, coding: coding)
        let above = try Self.zeros(1 << 20 + 1, coding: coding)
        #expect(try DecodedContent(coding, floor, limits: limits).error == nil)
        let decoded = try decodeAtEverySplit(coding, above, limits: limits)
        #expect(decoded.error?.kind == .ratioTooHigh)
        #expect(decoded.content.count == 1 << 20)
        limits.ratio = 1_100
        #expect(try DecodedContent(coding, above, limits: limits).error == nil)
    }

    @Test("The ratio of all content so far is checked again during decoding")
    func laterRatio() throws {
        // 300 KiB that do not compress allow 30 MiB of content; more exceeds the ratio.
        let content = GzipSamples.random(300 << 10, seed: 1)
        var encoder = try GzipEncoder()
        var bytes: [UInt8] = []
        encoder.encode(content.span, into: &bytes)
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<40 { encoder.encode(zeros.span, into: &bytes) }
        encoder.finish(into: &bytes)
        let limits = ContentDecodingLimits(outputBytes: 1 << 30)
        let decoded = try DecodedContent(.gzip, bytes, limits: limits)
        #expect(decoded.error?.kind == .ratioTooHigh)
        #expect((30 << 20)...(34 << 20) ~= decoded.content.count)
        let cuts = Array(stride(from: 1, through: bytes.count, by: 999))
        #expect(try DecodedContent(.gzip, bytes, cuts: cuts, limits: limits) == decoded)
        let usual = ContentDecodingLimits(outputBytes: 1 << 30, ratio: 130)
        #expect(try DecodedContent(.gzip, bytes, limits: usual).error == nil)
    }

    @Test("With a floor of 0, the ratio applies from the first 64 KiB")
    func floorOfNothing() throws {
        var limits = ContentDecodingLimits(outputBytes: 1 << 20, ratio: 1, ratioFloor: 0)
        let bytes = try Self.zeros(100_000)
        let decoded = try decodeAtEverySplit(.gzip, bytes, limits: limits)
        #expect(decoded.error?.kind == .ratioTooHigh && decoded.content.count == 64 << 10)
        limits.ratio = .max
        #expect(try decodeAtEverySplit(.gzip, bytes, limits: limits).error == nil)
    }

    @Test("Errors of limits suggest 413")
    func status() {
        #expect(CodecError(.outputTooLong).suggestedStatus == .contentTooLarge)
        #expect(CodecError(.ratioTooHigh).suggestedStatus == .contentTooLarge)
    }
}

@Suite("Decoding: bombs")
struct CompressionBombTests {
    @Test("10 MiB that encode 10 GiB are refused at the ratio or at the limit")
    func bomb() throws {
        let bomb = try Self.bomb
        #expect(bomb.count > 10 << 20)
        // Refused by the ratio, after a megabyte.
        let usual = ContentDecodingLimits(outputBytes: 1 << 40)
        var content: [UInt8] = []
        var strict = try ContentDecoder(.gzip, limits: usual)
        let ratio = #expect(throws: CodecError.self) {
            try strict.decode(bomb.span, into: &content)
        }
        #expect(ratio?.kind == .ratioTooHigh && content.count == 1 << 20)
        // Without a ratio, by the limit.
        content = []
        let limits = ContentDecodingLimits(outputBytes: 2 << 20, ratio: 2_000)
        var decoder = try ContentDecoder(.gzip, limits: limits)
        let error = #expect(throws: CodecError.self) {
            try decoder.decode(bomb.span, into: &content)
        }
        #expect(error?.kind == .outputTooLong && content.count == 2 << 20)
        #expect(content.capacity <= 8 << 20)
    }

    @Test("A reader with a small buffer decodes a bomb in pieces, up to the limit")
    func pieces() throws {
        let bomb = try Self.bomb
        let limits = ContentDecodingLimits(outputBytes: 64 << 20, ratio: 2_000)
        var decoder = try ContentDecoder(.gzip, limits: limits)
        var piece: [UInt8] = []
        var (total, capacity, position) = (0, 0, 0)
        var failure: CodecError?
        do throws(CodecError) {
            while try !decoder.decode(bomb.span, from: &position, into: &piece, upTo: 32 << 10) {
                total += piece.count
                capacity = max(capacity, piece.capacity)
                piece.removeAll(keepingCapacity: true)
            }
        } catch {
            failure = error
        }
        #expect(failure?.kind == .outputTooLong)
        #expect(total + piece.count == 64 << 20)
        #expect(capacity <= 128 << 10)
        // Input is read only when the caller requests content.
        #expect(position < bomb.count / 100)
    }

    /// 162 copies of a stream of 64 MiB, so that a test need not compress 10 GiB.
    private static var bomb: [UInt8] {
        get throws {
            let member = try ContentDecodingLimitTests.zeros(64 << 20)
            return (0..<162).flatMap { _ in member }
        }
    }
}

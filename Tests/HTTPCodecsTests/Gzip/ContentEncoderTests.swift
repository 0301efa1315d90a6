import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 1950, 1951, 1952: encoding")
struct ContentEncoderTests {
    static let contents: [[UInt8]] = [
        [], [0x61], Array("hello, hello, hello".utf8), GzipSamples.random(70_000, seed: 1),
        GzipSamples.text(200_000, seed: 2), GzipSamples.runs(400_000, seed: 3),
        GzipSamples.mixed(300_000, seed: 4),
    ]

    @Test("Decoding returns the encoded content", arguments: ContentCoding.allCases, 1...9)
    func roundTrip(coding: ContentCoding, level: Int) throws {
        let limits = ContentDecodingLimits(outputBytes: 400_000)
        for content in Self.contents {
            let encoded = try coding.encode(content.span, level: level)
            #expect(try coding.decode(encoded.span, limits: limits) == content)
        }
    }

    @Test(
        "Content encoded in pieces of any size decodes to the same content",
        arguments: ContentCoding.allCases)
    func pieces(coding: ContentCoding) throws {
        for content in Self.contents {
            let whole = try coding.encode(content.span)
            for size in [1, 1_000, 65_536] where content.count / size < 100_000 {
                var encoder = try ContentEncoder(coding)
                var output: [UInt8] = []
                for start in stride(from: 0, to: content.count, by: size) {
                    let end = min(start + size, content.count)
                    encoder.encode(content.span.extracting(start..<end), into: &output)
                }
                encoder.finish(into: &output)
                let decoded = try DecodedContent(coding, output)
                #expect(decoded.content == content && decoded.error == nil)
                #expect(output.count <= whole.count + whole.count / 50 + 16)
            }
        }
    }

    @Test("After a flush, all content so far can be decoded", arguments: ContentCoding.allCases)
    func flush(coding: ContentCoding) throws {
        var encoder = try ContentEncoder(coding)
        var decoder = try ContentDecoder(coding, limits: ContentDecodingLimits(outputBytes: 1_000))
        var (sent, received): ([UInt8], [UInt8]) = ([], [])
        for line in ["one\n", "two\n", "", "three\n"] {
            sent += Array(line.utf8)
            var piece: [UInt8] = []
            encoder.encode(Array(line.utf8).span, into: &piece)
            encoder.flush(into: &piece)
            try decoder.decode(piece.span, into: &received)
            #expect(received == sent)
        }
        var rest: [UInt8] = []
        encoder.finish(into: &rest)
        try decoder.decode(rest.span, into: &received)
        try decoder.finish(into: &received)
        #expect(received == sent)
    }

    @Test("A flush without new bytes adds nothing but the head")
    func idleFlush() throws {
        var encoder = try GzipEncoder()
        var output: [UInt8] = []
        encoder.flush(into: &output)
        #expect(output.count == 10)
        encoder.encode(Array("a".utf8).span, into: &output)
        encoder.flush(into: &output)
        let count = output.count
        encoder.flush(into: &output)
        #expect(output.count == count)
        encoder.finish(into: &output)
        #expect(try output.gunzipped(outputLimit: 10) == Array("a".utf8))
    }

    @Test("The head of gzip names neither time nor system")
    func gzipHead() throws {
        let heads = try [1, 6, 9].map { try Array([UInt8]().gzipped(level: $0).prefix(10)) }
        #expect(heads.allSatisfy { Array($0[..<8]) == [0x1F, 0x8B, 8, 0, 0, 0, 0, 0] })
        #expect(heads.map { $0[8] } == [4, 0, 2])
        #expect(heads.allSatisfy { $0[9] == 0xFF })
    }

    @Test("The head of zlib is a multiple of 31", arguments: 1...9)
    func zlibHead(level: Int) throws {
        let head = try ContentCoding.deflate.encode([UInt8]().span, level: level).prefix(2)
        #expect(head.first == 0x78)
        let number = head.reduce(0) { (sum: Int, byte: UInt8) in sum << 8 | Int(byte) }
        #expect(number % 31 == 0)
    }

    @Test("An encoder that was reset works like a new one", arguments: ContentCoding.allCases)
    func reset(coding: ContentCoding) throws {
        var encoder = try ContentEncoder(coding, level: 9)
        for content in Self.contents + Self.contents {
            var output: [UInt8] = []
            encoder.finish(content.span, into: &output)
            #expect(try output == coding.encode(content.span, level: 9))
            encoder.reset()
        }
        var output: [UInt8] = []
        encoder.encode(Array("left behind".utf8).span, into: &output)
        encoder.reset()
        output = []
        encoder.finish(into: &output)
        #expect(try output == coding.encode([UInt8]().span, level: 9))
    }

    @Test("Encoders and decoders append to existing output")
    func appending() throws {
        var output = Array("head".utf8)
        var encoder = try GzipEncoder(level: 1)
        encoder.encode(Array("x".utf8).span, into: &output)
        encoder.finish(into: &output)
        #expect(output.starts(with: Array("head".utf8)))
        var plain = Array("head".utf8)
        var decoder = try GzipDecoder(outputLimit: 1)
        try decoder.decode(output.span.extracting(4...), into: &plain)
        try decoder.finish(into: &plain)
        #expect(plain == Array("headx".utf8))
    }
}

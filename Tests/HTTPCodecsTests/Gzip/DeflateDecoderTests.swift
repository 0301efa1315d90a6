import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 9110, 8.4.1.2: deflate as zlib and as raw data")
struct DeflateDecoderTests {
    static let content = Array("hello, hello, hello\n".utf8)

    static func zlib(_ content: [UInt8], level: Int = 6) throws -> [UInt8] {
        try ContentCoding.deflate.encode(content.span, level: level)
    }

    /// The zlib data without head and trailer.
    static func raw(_ content: [UInt8], level: Int = 6) throws -> [UInt8] {
        Array(try zlib(content, level: level).dropFirst(2).dropLast(4))
    }

    @Test("Both formats are read, at every split", arguments: 1...9)
    func formats(level: Int) async throws {
        let contents = [
            [], Self.content, GzipSamples.text(5_000, seed: 1), GzipSamples.random(700, seed: 2),
            GzipSamples.runs(100_000, seed: 3),
        ]
        for content in contents {
            let zlib = try decodeAtEverySplit(.deflate, Self.zlib(content, level: level))
            #expect(zlib.error == nil && zlib.content == content)
            let raw = try decodeAtEverySplit(.deflate, Self.raw(content, level: level))
            #expect(raw.error == nil && raw.content == content)
            // Gives other tests time to handle responses.
            await Task.yield()
        }
    }

    @Test("Raw data of each block type is distinguished from zlib (RFC 1951, 3.2.3)")
    func rawBlocks() throws {
        // Stored blocks, final and not; the second one's length is like the second byte of zlib.
        let stored: [UInt8] = [0x01, 2, 0, 0xFD, 0xFF, 0x68, 0x69]
        #expect(try decodeAtEverySplit(.deflate, stored).content == Array("hi".utf8))
        let open: [UInt8] =
            [0x00, 0x9C, 0, 0x63, 0xFF] + [UInt8](repeating: 1, count: 0x9C) + [0x03, 0]
        #expect(try decodeAtEverySplit(.deflate, open).content.count == 0x9C)
        #expect(
            try decodeAtEverySplit(.deflate, [0x03, 0]) == DecodedContent(.deflate, stored: []))
        // Padding that is not zero: read as raw data as long as it is no head of zlib.
        let padded: [UInt8] = [0x78, 2, 0, 0xFD, 0xFF, 0x68, 0x69, 0x03, 0]
        let decoded = try decodeAtEverySplit(.deflate, padded)
        #expect(decoded.error == nil && decoded.content == Array("hi".utf8))
    }

    @Test("Every valid head of zlib is recognised", arguments: 0...7)
    func windows(size: UInt8) throws {
        let raw = try Self.raw(Self.content)
        let check = try Self.zlib(Self.content).suffix(4)
        for level in UInt8(0)...3 {
            let first = size << 4 | 8
            let second = level << 6
            let rest = UInt8((Int(first) << 8 | Int(second)) % 31)
            let head = [first, second + (31 - rest) % 31]
            let decoded = try decodeAtEverySplit(.deflate, head + raw + check)
            #expect(decoded.error == nil && decoded.content == Self.content)
        }
    }

    @Test("RFC 1950, 2.2: a dictionary is refused")
    func dictionary() throws {
        let error = try decodeAtEverySplit(.deflate, [0x78, 0xBB, 1, 2, 3, 4, 0x03, 0]).error
        #expect(error == CodecError(.dictionaryNeeded, at: 1))
    }

    @Test("RFC 1950, 2.2: the check value is compared", arguments: 0..<4)
    func check(place: Int) throws {
        var bytes = try Self.zlib(Self.content)
        bytes[bytes.count - 4 + place] ^= 1
        let decoded = try decodeAtEverySplit(.deflate, bytes)
        #expect(decoded.error == CodecError(.checksumMismatch, at: Int64(bytes.count - 4)))
    }

    @Test("Bytes after the end are refused in both formats")
    func trailingGarbage() throws {
        for bytes in [try Self.zlib(Self.content), try Self.raw(Self.content)] {
            for garbage in [[0], bytes] {
                let decoded = try decodeAtEverySplit(.deflate, bytes + garbage)
                #expect(decoded.error == CodecError(.trailingGarbage, at: Int64(bytes.count)))
                #expect(decoded.content == Self.content)
            }
        }
    }

    @Test("Input cut at any place is reported as truncated")
    func truncation() throws {
        for bytes in [try Self.zlib(Self.content), try Self.raw(Self.content)] {
            for count in 0..<bytes.count {
                let decoded = try decodeAtEverySplit(.deflate, Array(bytes.prefix(count)))
                #expect(decoded.error == CodecError(.truncated, at: Int64(count)))
            }
        }
    }

    @Test("Data in gzip is refused as deflate")
    func gzip() throws {
        let decoded = try decodeAtEverySplit(.deflate, Self.content.gzipped())
        #expect(decoded.error?.kind == .invalidCompressedData)
    }
}

extension DecodedContent {
    fileprivate init(_ coding: ContentCoding, stored content: [UInt8]) throws {
        try self.init(coding, DeflateDecoderTests.raw(content))
    }
}

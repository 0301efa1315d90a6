import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 1952: Valid and invalid members of gzip")
struct GzipDecoderTests {
    static let content = Array("hello, hello, hello\n".utf8)

    /// A member whose head has these flags, and these bytes after its fixed part.
    static func member(flags: UInt8 = 0, fields: [UInt8] = []) throws -> [UInt8] {
        let plain = try content.gzipped()
        return [0x1F, 0x8B, 8, flags, 1, 2, 3, 4, 0, 3] + fields + plain[10...]
    }

    @Test("The example of the documentation works")
    func documented() throws {
        let compressed = try Self.content.gzipped()
        var plain: [UInt8] = []
        var decoder = try GzipDecoder(outputLimit: 10 << 20)
        try decoder.decode(compressed.span, into: &plain)
        try decoder.finish(into: &plain)
        #expect(plain == Self.content)
        let isComplete = decoder.isComplete
        #expect(isComplete)
    }

    @Test(
        "2.3: optional fields are skipped",
        arguments: [
            (0x00, []),
            (0x01, []),
            (0x04, [0, 0]),
            (0x04, [3, 0, 1, 2, 3]),
            (0x08, Array("name\0".utf8)),
            (0x08, [0]),
            (0x10, Array("comment\0".utf8)),
            (0x1C, [2, 0, 0, 0] + Array("name\0comment\0".utf8)),
            // The check values are those of Python's zlib.crc32.
            (0x02, [0x50, 0xF0]),
            (0x1F, [2, 0, 7, 7] + Array("n\0c\0".utf8) + [0x59, 0xB1]),
        ] as [(UInt8, [UInt8])])
    func heads(flags: UInt8, fields: [UInt8]) throws {
        let decoded = try decodeAtEverySplit(
            .gzip, Self.member(flags: flags, fields: fields))
        #expect(decoded.error == nil)
        #expect(decoded.content == Self.content)
    }

    @Test(
        "2.3.1: An invalid head is refused at its first invalid byte",
        arguments: [
            ([0x1E], .invalidCompressedData, 0), ([0x1F, 0x8C], .invalidCompressedData, 1),
            ([0x1F, 0x8B, 7], .invalidCompressedData, 2),
            ([0x1F, 0x8B, 8, 0x20], .invalidCompressedData, 3),
            ([0x1F, 0x8B, 8, 0x80], .invalidCompressedData, 3),
            ([0x1F, 0x8B, 8, 2, 1, 2, 3, 4, 0, 3, 0x50, 0xF1], .checksumMismatch, 11),
            ([], .truncated, 0), ([0x1F], .truncated, 1),
            ([0x78, 0x9C], .invalidCompressedData, 0),
        ] as [([UInt8], CodecError.Kind, Int64)])
    func badHeads(bytes: [UInt8], kind: CodecError.Kind, offset: Int64) throws {
        let decoded = try decodeAtEverySplit(.gzip, bytes)
        #expect(decoded.error?.kind == kind)
        #expect(decoded.error?.offset == offset)
    }

    @Test("A head is read up to its limit", arguments: [-1, 0, 1])
    func headLimit(excess: Int) throws {
        let name = [UInt8](repeating: 0x61, count: 40 - 11) + [0]
        let bytes = try Self.member(flags: 0x08, fields: name)
        var limits = ContentDecodingLimits(outputBytes: 100)
        limits.memberHeadBytes = 40 - excess
        let decoded = try decodeAtEverySplit(.gzip, bytes, limits: limits)
        #expect((decoded.error == nil) == (excess <= 0))
        if excess > 0 { #expect(decoded.error?.detail == "gzip head too long") }
    }

    @Test("A head without an end is refused after 16 KiB")
    func endlessHead() throws {
        let head: [UInt8] = [0x1F, 0x8B, 8, 0x10, 0, 0, 0, 0, 0, 3]
        let bytes = head + [UInt8](repeating: 0x61, count: 20_000)
        let error = try DecodedContent(.gzip, bytes).error
        #expect(error?.kind == .invalidCompressedData)
        #expect(error?.offset == 16 << 10)
    }

    @Test("2.2: members follow each other")
    func members() throws {
        let empty = try [UInt8]().gzipped()
        let text = GzipSamples.text(3_000, seed: 9)
        let bytes = try empty + Self.content.gzipped() + empty + text.gzipped(level: 1)
        let decoded = try decodeAtEverySplit(.gzip, bytes)
        #expect(decoded.error == nil)
        #expect(decoded.content == Self.content + text)
    }

    @Test(
        "Bytes after the last member are refused",
        arguments: [[0], [0, 0, 0, 0], [0x1F, 0x8C], [0x1F, 0x1F], [0x8B], Array("x".utf8)])
    func trailingGarbage(garbage: [UInt8]) throws {
        let member = try Self.content.gzipped()
        let decoded = try decodeAtEverySplit(.gzip, member + garbage)
        #expect(decoded.error?.kind == .trailingGarbage)
        #expect(decoded.error?.offset == Int64(member.count))
        #expect(decoded.content == Self.content)
    }

    @Test("Errors in a second member are reported as in the first")
    func secondMember() throws {
        let member = try Self.content.gzipped()
        let start = Int64(member.count)
        let method = try decodeAtEverySplit(.gzip, member + [0x1F, 0x8B, 9]).error
        #expect(method?.kind == .invalidCompressedData && method?.offset == start + 2)
        let cut = try decodeAtEverySplit(.gzip, member + member.dropLast()).error
        #expect(cut?.kind == .truncated && cut?.offset == 2 * start - 1)
        let broken = try decodeAtEverySplit(.gzip, member + member.dropLast() + [9]).error
        #expect(broken?.kind == .checksumMismatch && broken?.offset == 2 * start - 4)
    }

    @Test("Input cut at any place is reported as truncated")
    func truncation() throws {
        let text = GzipSamples.text(500, seed: 3)
        let bytes = try text.gzipped()
        for count in 0..<bytes.count {
            let decoded = try DecodedContent(.gzip, Array(bytes.prefix(count)))
            #expect(decoded.error == CodecError(.truncated, at: Int64(count)))
            #expect(text.starts(with: decoded.content))
        }
    }

    @Test("2.3.1: check value and length are compared", arguments: 0..<8)
    func checks(place: Int) throws {
        var bytes = try Self.content.gzipped()
        bytes[bytes.count - 8 + place] ^= 0x40
        let decoded = try decodeAtEverySplit(.gzip, bytes)
        #expect(decoded.error?.kind == .checksumMismatch)
        #expect(decoded.error?.offset == Int64(bytes.count - (place < 4 ? 8 : 4)))
        #expect(decoded.content == Self.content)
    }

    @Test("A flipped bit never leads to different content")
    func flippedBits() throws {
        let content = GzipSamples.text(300, seed: 5)
        let good = try content.gzipped()
        // Time, effort and system have no meaning here.
        for place in good.indices where !(4..<10).contains(place) {
            for bit in 0..<8 {
                var bytes = good
                bytes[place] ^= 1 << bit
                let decoded = try DecodedContent(.gzip, bytes)
                // A few bits have no meaning: the flag for text, lengths of unused codes.
                let isRight = decoded.error != nil || decoded.content == content
                #expect(isRight, "byte \(place), bit \(bit)")
            }
        }
    }

    @Test("Broken data has the same result at every split", arguments: 0..<24)
    func brokenData(seed: Int) throws {
        var numbers = GzipSamples.Numbers(state: UInt64(seed))
        var bytes = try GzipSamples.mixed(20_000, seed: UInt64(seed)).gzipped()
        for _ in 0...(seed % 3) {
            bytes[Int.random(in: 10..<bytes.count, using: &numbers)] = .random(
                in: 0...255, using: &numbers)
        }
        try decodeAtEverySplit(.gzip, bytes)
    }

    @Test("The error for invalid DEFLATE data has its kind and offset")
    func invalidData() throws {
        // A block of the reserved type (RFC 1951, 3.2.3).
        let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        let error = try decodeAtEverySplit(.gzip, head + [0x07, 0, 0]).error
        #expect(error == CodecError(.invalidCompressedData, at: 10, "invalid block type"))
        // A stored block whose lengths differ (3.2.4).
        let stored = try decodeAtEverySplit(.gzip, head + [0x01, 1, 0, 0xFE, 0xFE, 0]).error
        #expect(stored?.kind == .invalidCompressedData && stored?.offset == 14)
    }
}

import Foundation
import HTTPCodecs
import HTTPParser
import TestSupport
import Testing

@Suite("RFC 1950, 1951, 1952: gzip and Python agree, in both directions")
struct GzipOracleTests {
    static let count = 200
    static let limits = ContentDecodingLimits(outputBytes: 4 << 20, ratio: 2_000)

    static func read(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Writes 200 files to a folder, and returns their contents.
    static func makeSamples(in folder: ServerDirectory) throws -> [[UInt8]] {
        let samples = try GzipSamples.all
        for (number, sample) in samples.enumerated() {
            try folder.write("\(number)", sample)
        }
        return samples
    }

    @Test("Files that gzip packs are decoded")
    func gzipPacks() async throws {
        let folder = try ServerDirectory()
        let samples = try Self.makeSamples(in: folder)
        let names = (0..<Self.count).map { "\($0)" }
        for (level, part) in [("-1", 0), ("-6", 1), ("-9", 2)] {
            let names = names.enumerated().filter { $0.offset % 3 == part }.map(\.element)
            let result = try await Program.run("gzip", ["-k", level] + names, folder: folder.path)
            #expect(result.status == 0, "\(result.complaints)")
        }
        for (number, sample) in samples.enumerated() {
            let packed = try Self.read(folder.path("\(number).gz"))
            let content = try ContentCoding.gzip.decode(packed.span, limits: Self.limits)
            #expect(content == sample, "sample \(number)")
        }
    }

    @Test("The program gzip reads encoded content")
    func gzipUnpacks() async throws {
        let folder = try ServerDirectory()
        let pool = ContentCodingPool()
        let samples = try GzipSamples.all
        for (number, sample) in samples.enumerated() {
            let level = 1 + number % 9
            let packed = try ContentCoding.gzip.encode(sample.span, level: level, pool: pool)
            try folder.write("\(number).gz", packed)
        }
        let names = (0..<Self.count).map { "\($0).gz" }
        let result = try await Program.run("gzip", ["-d"] + names, folder: folder.path)
        #expect(result.status == 0, "\(result.complaints)")
        for (number, sample) in samples.enumerated() {
            #expect(try Self.read(folder.path("\(number)")) == sample, "sample \(number)")
        }
    }

    /// Packs every file as gzip (one member and two, with a name and with a check value of the
    /// head), zlib and raw data, at all levels and strategies.
    private static let packing = """
        import gzip, struct, sys, zlib
        for number in range(int(sys.argv[1])):
            data = open(str(number), 'rb').read()
            level, strategy = number % 10, number % 5
            half = len(data) // 2
            def pack(bits):
                packer = zlib.compressobj(level, zlib.DEFLATED, bits, 1 + number % 9, strategy)
                packed = packer.compress(data[:half])
                return packed + packer.flush(zlib.Z_FULL_FLUSH) + packer.compress(data[half:]) \
                    + packer.flush()
            raw = pack(-15)
            head = b'\\x1f\\x8b\\x08\\x0a\\1\\2\\3\\4\\0\\3name\\0'
            trailer = struct.pack('<LL', zlib.crc32(data), len(data))
            checked = head + struct.pack('<H', zlib.crc32(head) & 0xffff) + raw + trailer
            for name, packed in (
                ('gzip', pack(31)), ('zlib', pack(9 + number % 7)), ('raw', raw),
                ('members', gzip.compress(data[:half], level) + gzip.compress(data[half:], 9)),
                ('checked', checked)):
                open('%d.%s' % (number, name), 'wb').write(packed)
        """

    @Test("Files that Python packs are decoded")
    func pythonPacks() async throws {
        let folder = try ServerDirectory()
        let samples = try Self.makeSamples(in: folder)
        let result = try await Program.run(
            "python3", ["-c", Self.packing, "\(Self.count)"], folder: folder.path)
        #expect(result.status == 0, "\(result.complaints)")
        let kinds: [(String, ContentCoding)] = [
            ("gzip", .gzip), ("zlib", .deflate), ("raw", .deflate), ("members", .gzip),
            ("checked", .gzip),
        ]
        for (number, sample) in samples.enumerated() {
            for (kind, coding) in kinds {
                let packed = try Self.read(folder.path("\(number).\(kind)"))
                let cut = packed.count / 3
                let decoded = try DecodedContent(coding, packed, cuts: [cut], limits: Self.limits)
                #expect(decoded.error == nil, "sample \(number), \(kind)")
                #expect(decoded.content == sample, "sample \(number), \(kind)")
            }
        }
    }

    private static let unpacking = """
        import gzip, sys, zlib
        for number in range(int(sys.argv[1])):
            data = open(str(number), 'rb').read()
            for name, unpack in (('gzip', gzip.decompress), ('deflate', zlib.decompress)):
                if unpack(open('%d.%s' % (number, name), 'rb').read()) != data:
                    sys.exit('%s of sample %d' % (name, number))
        print('equal')
        """

    @Test("Python reads encoded content with flushes in it")
    func pythonUnpacks() async throws {
        let folder = try ServerDirectory()
        for (number, sample) in try Self.makeSamples(in: folder).enumerated() {
            for coding in [ContentCoding.gzip, .deflate] {
                let packed = try Self.pack(sample, coding, level: 1 + number % 9)
                try folder.write("\(number).\(coding.rawValue)", packed)
            }
        }
        let result = try await Program.run(
            "python3", ["-c", Self.unpacking, "\(Self.count)"], folder: folder.path)
        #expect(result.text == "equal\n", "\(result.complaints)")
    }

    private static func pack(
        _ content: [UInt8], _ coding: ContentCoding, level: Int
    ) throws -> [UInt8] {
        var encoder = try ContentEncoder(coding, level: level)
        var packed: [UInt8] = []
        for start in stride(from: 0, to: content.count, by: 50_000) {
            let end = min(start + 50_000, content.count)
            encoder.encode(content.span.extracting(start..<end), into: &packed)
            if start % 150_000 == 0 { encoder.flush(into: &packed) }
        }
        encoder.finish(into: &packed)
        return packed
    }
}

import HTTPCodecs
import HTTPParser
import Testing

@Suite("Reuse of encoders and decoders")
struct ContentCodingPoolTests {
    static let limits = ContentDecodingLimits(outputBytes: 1 << 20)

    /// Encodes and decodes with the pool; returns whether both results are right.
    static func roundTrip(
        _ coding: ContentCoding, _ content: [UInt8], level: Int = 6, _ pool: ContentCodingPool
    ) throws -> Bool {
        let encoded = try coding.encode(content.span, level: level, pool: pool)
        guard try encoded == coding.encode(content.span, level: level) else { return false }
        return try coding.decode(encoded.span, limits: limits, pool: pool) == content
    }

    @Test("Reused streams work like new ones, at each level and coding")
    func reuse() throws {
        let pool = ContentCodingPool()
        #expect(pool.idleCount == 0)
        for level in [6, 1, 9, 1, 4, 2, 8] {
            for coding in ContentCoding.allCases {
                for content in ContentEncoderTests.contents {
                    #expect(try Self.roundTrip(coding, content, level: level, pool))
                }
            }
        }
        #expect(pool.idleCount == 2)
    }

    @Test("Unfinished and failed streams do not affect later use of the pool")
    func leftovers() throws {
        let pool = ContentCodingPool(idleLimit: 1)
        let content = GzipSamples.text(50_000, seed: 7)
        let good = try content.gzipped()
        for kept in [1, 11, 200, good.count - 3] {
            var output: [UInt8] = []
            var encoder = try GzipEncoder(level: 1, pool: pool)
            encoder.encode(content.span, into: &output)
            _ = consume encoder
            var decoder = try GzipDecoder(limits: Self.limits, pool: pool)
            try decoder.decode(good.span.extracting(..<kept), into: &output)
            _ = consume decoder
            var broken = good
            broken[kept - 1] ^= 0xFF
            #expect(throws: CodecError.self) {
                try ContentCoding.gzip.decode(broken.span, limits: Self.limits, pool: pool)
            }
            #expect(pool.idleCount == 2)
            #expect(try Self.roundTrip(.deflate, content, pool))
        }
    }

    @Test("The pool keeps at most the limit of idle streams", arguments: [0, 1, 3])
    func idleLimit(limit: Int) throws {
        let pool = ContentCodingPool(idleLimit: limit)
        func use(_ depth: Int) throws {
            let encoder = try GzipEncoder(pool: pool)
            let decoder = try GzipDecoder(limits: Self.limits, pool: pool)
            let isComplete = decoder.isComplete
            #expect(!isComplete)
            if depth > 1 { try use(depth - 1) }
            _ = consume encoder
        }
        try use(4)
        #expect(pool.idleCount == 2 * limit)
        try use(4)
        #expect(pool.idleCount == 2 * limit)
    }

    @Test("Identity needs no stream")
    func identity() throws {
        let pool = ContentCodingPool()
        #expect(try Self.roundTrip(.identity, [1, 2, 3], pool))
        #expect(pool.idleCount == 0)
    }

    @Test("Several tasks share a pool")
    func sharing() async throws {
        let pool = ContentCodingPool(idleLimit: 2)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for seed in UInt64(0)..<8 {
                group.addTask {
                    let content = GzipSamples.mixed(20_000, seed: seed)
                    return try (0..<30).allSatisfy { _ in
                        try Self.roundTrip(seed % 2 == 0 ? .gzip : .deflate, content, pool)
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(2...4 ~= pool.idleCount)
    }
}

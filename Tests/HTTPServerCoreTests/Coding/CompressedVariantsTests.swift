import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Cache of compressed variants")
struct CompressedVariantsTests {
    private static func find(
        _ variants: CompressedVariants, _ content: [UInt8]
    ) -> CompressedVariants.Found {
        unsafe content.withUnsafeBytes { unsafe variants.find($0) }
    }

    private static func keep(
        _ variants: CompressedVariants, _ content: [UInt8], _ variant: [UInt8]
    ) {
        guard case .missing(let hash) = find(variants, content) else { return }
        variants.keep(variant, of: content, hash: hash)
    }

    @Test("Content is found by its buffer and by its bytes")
    func found() {
        let variants = CompressedVariants(byteLimit: 1 << 20, entryLimit: 1 << 19)
        let content = Array(Coded.text(3_000).utf8)
        Self.keep(variants, content, [1, 2])
        #expect(Self.find(variants, content) == .variant([1, 2]))
        #expect(Self.find(variants, Array(content[...])) == .variant([1, 2]))
        for index in [0, 1, 63, 64, 1_500, 2_998, 2_999] {
            var other = content
            other[index] ^= 1
            #expect(Self.find(variants, other) != .variant([1, 2]))
        }
        #expect(Self.find(variants, Array(content.dropLast())) != .variant([1, 2]))
    }

    @Test("Content that was changed in place is not found")
    func changed() {
        let variants = CompressedVariants(byteLimit: 1 << 20, entryLimit: 1 << 19)
        var content = Array(Coded.text(3_000).utf8)
        Self.keep(variants, content, [1])
        content[7] ^= 1
        #expect(Self.find(variants, content) != .variant([1]))
    }

    @Test("A hash is seen from the second time on")
    func seen() {
        let variants = CompressedVariants(byteLimit: 1 << 20, entryLimit: 1 << 19)
        #expect(variants.hasSeen(hash: 5) == false)
        #expect(variants.hasSeen(hash: 5))
        #expect(variants.hasSeen(hash: 6) == false)
    }

    @Test("The bytes stay within the limit, and recently used entries stay longest")
    func bounded() {
        let variants = CompressedVariants(byteLimit: 100_000, entryLimit: 50_000)
        let contents = (0..<200).map { Array(Coded.text(2_000, seed: UInt64($0)).utf8) }
        for content in contents {
            Self.keep(variants, content, [9])
            #expect(Self.find(variants, content) == .variant([9]))
            // The first is used all the time.
            #expect(Self.find(variants, contents[0]) == .variant([9]))
            #expect(variants.bytes <= 100_000)
        }
        #expect(Self.find(variants, contents[1]) != .variant([9]))
        #expect(variants.bytes > 40_000)
    }

    @Test("Content and variants above the limit of an entry are not kept")
    func tooLong() {
        let variants = CompressedVariants(byteLimit: 100_000, entryLimit: 10_000)
        let content = Array(Coded.text(9_000).utf8)
        #expect(variants.mayKeep(9_000) && !variants.mayKeep(10_000))
        Self.keep(variants, content, [UInt8](repeating: 1, count: 2_000))
        #expect(variants.bytes == 0)
        let none = CompressedVariants(byteLimit: 0, entryLimit: 10_000)
        #expect(!none.mayKeep(0))
    }

    @Test("Responses are cached when the same content comes a second time")
    func answers() async throws {
        let text = Coded.text(20_000)
        let handler = CompressionHandler(
            SyncHandler { _ in
                // A new buffer each time.
                Response(.ok, body: .bytes(Array(text.utf8), mediaType: "application/json"))
            })
        var kept: [Bool] = []
        for _ in 0..<3 {
            #expect(try await Coded.get(handler).plain == Array(text.utf8))
            kept.append(handler.keptBytes > 0)
        }
        #expect(kept == [false, true, true])
    }

    @Test("For every length, the hash depends on each byte of the content")
    func hashes() {
        var seen: Set<UInt64> = []
        for count in 0...200 {
            var content = [UInt8](repeating: 0, count: count)
            seen.insert(unsafe content.withUnsafeBytes { unsafe ContentHash.hash($0) })
            for index in 0..<count {
                content[index] = 1
                seen.insert(unsafe content.withUnsafeBytes { unsafe ContentHash.hash($0) })
                content[index] = 0
            }
        }
        #expect(seen.count == 201 + 200 * 201 / 2)
    }
}

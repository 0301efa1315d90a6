import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Stored responses without free descriptors or memory", .timeLimit(.minutes(3)))
struct FullCacheTests {
    private static func head(_ path: String) -> CachedHead {
        let now = HTTPDate(secondsSinceEpoch: 784_111_777)
        return CachedHead(
            url: "http://h.example\(path)", status: .ok, fields: [:], requestTime: now,
            responseTime: now, vary: [], variant: CacheRules.variant(of: [:], names: []))
    }

    private static func content(_ cache: ClientCache, _ path: String) async -> String? {
        await cache.find("http://h.example\(path)", [:]).map {
            String(decoding: $0.content, as: UTF8.self)
        }
    }

    private static func withoutDescriptors() async throws {
        let folder = TemporaryPath()
        let cache = try ClientCache(memoryLimit: 0, folder: folder.text)
        cache.keep(head("/a"), Array("one".utf8))
        cache.keep(head("/b"), Array("two".utf8))
        await cache.flush()
        var taken: [CInt] = []
        while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
        #expect(await content(cache, "/a") == nil)
        cache.keep(head("/b"), Array("three".utf8))
        await cache.flush()
        #expect(throws: ClientError.self) { try ClientCache(memoryLimit: 0, folder: folder.text) }
        for descriptor in taken { close(descriptor) }
        #expect(await content(cache, "/a") == "one")
        let later = try ClientCache(memoryLimit: 0, folder: folder.text)
        #expect(await content(later, "/a") == "one")
        #expect(await content(later, "/b") == nil)
    }

    @Test("Without free descriptors, responses stay, but one that cannot be replaced is removed")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            try await FullCacheTests.withoutDescriptors()
        }
    }

    @Test("A new response that is too long for memory removes the old one from memory")
    func tooLong() async {
        let cache = ClientCache(memoryLimit: 4_096)
        cache.keep(Self.head("/a"), Array("one".utf8))
        #expect(await Self.content(cache, "/a") == "one")
        cache.keep(Self.head("/a"), [UInt8](repeating: 0, count: 3_000))
        #expect(await Self.content(cache, "/a") != "one")
    }
}

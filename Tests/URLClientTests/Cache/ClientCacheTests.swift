import Dispatch
import HTTPCodecs
import HTTPParser
import Testing
import URLClient

@Suite("Stored responses")
struct ClientCacheTests {
    private static let now = HTTPDate(secondsSinceEpoch: 784_111_777)

    private func head(
        _ path: String, vary: [String] = [], request: HTTPFields = [:], fields: HTTPFields = [:]
    ) -> CachedHead {
        CachedHead(
            url: "http://h.example\(path)", status: .ok, fields: fields, requestTime: Self.now,
            responseTime: Self.now, vary: vary,
            variant: CacheRules.variant(of: request, names: vary))
    }

    private func content(_ cache: ClientCache, _ path: String, _ request: HTTPFields = [:]) async
        -> String?
    {
        await cache.find("http://h.example\(path)", request).map {
            String(decoding: $0.content, as: UTF8.self)
        }
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("Responses are stored, found, replaced and removed", arguments: [false, true])
    func storing(_ isOnDisk: Bool) async throws {
        let folder = TemporaryPath()
        let cache =
            isOnDisk ? try ClientCache(memoryLimit: 0, folder: folder.text) : ClientCache()
        cache.keep(head("/a"), bytes("one"))
        cache.keep(head("/b"), bytes("two"))
        #expect(await content(cache, "/a") == "one")
        #expect(await content(cache, "/b") == "two")
        #expect(await content(cache, "/c") == nil)
        cache.keep(head("/a"), bytes("three"))
        #expect(await content(cache, "/a") == "three")
        cache.remove("http://h.example/a#x")
        #expect(await content(cache, "/a") == nil)
        cache.removeAll()
        #expect(await content(cache, "/b") == nil)
        await cache.flush()
        #expect(cache.diskByteCount == 0 && cache.memoryByteCount == 0)
        if isOnDisk { #expect(folder.names.isEmpty) }
    }

    @Test(
        "replaceStored(for:) replaces the matching response, or removes one stored for a user",
        arguments: [false, true])
    func revisedForUser(_ isOnDisk: Bool) async throws {
        let folder = TemporaryPath()
        let cache =
            isOnDisk ? try ClientCache(memoryLimit: 0, folder: folder.text) : ClientCache()
        let user: HTTPFields = [.authorization: "user"]
        cache.keep(head("/a", request: user), bytes("one"))
        #expect(await content(cache, "/a", user) == "one")
        let request = ClientRequest(.get, "http://h.example/a")
        await cache.replaceStored(for: request) { _ in Array("two".utf8) }
        #expect(await content(cache, "/a", user) == nil)
        #expect(await content(cache, "/a") == nil)
        cache.keep(head("/a"), bytes("one"))
        await cache.replaceStored(for: request) { _ in Array("two".utf8) }
        #expect(await content(cache, "/a") == "two")
    }

    @Test("4.1: a response with another Vary replaces the previous one, also on disk")
    func otherVary() async throws {
        let folder = TemporaryPath()
        let english: HTTPFields = [.acceptLanguage: "en"]
        do {
            let cache = try ClientCache(memoryLimit: 1 << 20, folder: folder.text)
            cache.keep(head("/"), bytes("any"))
            cache.keep(head("/", vary: ["accept-language"], request: english), bytes("en"))
            await cache.flush()
        }
        let cache = try ClientCache(memoryLimit: 1 << 20, folder: folder.text)
        #expect(await content(cache, "/", english) == "en")
        #expect(await content(cache, "/", [.acceptLanguage: "de"]) == nil)
        #expect(folder.names.count == 2)
    }

    @Test("A disk lookup does not restore a response that was removed in the meantime")
    func readBesideRemoval() async throws {
        let folder = TemporaryPath()
        let first = try ClientCache(memoryLimit: 1 << 20, folder: folder.text)
        first.keep(head("/a"), bytes("old"))
        await first.flush()
        let cache = try ClientCache(memoryLimit: 1 << 20, folder: folder.text)
        cache.queue.suspend()
        async let before = content(cache, "/a")
        // By then the lookup waits for the disk; a slower one finds nothing, which is correct, too.
        try await Task.sleep(for: .milliseconds(100))
        cache.invalidate("http://h.example/a")
        cache.queue.resume()
        _ = await before
        await cache.flush()
        #expect(await content(cache, "/a") == nil && cache.memoryByteCount == 0)
        cache.keep(head("/a"), bytes("new"))
        await cache.flush()
        let later = try ClientCache(memoryLimit: 1 << 20, folder: folder.text)
        #expect(await content(later, "/a") == "new" && later.memoryByteCount > 0)
    }

    @Test("4.1: variants of a response are stored side by side", arguments: [false, true])
    func variants(_ isOnDisk: Bool) async throws {
        let folder = TemporaryPath()
        let cache =
            isOnDisk ? try ClientCache(memoryLimit: 0, folder: folder.text) : ClientCache()
        for language in ["de", "en"] {
            let request: HTTPFields = [.acceptLanguage: language]
            cache.keep(head("/", vary: ["accept-language"], request: request), bytes(language))
        }
        #expect(await content(cache, "/", [.acceptLanguage: "de"]) == "de")
        #expect(await content(cache, "/", [.acceptLanguage: "en", .accept: "*/*"]) == "en")
        #expect(await content(cache, "/", [.acceptLanguage: "fr"]) == nil)
        #expect(await content(cache, "/") == nil)
    }

    @Test("A response to a request with credentials is found with the same credentials only")
    func credentials() async {
        let cache = ClientCache()
        let request: HTTPFields = [.authorization: "Basic a"]
        cache.keep(head("/", request: request), bytes("secret"))
        #expect(await content(cache, "/", request) == "secret")
        #expect(await content(cache, "/") == nil)
        #expect(await content(cache, "/", [.authorization: "Basic b"]) == nil)
    }

    @Test(
        "Above the limits, the least recently used responses are removed", arguments: [false, true])
    func limits(_ isOnDisk: Bool) async throws {
        let folder = TemporaryPath()
        let limit = 100_000
        let cache =
            isOnDisk
            ? try ClientCache(
                memoryLimit: 0, folder: folder.text, diskLimit: Int64(limit), entryLimit: 20_000)
            : ClientCache(memoryLimit: limit, entryLimit: 20_000)
        let piece = [UInt8](repeating: 97, count: 10_000)
        for number in 0..<30 {
            cache.keep(head("/\(number)"), piece)
            if number > 0 { #expect(await content(cache, "/0") != nil) }
        }
        await cache.flush()
        let used = isOnDisk ? Int(cache.diskByteCount) : cache.memoryByteCount
        #expect(used <= limit && used > limit / 2)
        #expect(await content(cache, "/29") != nil)
        #expect(await content(cache, "/1") == nil)
        // An entry of exactly the limit, and one that is a byte longer.
        #expect(cache.takes(head("/x"), [UInt8](repeating: 0, count: 20_000)))
        #expect(!cache.takes(head("/x"), [UInt8](repeating: 0, count: 20_001)))
    }

    @Test("A new cache reads responses from the disk with fields, trailers and times")
    func restart() async throws {
        let folder = TemporaryPath()
        var stored = head(
            "/a?b", vary: ["x"], request: ["X": "1"], fields: [.eTag: "\"ä\"", .contentType: "a/b"])
        stored.fields.append(.setCookie, "a=1")
        stored.fields.append(.setCookie, "b=2")
        stored.trailers = ["T": "1"]
        do {
            let cache = try ClientCache(memoryLimit: 0, folder: folder.text)
            cache.keep(stored, bytes("kept"))
            await cache.flush()
        }
        let cache = try ClientCache(memoryLimit: 1 << 20, folder: folder.text)
        #expect(cache.diskByteCount > 0)
        let found = await cache.find(stored.url, ["X": "1"])
        #expect(found?.head == stored && found.map { $0.content } == bytes("kept"))
        #expect(cache.memoryByteCount > 0)
    }

    @Test("A 304 refreshes the stored response, also on disk")
    func freshening() async throws {
        let folder = TemporaryPath()
        let cache = try ClientCache(memoryLimit: 0, folder: folder.text)
        let old = head("/", fields: [.cacheControl: "max-age=1"])
        cache.keep(old, bytes("same"))
        let new = old.freshened(
            by: [.cacheControl: "max-age=9"], requestTime: Self.now, responseTime: Self.now)
        await cache.refresh(old.url, with: new)
        await cache.flush()
        let again = try ClientCache(memoryLimit: 0, folder: folder.text)
        let found = await again.find(old.url, [:])
        #expect(found?.head.fields[.cacheControl] == "max-age=9")
        #expect(found.map { $0.content } == bytes("same"))
    }

    @Test(
        "4.3.4: a late 304 changes no newer response, and restores no removed one",
        arguments: [false, true])
    func lateFreshening(_ isOnDisk: Bool) async throws {
        let folder = TemporaryPath()
        let cache =
            isOnDisk ? try ClientCache(memoryLimit: 0, folder: folder.text) : ClientCache()
        let old = head("/", fields: [.eTag: "\"1\""])
        cache.keep(old, bytes("one"))
        let found = try #require(await cache.find(old.url, [:]))
        let fresh = old.freshened(
            by: [.eTag: "\"1\""], requestTime: Self.now, responseTime: Self.now)
        let new = head("/", fields: [.eTag: "\"2\""])
        cache.keep(new, bytes("two"))
        cache.refresh(found, with: fresh)
        let kept = await cache.find(old.url, [:])
        #expect(kept?.head == new && kept.map { $0.content } == bytes("two"))
        // The same validator, but another response time.
        var later = old
        later.responseTime = HTTPDate(secondsSinceEpoch: Self.now.secondsSinceEpoch + 1)
        cache.keep(later, bytes("three"))
        cache.refresh(found, with: fresh)
        #expect(await cache.find(old.url, [:])?.head == later)
        cache.remove(old.url)
        cache.refresh(found, with: fresh)
        #expect(await content(cache, "/") == nil)
    }

    @Test("Damaged entries are ignored, and their files are removed", arguments: 0..<6)
    func damage(_ kind: Int) async throws {
        let folder = TemporaryPath()
        do {
            let cache = try ClientCache(memoryLimit: 0, folder: folder.text)
            cache.keep(head("/a"), bytes("content"))
            await cache.flush()
        }
        let heads = folder.names.filter { $0.hasSuffix(".head") }
        let bodies = folder.names.filter { $0.hasSuffix(".body") }
        #expect(heads.count == 1 && bodies.count == 1)
        switch kind {
        case 0: folder.write("", to: heads[0])
        case 1: folder.write("http-cache-1 00\n{}", to: heads[0])
        case 2: folder.write("conten", to: bodies[0])
        case 3: folder.write("CONTENT", to: bodies[0])
        case 4: folder.remove(bodies[0])
        default: folder.remove(heads[0])
        }
        folder.write("left", to: ".new-1")
        let cache = try ClientCache(memoryLimit: 0, folder: folder.text)
        #expect(await content(cache, "/a") == nil)
        await cache.flush()
        #expect(folder.names.isEmpty && cache.diskByteCount == 0)
        cache.keep(head("/a"), bytes("again"))
        #expect(await content(cache, "/a") == "again")
    }

    @Test("An unusable folder is an error, and files of others stay in the folder")
    func folders() throws {
        #expect(throws: ClientError.self) {
            try ClientCache(memoryLimit: 0, folder: "/dev/null/cache")
        }
        let folder = TemporaryPath()
        _ = try ClientCache(memoryLimit: 0, folder: folder.text)
        folder.write("x", to: "readme.txt")
        _ = try ClientCache(memoryLimit: 0, folder: folder.text)
        #expect(folder.names == ["readme.txt"])
    }
}

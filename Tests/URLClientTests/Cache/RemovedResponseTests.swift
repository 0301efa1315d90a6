import Foundation
import HTTPParser
import Testing
import ToolkitSystem
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Removed responses whose files cannot be removed", .timeLimit(.minutes(3)))
struct RemovedResponseTests {
    private static func request(_ path: String) -> ClientRequest {
        ClientRequest(.get, "http://h.example\(path)")
    }

    private static func cacheOfTwo(_ folder: String) async throws -> ClientCache {
        let cache = try ClientCache(memoryLimit: 0, folder: folder)
        for path in ["/a", "/b"] { cache.keep(.ok, [:], Array("one".utf8), for: request(path)) }
        await cache.flush()
        return cache
    }

    private static func has(_ cache: ClientCache, _ path: String) -> Bool {
        cache.storedNow(for: request(path)) != nil
    }

    private static func remove(_ path: String, from cache: ClientCache) async {
        cache.remove("http://h.example\(path)")
        await cache.flush()
    }

    /// Puts a file in place of the folder, so that nothing in the folder can be removed.
    private static func whileUnreachable(
        _ folder: TemporaryPath, _ body: () async -> Void
    ) async throws {
        let (files, aside) = (FileManager.default, TemporaryPath())
        try files.moveItem(atPath: folder.text, toPath: aside.text)
        folder.write("")
        await body()
        try files.removeItem(atPath: folder.text)
        try files.moveItem(atPath: aside.text, toPath: folder.text)
    }

    @Test("The next removal removes the remaining files too, and a later cache finds nothing")
    func unreachable() async throws {
        let folder = TemporaryPath()
        let cache = try await Self.cacheOfTwo(folder.text)
        try await Self.whileUnreachable(folder) { await Self.remove("/a", from: cache) }
        #expect(!Self.has(cache, "/a") && Self.has(cache, "/b"))
        await Self.remove("/b", from: cache)
        let later = try ClientCache(memoryLimit: 0, folder: folder.text)
        #expect(!Self.has(later, "/a") && !Self.has(later, "/b"))
        #expect(folder.names.isEmpty)
    }

    @Test("A response stored again in the meantime stays when the next removal tries again")
    func storedAgain() async throws {
        let folder = TemporaryPath()
        let cache = try await Self.cacheOfTwo(folder.text)
        try await Self.whileUnreachable(folder) { await Self.remove("/a", from: cache) }
        cache.keep(.ok, [:], Array("two".utf8), for: Self.request("/a"))
        await Self.remove("/b", from: cache)
        let later = try ClientCache(memoryLimit: 0, folder: folder.text)
        #expect(later.storedNow(for: Self.request("/a"))?.content == Array("two".utf8))
        #expect(folder.names.count == 2)
    }

    private static func withoutPermission() async throws {
        let folder = TemporaryPath()
        let files = FileManager.default
        try files.createDirectory(atPath: folder.text, withIntermediateDirectories: true)
        try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.text)
        // Root may remove everything, so another user has to try.
        let isRoot = geteuid() == 0
        if isRoot { try #require(seteuid(65_534) == 0) }
        let place = "\(folder.text)/cache"
        let cache = try await cacheOfTwo(place)
        try files.setAttributes([.posixPermissions: 0o500], ofItemAtPath: place)
        await remove("/a", from: cache)
        #expect(!has(cache, "/a") && has(cache, "/b"))
        let later = try ClientCache(memoryLimit: 0, folder: place)
        #expect(!has(later, "/a") && has(later, "/b"))
        try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place)
        if isRoot { try #require(seteuid(0) == 0) }
        #expect(folder.names == ["cache"])
    }

    @Test("In a folder without write permission, a later cache does not find a removed response")
    func permission() async {
        await #expect(processExitsWith: .success) {
            try await RemovedResponseTests.withoutPermission()
        }
    }

    enum Removal: CaseIterable { case post, one, all, reset }

    @Test(
        "A response that is still being received during a removal is not stored",
        arguments: Removal.allCases,
        [false, true])
    func underWay(_ removal: Removal, hasFolder: Bool) async throws {
        let (gate, count) = (Gate(), Locked(0))
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                guard head.hasPrefix("GET ") else {
                    connection.send("HTTP/1.1 204 No Content\r\n\r\n")
                    continue
                }
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                connection.send(
                    "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 8\r\n\r\n")
                if number == 1 { gate.wait() }
                connection.send("answer \(number)")
            }
        }
        let folder = TemporaryPath()
        let cache = try hasFolder ? ClientCache(memoryLimit: 0, folder: folder.text) : ClientCache()
        var configuration = ClientConfiguration.ephemeral
        configuration.cache = cache
        let session = ClientSession(configuration)
        let request = ClientRequest(.get, peer.url("/a"))
        let (content, _) = try await session.bytes(for: request)
        switch removal {
        case .post: _ = try await session.data(for: ClientRequest(.post, peer.url("/a")))
        case .one: cache.remove(peer.url("/a"))
        case .all: cache.removeAll()
        case .reset: await session.reset()
        }
        gate.open()
        var text = ""
        for try await piece in content { text += String(decoding: piece, as: UTF8.self) }
        #expect(text == "answer 1")
        for isStored in [false, true] {
            await cache.flush()
            let (content, response) = try await session.data(for: request)
            #expect(String(decoding: content, as: UTF8.self) == "answer 2")
            #expect(response.isFromCache == isStored)
        }
    }
}

import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9111, 4.1: responses that the application stores and finds", .timeLimit(.minutes(2)))
struct KeptResponseTests {
    private func request(_ fields: HTTPFields = [:]) -> ClientRequest {
        ClientRequest(.get, "http://h.example/", fields: fields)
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("A response for one user is found for that user only")
    func user() {
        let cache = ClientCache()
        let ada = request([.authorization: "Basic YTpi"])
        cache.keep(.ok, [.cacheControl: "max-age=1000"], bytes("secret"), for: ada)
        #expect(cache.storedNow(for: ada)?.content == bytes("secret"))
        #expect(cache.storedNow(for: request())?.content == nil)
        #expect(cache.storedNow(for: request([.authorization: "Basic Yjpi"]))?.content == nil)
    }

    @Test("The fields that Vary names must be equal, and Vary: * is never stored")
    func vary() {
        let cache = ClientCache()
        let german = request([.acceptLanguage: "de"])
        cache.keep(.ok, [.vary: "Accept-Language"], bytes("de"), for: german)
        #expect(cache.storedNow(for: german)?.content == bytes("de"))
        #expect(cache.storedNow(for: request([.acceptLanguage: "en"]))?.content == nil)
        #expect(cache.storedNow(for: request())?.content == nil)
        let other = ClientCache()
        other.keep(.ok, [.vary: "*"], bytes("any"), for: request())
        #expect(other.storedNow(for: request())?.content == nil)
        #expect(other.memoryByteCount == 0)
    }

    @Test(
        "The session and the application find each other's responses that vary by coding",
        arguments: [true, false])
    func codings(decodes: Bool) async throws {
        let count = Locked(0)
        let fields: HTTPFields = [.cacheControl: "max-age=1000", .vary: "Accept-Encoding"]
        let server = try await TestServer { _, router in
            router.on(.get, "/kept") { _ in
                count.withLock { $0 += 1 }
                return Response(.ok, fields: fields, body: .text("of the server"))
            }
        }
        let cache = ClientCache()
        var configuration = ClientConfiguration.ephemeral
        configuration.cache = cache
        configuration.decodesContent = decodes
        let session = ClientSession(configuration)
        let request = ClientRequest(.get, server.url("/kept"))
        _ = try await session.data(for: request)
        #expect(cache.storedNow(for: request)?.content == bytes("of the server"))
        guard decodes else { return }
        cache.keep(.ok, fields, bytes("of the application"), for: request)
        let (content, response) = try await session.data(for: request)
        #expect(content == bytes("of the application") && response.isFromCache)
        #expect(count.withLock { $0 } == 1)
    }
}

import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9111: the cache over HTTP", .timeLimit(.minutes(3)))
struct TransactionCacheTests {
    /// A server that counts its responses, and sends the fields and the status that the test sets.
    private final class Origin: Sendable {
        let count = Locked(0)
        let fields = Locked(HTTPFields())
        let status = Locked(HTTPStatus.ok)
        let server: TestServer

        init() async throws {
            let (count, fields, status) = (count, fields, status)
            server = try await TestServer { _, router in
                let answer: @Sendable (Request) throws -> Response = { request in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    let all = fields.withLock { $0 }
                    if let tag = all[.eTag], request.fields[.ifNoneMatch] == tag {
                        return Response(.notModified, fields: all)
                    }
                    return Response(
                        status.withLock { $0 }, fields: all, body: .text("answer \(number)"))
                }
                router.route(.get, "/c", to: SyncHandler(answer))
                router.route(.post, "/c", to: SyncHandler(answer))
            }
        }

        func set(_ new: HTTPFields) { fields.withLock { $0 = new } }
    }

    private func get(
        _ session: ClientSession, _ origin: Origin, _ fields: HTTPFields = [:],
        policy: CachePolicy? = nil, method: HTTPMethod = .get
    ) async throws -> (text: String, response: ClientResponse) {
        var request = ClientRequest(method, origin.server.url("/c"), fields: fields)
        request.cachePolicy = policy
        let (content, response) = try await session.data(for: request)
        return (String(decoding: content, as: UTF8.self), response)
    }

    @Test("A stored response is served with Age and without the network, also for HEAD")
    func hit() async throws {
        let origin = try await Origin()
        let session = ClientSession(.ephemeral)
        origin.set([.cacheControl: "max-age=1000", "X-Test": "1"])
        let first = try await get(session, origin)
        let second = try await get(session, origin)
        #expect(first.text == "answer 1" && !first.response.isFromCache)
        #expect(second.text == "answer 1" && second.response.isFromCache)
        #expect(second.response.fields["X-Test"] == "1" && second.response.fields[.age] != nil)
        let head = try await get(session, origin, method: .head)
        #expect(head.text.isEmpty && head.response.isFromCache)
        #expect(origin.count.withLock { $0 } == 1)
    }

    @Test(
        "D23: without Date, the time of receipt is used",
        arguments: ["Cache-Control: max-age=1000", "Expires: Fri, 01 Jan 2100 00:00:00 GMT"])
    func withoutDate(_ field: String) async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                connection.send("HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
        let session = ClientSession(.ephemeral)
        for isStored in [false, true] {
            let (content, response) = try await session.data(for: ClientRequest(.get, peer.url()))
            #expect(content == Array("hello".utf8) && response.isFromCache == isStored)
        }
        #expect(heads.withLock { $0.count } == 1)
    }

    @Test("A response with ETag is revalidated, and the 304 is not delivered")
    func revalidation() async throws {
        let origin = try await Origin()
        let session = ClientSession(.ephemeral)
        origin.set([.cacheControl: "no-cache", .eTag: "\"v1\""])
        _ = try await get(session, origin)
        let second = try await get(session, origin)
        #expect(second.text == "answer 1" && second.response.status == .ok)
        #expect(second.response.isFromCache && origin.count.withLock { $0 } == 2)
        origin.set([.cacheControl: "no-cache", .eTag: "\"v2\""])
        #expect(try await get(session, origin).text == "answer 3")
        // A 304 to the application's own condition is delivered.
        let own = try await get(session, origin, [.ifNoneMatch: "\"v2\""])
        #expect(own.response.status == .notModified)
    }

    @Test("4.3.4: a response that a 304 does not confirm is fetched again and replaced")
    func unconfirmed() async throws {
        let tags = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let isConditional = head.contains("If-None-Match: ")
                let count = tags.withLock { tags in
                    tags.append(isConditional ? "conditional" : "plain")
                    return tags.count
                }
                let tag = "ETag: \"\(count == 1 ? "a" : "b")\"\r\nCache-Control: no-cache\r\n"
                connection.send(
                    isConditional
                        ? "HTTP/1.1 304 Not Modified\r\n\(tag)\r\n"
                        : "HTTP/1.1 200 OK\r\n\(tag)Content-Length: 1\r\n\r\n\(count)")
            }
        }
        let session = ClientSession(.ephemeral)
        var texts: [String] = []
        for _ in 0..<3 {
            let (content, _) = try await session.data(for: ClientRequest(.get, peer.url()))
            texts.append(String(decoding: content, as: UTF8.self))
        }
        #expect(texts == ["1", "3", "3"])
        #expect(tags.withLock { $0 } == ["plain", "conditional", "plain", "conditional"])
    }

    @Test("5.2.2.5: after a 304 with no-store, the stored response is served once more only")
    func forbiddenLater() async throws {
        let origin = try await Origin()
        let session = ClientSession(.ephemeral)
        var fields: HTTPFields = [
            .eTag: "\"v1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
            .cacheControl: "no-cache",
        ]
        origin.set(fields)
        _ = try await get(session, origin)
        fields[.cacheControl] = "no-store"
        origin.set(fields)
        #expect(try await get(session, origin).text == "answer 1")
        #expect(try await get(session, origin).text == "answer 3")
        #expect(try await get(session, origin).text == "answer 4")
    }

    @Test("5.2.1.5: a 304 to a request with no-store does not change the stored response")
    func unkeptConfirmation() async throws {
        let origin = try await Origin()
        let session = ClientSession(.ephemeral)
        origin.set([.eTag: "\"v1\"", .cacheControl: "no-cache"])
        _ = try await get(session, origin)
        origin.set([.eTag: "\"v1\"", .cacheControl: "max-age=1000"])
        #expect(
            try await get(session, origin, [.cacheControl: "no-store"]).text == "answer 1")
        #expect(origin.count.withLock { $0 } == 2)
        #expect(try await get(session, origin).text == "answer 1")
        #expect(origin.count.withLock { $0 } == 3)
        #expect(try await get(session, origin).text == "answer 1")
        #expect(origin.count.withLock { $0 } == 3)
    }

    @Test("Responses with different values of a Vary field are stored separately")
    func vary() async throws {
        let origin = try await Origin()
        let session = ClientSession(.ephemeral)
        origin.set([.cacheControl: "max-age=1000", .vary: "Accept-Language"])
        #expect(try await get(session, origin, [.acceptLanguage: "de"]).text == "answer 1")
        #expect(try await get(session, origin, [.acceptLanguage: "en"]).text == "answer 2")
        #expect(try await get(session, origin, [.acceptLanguage: "de"]).text == "answer 1")
        #expect(try await get(session, origin, [.acceptLanguage: "en"]).text == "answer 2")
    }

    @Test("A stale response is served during its revalidation, and when the server fails")
    func stale() async throws {
        let origin = try await Origin()
        let session = ClientSession(.ephemeral)
        origin.set([.cacheControl: "max-age=0, stale-while-revalidate=1000"])
        _ = try await get(session, origin)
        origin.set([.cacheControl: "max-age=0, stale-if-error=1000, x"])
        #expect(try await get(session, origin).text == "answer 1")
        try await waitUntil { origin.count.withLock({ $0 }) >= 2 }
        let failing = try await Origin()
        failing.set([.cacheControl: "max-age=0, stale-if-error=1000"])
        _ = try await get(session, failing)
        failing.status.withLock { $0 = .serviceUnavailable }
        let answer = try await get(session, failing)
        #expect(answer.text == "answer 1" && answer.response.isFromCache)
        #expect(failing.count.withLock { $0 } == 2)
    }

    @Test("only-if-cached and the policies of NSURLRequest decide between cache and server")
    func policies() async throws {
        let origin = try await Origin()
        let session = ClientSession(.ephemeral)
        origin.set([.cacheControl: "max-age=1000"])
        let only = try await get(session, origin, [.cacheControl: "only-if-cached"])
        #expect(only.response.status == .gatewayTimeout)
        await #expect(throws: ClientError.self) {
            try await get(session, origin, policy: .returnCacheDataDontLoad)
        }
        #expect(try await get(session, origin).text == "answer 1")
        let dontLoad = try await get(session, origin, policy: .returnCacheDataDontLoad)
        #expect(dontLoad.text == "answer 1")
        let elseLoad = try await get(session, origin, policy: .returnCacheDataElseLoad)
        #expect(elseLoad.text == "answer 1")
        let reload = try await get(session, origin, policy: .reloadIgnoringLocalCacheData)
        #expect(reload.text == "answer 2")
    }

    @Test("An unsafe request invalidates the stored response; no-store is not stored")
    func invalidation() async throws {
        let origin = try await Origin()
        let session = ClientSession(.ephemeral)
        origin.set([.cacheControl: "max-age=1000"])
        _ = try await get(session, origin)
        _ = try await get(session, origin, method: .post)
        #expect(try await get(session, origin).text == "answer 3")
        origin.set([.cacheControl: "max-age=1000, no-store"])
        #expect(
            try await get(session, origin, policy: .reloadIgnoringLocalCacheData).text == "answer 4"
        )
        #expect(try await get(session, origin).text == "answer 3")
    }

    @Test(
        "RFC 9110, 8.4: a response whose content is delivered encoded is not stored",
        arguments: ["gzip", "zstd"])
    func coded(_ coding: String) async throws {
        let content = Array("coded as it is".utf8)
        let count = Locked(0)
        let server = try await TestServer { _, router in
            router.on(.get, "/coded") { _ in
                count.withLock { $0 += 1 }
                return Response(
                    .ok, fields: [.cacheControl: "max-age=60", .contentEncoding: coding],
                    body: .bytes(content))
            }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.decodesContent = coding == "zstd"
        let session = ClientSession(configuration)
        for number in 1...2 {
            let (bytes, response) = try await session.data(
                for: ClientRequest(
                    .get, server.url("/coded"), fields: [.acceptEncoding: coding]))
            #expect(bytes == content && response.fields[.contentEncoding] == coding)
            #expect(!response.isFromCache && count.withLock { $0 } == number)
        }
    }

    @Test(
        "A response whose validator has control characters can be requested again",
        arguments: ["ETag: \"a\u{1}b\"", "Last-Modified: \u{7F}"])
    func unusableValidator(_ line: String) async throws {
        let heads = Locked<[String]>([])
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append("\(head)") }
                connection.send(
                    "HTTP/1.1 200 OK\r\nCache-Control: no-cache\r\n\(line)\r\n"
                        + "Content-Length: 2\r\n\r\nok")
            }
        }
        let session = ClientSession(.ephemeral)
        for _ in 0..<3 {
            let (content, response) = try await session.data(
                for: ClientRequest(.get, peer.url("/")))
            #expect(content == Array("ok".utf8) && response.status == .ok)
        }
        #expect(heads.withLock { $0.count } == 3)
        #expect(heads.withLock { $0.allSatisfy { !$0.contains("If-") } })
    }

    @Test("Content-Encoding with a space before its colon is ignored, also from the cache")
    func blankBeforeColon() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Encoding : gzip\r\n"
                        + "Content-Length: 2\r\n\r\nok")
            }
        }
        let session = ClientSession(.ephemeral)
        for isStored in [false, true] {
            let (content, response) = try await session.data(
                for: ClientRequest(.get, peer.url("/")))
            #expect(content == Array("ok".utf8) && response.isFromCache == isStored)
            #expect(response.fields[.contentEncoding] == nil)
        }
    }

    @Test("Decoded content is stored decoded")
    func decoded() async throws {
        let plain = Array("plain".utf8)
        var coded: [UInt8] = []
        var encoder = try ContentEncoder(.gzip, level: 6)
        encoder.encode(plain.span, into: &coded)
        encoder.finish(into: &coded)
        let content = coded
        let server = try await TestServer { _, router in
            router.on(.get, "/coded") { _ in
                Response(
                    .ok, fields: [.cacheControl: "max-age=60", .contentEncoding: "gzip"],
                    body: .bytes(content))
            }
        }
        let session = ClientSession(.ephemeral)
        for isStored in [false, true] {
            let (bytes, response) = try await session.data(
                for: ClientRequest(.get, server.url("/coded")))
            #expect(bytes == plain && response.isFromCache == isStored)
        }
    }

    @Test("A new session finds the stored response on the disk")
    func disk() async throws {
        let origin = try await Origin()
        let folder = TemporaryPath()
        origin.set([.cacheControl: "max-age=1000"])
        for _ in 0..<2 {
            var configuration = ClientConfiguration.ephemeral
            configuration.cache = try ClientCache(memoryLimit: 1 << 20, folder: folder.text)
            let session = ClientSession(configuration)
            #expect(try await get(session, origin).text == "answer 1")
            await session.flush()
        }
        #expect(origin.count.withLock { $0 } == 1)
    }
}

import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9111 and NSURLRequest: the cache or the server", .timeLimit(.minutes(3)))
struct TransactionCachePolicyTests {
    /// A server that numbers its responses, and delays them while `isHeld` is set.
    private final class Counter: Sendable {
        struct State: Sendable {
            var count = 0
            var fields = HTTPFields()
            var status = HTTPStatus.ok
            var isHeld = false
            var requests: [HTTPFields] = []
        }

        let state = Locked(State())
        let server: TestServer

        init(_ fields: HTTPFields) async throws {
            state.withLock { $0.fields = fields }
            let state = state
            let handler = AsyncHandler { request in
                let all = request.fields.reduce(into: HTTPFields()) { $0.append($1) }
                let number = state.withLock { state in
                    state.count += 1
                    state.requests.append(all)
                    return state.count
                }
                try await waitUntil { !state.withLock({ $0.isHeld }) }
                let (status, fields) = state.withLock { ($0.status, $0.fields) }
                return Response(status, fields: fields, body: .text("answer \(number)"))
            }
            server = try await TestServer { _, router in
                router.route(.get, "/c", to: handler)
                router.route(.post, "/c", to: handler)
            }
        }

        var count: Int { state.withLock { $0.count } }

        func request(_ policy: CachePolicy? = nil, _ method: HTTPMethod = .get) -> ClientRequest {
            var request = ClientRequest(method, server.url("/c"))
            request.cachePolicy = policy
            return request
        }
    }

    private func text(_ content: [UInt8]) -> String { String(decoding: content, as: UTF8.self) }

    @Test("returnCacheDataDontLoad never uses the network, with or without a cache")
    func dontLoad() async throws {
        let counter = try await Counter([.cacheControl: "max-age=1000"])
        var configuration = ClientConfiguration.ephemeral
        let cached = ClientSession(configuration)
        configuration.cache = nil
        let plain = ClientSession(configuration)
        let folder = try ServerDirectory()
        let get = counter.request(.returnCacheDataDontLoad)
        let post = counter.request(.returnCacheDataDontLoad, .post)
        for session in [cached, plain] {
            let errors = [
                await failure { try await session.data(for: get) },
                await failure { try await session.data(for: post) },
                await failure { try await session.download(for: get, to: folder.path("file")) },
            ]
            #expect(errors.map { $0?.kind } == [.notCached, .notCached, .notCached])
        }
        #expect(counter.count == 0 && Files.names(folder.path) == [])
    }

    @Test(
        "A policy that ignores the stored response ignores it even if the server fails",
        arguments: [
            CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
        ])
    func ignoring(_ policy: CachePolicy) async throws {
        let counter = try await Counter([.cacheControl: "max-age=0, stale-if-error=1000"])
        let session = ClientSession(.ephemeral)
        _ = try await session.data(for: counter.request())
        counter.state.withLock {
            ($0.status, $0.fields) = (.serviceUnavailable, [.cacheControl: "no-store"])
        }
        let (content, response) = try await session.data(for: counter.request(policy))
        #expect(response.status == .serviceUnavailable && text(content) == "answer 2")
        let (stored, other) = try await session.data(for: counter.request())
        #expect(other.isFromCache && text(stored) == "answer 1")
    }

    @Test("Only reloadIgnoringLocalAndRemoteCacheData sends no-cache to intermediate caches")
    func remoteCaches() async throws {
        let counter = try await Counter([.cacheControl: "max-age=1000"])
        var configuration = ClientConfiguration.ephemeral
        let cached = ClientSession(configuration)
        configuration.cache = nil
        for session in [cached, ClientSession(configuration)] {
            for policy in [
                CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
            ] {
                _ = try await session.data(for: counter.request(policy))
            }
        }
        let seen = counter.state.withLock { $0.requests }
        #expect(seen.map { $0[.cacheControl] } == [nil, "no-cache", nil, "no-cache"])
        #expect(seen.map { $0[.pragma] } == [nil, "no-cache", nil, "no-cache"])
    }

    @Test("RFC 5861, 3: a stale response is revalidated once, without calls of the delegate")
    func whileRevalidating() async throws {
        let counter = try await Counter([
            .cacheControl: "max-age=0, stale-while-revalidate=1000"
        ])
        let delegate = Recorder()
        let session = ClientSession(.ephemeral, delegate: delegate)
        _ = try await session.data(for: counter.request())
        counter.state.withLock { $0.isHeld = true }
        for _ in 0..<10 {
            let (content, _) = try await session.data(for: counter.request())
            #expect(text(content) == "answer 1")
        }
        try await waitUntil { counter.count >= 2 }
        let (content, _) = try await session.data(for: counter.request())
        #expect(text(content) == "answer 1" && counter.count == 2)
        // From here on the response is fresh, so that the revalidations end.
        counter.state.withLock { ($0.isHeld, $0.fields) = (false, [.cacheControl: "max-age=1000"]) }
        var tasks = 12
        try await waitUntil {
            let (content, _) = try await session.data(for: counter.request())
            tasks += 1
            return text(content) == "answer 2"
        }
        session.finishTasksAndInvalidate()
        await delegate.wait { $0.last == "invalid" }
        #expect(delegate.log.count { $0 == "complete" } == tasks && counter.count == 2)
    }

    @Test("A stored redirect that one session delivers is followed by another session")
    func redirects() async throws {
        let server = try await TestServer { _, router in
            router.on(.get, "/r") { _ in
                Response(
                    .movedPermanently, fields: [.location: "/hello", .cacheControl: "max-age=1000"])
            }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.redirects.isEnabled = false
        let request = ClientRequest(.get, server.url("/r"))
        let (_, answer) = try await ClientSession(configuration).data(for: request)
        #expect(answer.status == .movedPermanently)
        configuration.redirects.isEnabled = true
        let (content, response) = try await ClientSession(configuration).data(for: request)
        #expect(response.status == .ok && text(content) == "hello")
    }

    /// Allows or forbids that responses are stored.
    private final class Keeper: ClientSessionDelegate {
        let asked = Locked([String]())
        let keeps: Bool

        init(_ keeps: Bool) { self.keeps = keeps }

        func task(_ task: TransferTask, willStore response: ClientResponse) async -> Bool {
            asked.withLock { $0.append("store") }
            return keeps
        }

        func task(
            _ task: TransferTask, didReceiveResponse response: ClientResponse
        ) async -> ResponseDisposition {
            asked.withLock { $0.append(response.isFromCache ? "stored" : "response") }
            return .allow
        }
    }

    @Test("The delegate decides whether a response is stored", arguments: [false, true])
    func asked(_ keeps: Bool) async throws {
        let counter = try await Counter([.cacheControl: "max-age=1000"])
        let delegate = Keeper(keeps)
        let session = ClientSession(.ephemeral, delegate: delegate)
        for _ in 0..<2 { try await session.dataTask(for: counter.request()).finished() }
        #expect(counter.count == (keeps ? 1 : 2))
        let once = ["store", "response"]
        #expect(delegate.asked.withLock { $0 } == once + (keeps ? ["stored"] : once))
        let kept = counter.count
        // The delegate is not asked about a response that the cache would not store.
        counter.state.withLock { $0.fields = [.cacheControl: "no-store"] }
        try await session.dataTask(
            for: counter.request(.reloadIgnoringLocalCacheData)
        ).finished()
        #expect(counter.count == kept + 1)
        #expect(delegate.asked.withLock { $0.last == "response" && $0.dropLast().last != "store" })
    }
}

#if FoundationNetworking
    import Foundation
    import HTTPCodecs
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import TestSupport
    import Testing
    import ToolkitSystem
    import URLClient
    import URLClientFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// A delegate that answers for the first stored response when the test calls `answer`.
    private final class Hesitant: NSObject, URLSessionDataDelegate, @unchecked Sendable {
        private let asked = Locked(0)
        private let ended = Locked(0)
        private let waiting = Locked<(@Sendable (CachedURLResponse?) -> Void)?>(nil)

        var isWaiting: Bool { waiting.withLock { $0 != nil } }
        var endCount: Int { ended.withLock { $0 } }

        func answer(_ response: CachedURLResponse?) {
            let handler = waiting.withLock { $0 }
            handler?(response)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            let isFirst = asked.withLock { count -> Bool in
                count += 1
                return count == 1
            }
            guard isFirst else { return completionHandler(proposedResponse) }
            waiting.withLock { $0 = completionHandler }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            ended.withLock { $0 += 1 }
        }
    }

    @Suite("Stored responses that the application changes", .timeLimit(.minutes(3)))
    struct StoredResponseTests {
        @Test(
            "A response that is allowed only in memory is not in a file", arguments: [false, true])
        func inMemoryOnly(_ byDelegate: Bool) async throws {
            let server = try await SessionServer()
            let folder = try ServerDirectory()
            let directory = URL(fileURLWithPath: folder.path("cache"))
            let request = URLRequest(url: try server.bin("/cache/1000"))
            do {
                let cache = URLCache(
                    memoryCapacity: 1 << 20, diskCapacity: 8 << 20, directory: directory)
                let log = SessionLog(
                    byDelegate ? .init(revise: { Self.forMemory($0) }) : .init())
                let session = URLSession.logging(log) { $0.urlCache = cache }
                session.dataTask(with: request).resume()
                try await log.completed()
                if !byDelegate {
                    await session.flush()
                    #expect(cache.currentDiskUsage > 0)
                    let stored = try #require(cache.cachedResponse(for: request))
                    cache.storeCachedResponse(Self.forMemory(stored), for: request)
                }
                await session.flush()
                #expect(cache.currentDiskUsage == 0 && cache.currentMemoryUsage > 0)
                #expect(cache.cachedResponse(for: request)?.data == log.content)
                session.invalidateAndCancel()
            }
            let again = URLCache(
                memoryCapacity: 1 << 20, diskCapacity: 8 << 20, directory: directory)
            #expect(again.diskCapacity == 8 << 20 && again.cachedResponse(for: request) == nil)
        }

        private static func forMemory(_ response: CachedURLResponse) -> CachedURLResponse {
            CachedURLResponse(
                response: response.response, data: response.data, userInfo: nil,
                storagePolicy: .allowedInMemoryOnly)
        }

        @Test("A task waits for a delegate's answer only until the request's timeout")
        func silentDelegate() async throws {
            let server = try await SessionServer()
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            configuration.timeoutIntervalForRequest = 3_600
            let delegate = Hesitant()
            let session = URLSession(configuration: configuration, delegate: delegate)
            var request = URLRequest(url: try server.bin("/cache/1000"))
            request.timeoutInterval = 2
            session.dataTask(with: request).resume()
            try await waitUntil { delegate.endCount == 1 }
            #expect(delegate.isWaiting && cache.cachedResponse(for: request) == nil)
            session.invalidateAndCancel()
        }

        @Test(
            "A delegate's late answer does not change a newer stored response",
            arguments: [false, true])
        func lateAnswer(_ removes: Bool) async throws {
            let count = Locked(0)
            var router = Router()
            router.on(.get, "/page") { _ in
                let number = count.withLock { count -> Int in
                    count += 1
                    return count
                }
                return Response(
                    .ok, fields: [.cacheControl: "max-age=1000", .eTag: "\"\(number)\""],
                    body: .text("page \(number)"))
            }
            let server = HTTPServer(
                ServerConfiguration(host: "127.0.0.1", port: 0), handler: router)
            try await server.start()
            let port = try #require(server.addresses.first?.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)/page"))
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            let delegate = Hesitant()
            let session = URLSession(configuration: configuration, delegate: delegate)
            session.dataTask(with: url).resume()
            try await waitUntil { delegate.isWaiting }
            session.dataTask(
                with: URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
            ).resume()
            try await waitUntil { delegate.endCount == 1 }
            let late = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                    headerFields: ["Cache-Control": "max-age=1000"]))
            delegate.answer(
                removes ? nil : CachedURLResponse(response: late, data: Data("late".utf8)))
            try await waitUntil { delegate.endCount == 2 }
            let stored = cache.cachedResponse(for: URLRequest(url: url))
            #expect(stored?.data == Data("page 2".utf8))
            let head = stored?.response as? HTTPURLResponse
            #expect(head?.value(forHTTPHeaderField: "ETag") == "\"2\"")
            session.invalidateAndCancel()
            await server.shutdown()
        }
    }
#endif

#if FoundationNetworking
    import Foundation
    import HTTPCodecs
    import HTTPParser
    import TestSupport
    import Testing
    import URLClient
    import URLClientFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    // The cases Y50 to Y54 of YMHTTP. The content of `/uuid` differs each time, and `/cache` says
    // how long its response may be stored.

    @Suite("YMHTTP with URLSession's names: cache", .timeLimit(.minutes(3)))
    struct YMHTTPCachingTests {
        private let cache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 0)

        private var session: URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = cache
            return URLSession(configuration: configuration)
        }

        private func request(
            _ server: SessionServer, _ policy: URLRequest.CachePolicy = .useProtocolCachePolicy
        ) throws -> URLRequest {
            URLRequest(url: try server.bin("/cache/1000"), cachePolicy: policy)
        }

        /// Puts other content into the cache, so that responses from there can be recognized.
        private func mark(_ request: URLRequest) throws {
            let stored = try #require(cache.cachedResponse(for: request))
            cache.storeCachedResponse(
                CachedURLResponse(response: stored.response, data: Data("stored".utf8)),
                for: request)
        }

        @Test("Y50: By the protocol's policy, a fresh response comes from the cache")
        func byProtocol() async throws {
            let server = try await SessionServer()
            let request = try request(server)
            let (first, _, _) = await session.answer(request)
            #expect(cache.cachedResponse(for: request)?.data == first)
            try mark(request)
            let (data, response, _) = await session.answer(request)
            #expect(data == Data("stored".utf8) && response?.statusCode == 200)
            // A response that forbids storing is not stored.
            let other = URLRequest(url: try server.bin("/uuid"))
            let one = await session.answer(other).0
            #expect(one != nil && cache.cachedResponse(for: other) == nil)
        }

        @Test("Y51: A policy that ignores local data sends the request to the server")
        func ignoring() async throws {
            let server = try await SessionServer()
            _ = await session.answer(try request(server))
            try mark(try request(server))
            for policy in [
                URLRequest.CachePolicy.reloadIgnoringLocalCacheData,
                .reloadIgnoringLocalAndRemoteCacheData,
            ] {
                let (data, _, _) = await session.answer(try request(server, policy))
                #expect(try Echo(data).url == (try server.bin("/cache/1000")).absoluteString)
            }
        }

        @Test("Y52: returnCacheDataElseLoad uses a stored response, or else the server")
        func elseLoad() async throws {
            let server = try await SessionServer()
            let request = try request(server, .returnCacheDataElseLoad)
            let (first, _, _) = await session.answer(request)
            #expect(try Echo(first).url == request.url?.absoluteString)
            try mark(request)
            #expect(await session.answer(request).0 == Data("stored".utf8))
            cache.removeCachedResponse(for: request)
            #expect(await session.answer(request).0 == first)
        }

        @Test("Y53: returnCacheDataDontLoad uses a stored response, or else fails with -1008")
        func dontLoad() async throws {
            let server = try await SessionServer()
            let request = try request(server, .returnCacheDataDontLoad)
            let (data, _, error) = await session.answer(request)
            #expect(data == nil && error == .resourceUnavailable)
            _ = await session.answer(try self.request(server))
            try mark(request)
            #expect(await session.answer(request).0 == Data("stored".utf8))
            cache.removeAllCachedResponses()
            #expect(await session.answer(request).2 == .resourceUnavailable)
        }

        @Test("Y54: A response that the delegate cancels is not stored")
        func cancelled() async throws {
            let server = try await SessionServer()
            let log = SessionLog(.init(disposition: .cancel))
            let session = URLSession.logging(log) { $0.urlCache = cache }
            let task = session.dataTask(with: try request(server))
            task.resume()
            try await log.completed()
            #expect(log.order == ["response 200", "complete -999"])
            #expect(task.error?.sessionCode == .cancelled)
            #expect(cache.cachedResponse(for: try request(server)) == nil)
            #expect(cache.currentMemoryUsage == 0)
        }

        @Test("A disk cache is kept after its object; without a folder there is no disk cache")
        func disk() async throws {
            let server = try await SessionServer()
            let folder = try ServerDirectory()
            let directory = URL(fileURLWithPath: folder.path("cache"))
            let request = try request(server)
            let data: Data?
            do {
                let cache = URLCache(
                    memoryCapacity: 1 << 20, diskCapacity: 8 << 20, directory: directory)
                let configuration = URLSessionConfiguration.ephemeral
                configuration.urlCache = cache
                let session = URLSession(configuration: configuration)
                #expect(session.configuration.urlCache === cache)
                data = await session.answer(request).0
                await session.flush()
                #expect(cache.currentDiskUsage > 0 && cache.diskCapacity == 8 << 20)
                session.invalidateAndCancel()
            }
            let again = URLCache(
                memoryCapacity: 1 << 20, diskCapacity: 8 << 20, diskPath: directory.path)
            #expect(data != nil && again.cachedResponse(for: request)?.data == data)
            #expect(URLCache(memoryCapacity: 9, diskCapacity: 8 << 20).diskCapacity == 0)
        }
    }
#endif

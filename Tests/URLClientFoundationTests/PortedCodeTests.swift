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

    @Suite("Code written for URLSession", .timeLimit(.minutes(2)))
    struct PortedCodeTests {
        private static func router() -> Router {
            var router = Router()
            router.on(.get, "/hello") { _ in
                Response(
                    .ok, fields: [.cacheControl: "max-age=1000"], body: .text("hello\nworld\n"))
            }
            router.on(.post, "/echo") { request in
                Response(
                    .ok, fields: [.contentType: request.fields[.contentType] ?? "none"],
                    body: .bytes(try await request.body.collect(upTo: 1 << 20)))
            }
            router.on(.get, "/away") { _ in
                Response(.found, fields: [.location: "/hello"], body: .text("away"))
            }
            router.on(.get, "/long") { _ in
                Response(.ok, body: .bytes([UInt8](repeating: 0x61, count: 900_000)))
            }
            router.on(.get, "/silent") { _ in
                try await Task.sleep(for: .seconds(600))
                return Response(.ok)
            }
            return router
        }

        private func serve<Value>(
            _ body: (_ base: String) async throws -> Value
        ) async throws -> Value {
            let server = HTTPServer(
                ServerConfiguration(host: "127.0.0.1", port: 0), handler: Self.router())
            try await server.start()
            let port = try #require(server.addresses.first?.port)
            let value = try await body("http://127.0.0.1:\(port)")
            await server.shutdown()
            return value
        }

        @Test("The handler of a data task gets an HTTPURLResponse")
        func dataTask() async throws {
            try await serve { base in
                let url = try #require(URL(string: base + "/hello"))
                let session = URLSession(configuration: .ephemeral)
                let (text, status): (String?, Int?) = await withCheckedContinuation { done in
                    let task = session.dataTask(with: url) { data, response, error in
                        guard error == nil, let response = response as? HTTPURLResponse,
                            (200..<300).contains(response.statusCode), let data
                        else { return done.resume(returning: (nil, nil)) }
                        done.resume(
                            returning: (String(data: data, encoding: .utf8), response.statusCode))
                    }
                    task.resume()
                }
                #expect(text == "hello\nworld\n" && status == 200)
            }
        }

        @Test("Async calls work for data, lines, files and uploads")
        func asyncCalls() async throws {
            try await serve { base in
                let session = URLSession(configuration: .ephemeral)
                let url = try #require(URL(string: base + "/hello"))
                let (data, response) = try await session.data(from: url)
                #expect((response as? HTTPURLResponse)?.statusCode == 200 && data.count == 12)
                var lines: [String] = []
                let (bytes, head) = try await session.bytes(from: url)
                for try await line in bytes.lines { lines.append(line) }
                #expect(head is HTTPURLResponse && lines == ["hello", "world"])
                var request = URLRequest(url: try #require(URL(string: base + "/echo")))
                request.httpMethod = "POST"
                request.setValue("text/x", forHTTPHeaderField: "Content-Type")
                let (echo, kind) = try await session.upload(for: request, from: Data("up".utf8))
                #expect(String(decoding: echo, as: UTF8.self) == "up")
                let named = (kind as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type")
                #expect(named == "text/x")
                let (file, _) = try await session.download(from: url)
                #expect(try Data(contentsOf: file) == data)
                try FileManager.default.removeItem(at: file)
            }
        }

        @Test("Errors are URLErrors, and a cancelled caller cancels its task")
        func errors() async throws {
            try await serve { base in
                let session = URLSession(configuration: .ephemeral)
                let dead = PeerServer.deadPort
                let nowhere = try #require(URL(string: "http://127.0.0.1:\(dead)/"))
                let refused = await #expect(throws: URLError.self) {
                    _ = try await session.data(from: nowhere)
                }
                #expect(refused?.code == .cannotConnectToHost)
                let silent = try #require(URL(string: base + "/silent"))
                let call = Task { try await session.data(from: silent) }
                try await waitUntil { await session.allTasks.count == 1 }
                let listed: Int = await withCheckedContinuation { done in
                    session.getAllTasks { done.resume(returning: $0.count) }
                }
                #expect(listed == 1)
                call.cancel()
                let cancelled = await #expect(throws: URLError.self) { _ = try await call.value }
                #expect(cancelled?.code == .cancelled)
                try await waitUntil { await session.allTasks.isEmpty }
            }
        }

        private final class Listener: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
            @unchecked Sendable
        {
            let log = Locked<[String]>([])
            let content = Locked(Data())
            let queue: OperationQueue

            init(_ queue: OperationQueue) { self.queue = queue }

            private func add(_ entry: String) {
                let isThere = OperationQueue.current === queue
                log.withLock { $0.append(isThere ? entry : "\(entry) elsewhere") }
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                willPerformHTTPRedirection response: HTTPURLResponse, newRequest: URLRequest,
                completionHandler: @escaping @Sendable (URLRequest?) -> Void
            ) {
                add("redirect \(response.statusCode) \(newRequest.url?.path ?? "")")
                completionHandler(newRequest)
            }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask,
                didReceive response: URLResponse,
                completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
            ) {
                add("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
                completionHandler(.allow)
            }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
            ) {
                let isFirst = content.withLock { content in
                    defer { content.append(data) }
                    return content.isEmpty
                }
                if isFirst { add("data") }
            }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask,
                willCacheResponse proposedResponse: CachedURLResponse,
                completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
            ) {
                add("cache")
                completionHandler(
                    CachedURLResponse(
                        response: proposedResponse.response, data: Data("replaced".utf8)))
            }

            func urlSession(
                _ session: URLSession, downloadTask: URLSessionDownloadTask,
                didFinishDownloadingTo location: URL
            ) {
                content.withLock { $0 = (try? Data(contentsOf: location)) ?? Data() }
                add("file")
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                didFinishCollecting metrics: URLSessionTaskMetrics
            ) {
                add("metrics \(metrics.transactionMetrics.count)")
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                didCompleteWithError error: (any Error)?
            ) {
                add(error == nil ? "complete" : "failed")
            }

            func urlSession(
                _ session: URLSession, didBecomeInvalidWithError error: (any Error)?
            ) {
                add("invalid")
            }
        }

        private static func makeQueue() -> OperationQueue {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            return queue
        }

        @Test("Delegate methods with URLSession's names are called in order, on their queue")
        func delegateCalls() async throws {
            try await serve { base in
                let queue = Self.makeQueue()
                let listener = Listener(queue)
                let session = URLSession(
                    configuration: .ephemeral, delegate: listener, delegateQueue: queue)
                let task = session.dataTask(with: try #require(URL(string: base + "/away")))
                task.resume()
                try await waitUntil { listener.log.withLock { $0.last == "complete" } }
                #expect(
                    listener.log.withLock { $0 } == [
                        "redirect 302 /hello", "response 200", "data", "cache", "metrics 2",
                        "complete",
                    ])
                #expect(task.state == .completed && task.error == nil)
                #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
                #expect(task.currentRequest?.url?.path == "/hello")
                #expect(task.progress.fractionCompleted == 1)
                session.finishTasksAndInvalidate()
                try await waitUntil { listener.log.withLock { $0.last == "invalid" } }
            }
        }

        @Test("The cache stores the response that willCacheResponse returns")
        func replacedInCache() async throws {
            try await serve { base in
                let queue = Self.makeQueue()
                let listener = Listener(queue)
                let session = URLSession(
                    configuration: .ephemeral, delegate: listener, delegateQueue: queue)
                let url = try #require(URL(string: base + "/hello"))
                session.dataTask(with: url).resume()
                try await waitUntil { listener.log.withLock { $0.last == "complete" } }
                let (data, _) = try await session.data(from: url)
                #expect(String(decoding: data, as: UTF8.self) == "replaced")
                session.invalidateAndCancel()
            }
        }

        /// Answers for its first task when the test calls `answer()`.
        private final class Hesitant: NSObject, URLSessionDataDelegate, @unchecked Sendable {
            let log = Locked<[String]>([])
            private let waiting = Locked<(@Sendable () -> Void)?>(nil)

            func answer() {
                let answer = waiting.withLock { $0 }
                answer?()
            }

            private func add(_ entry: String, _ task: URLSessionTask) {
                let path = task.originalRequest?.url?.query ?? ""
                log.withLock { $0.append("\(entry) \(path)") }
            }

            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask,
                willCacheResponse proposedResponse: CachedURLResponse,
                completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
            ) {
                add("cache", dataTask)
                guard dataTask.originalRequest?.url?.query == "first" else {
                    return completionHandler(proposedResponse)
                }
                waiting.withLock { $0 = { completionHandler(nil) } }
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                didFinishCollecting metrics: URLSessionTaskMetrics
            ) {
                add("metrics", task)
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                didCompleteWithError error: (any Error)?
            ) {
                add(error == nil ? "complete" : "failed", task)
            }

            func urlSession(
                _ session: URLSession, didBecomeInvalidWithError error: (any Error)?
            ) {
                log.withLock { $0.append("invalid") }
            }
        }

        @Test("A delegate that delays willCacheResponse delays only that task")
        func unansweredCacheQuestion() async throws {
            try await serve { base in
                let delegate = Hesitant()
                let session = URLSession(
                    configuration: .ephemeral, delegate: delegate, delegateQueue: Self.makeQueue())
                let first = try #require(URL(string: base + "/hello?first"))
                let second = try #require(URL(string: base + "/hello?second"))
                session.dataTask(with: first).resume()
                try await waitUntil { delegate.log.withLock { $0 } == ["cache first"] }
                session.dataTask(with: second).resume()
                try await waitUntil { delegate.log.withLock { $0.last } == "complete second" }
                session.finishTasksAndInvalidate()
                delegate.answer()
                try await waitUntil { delegate.log.withLock { $0.last } == "invalid" }
                #expect(
                    delegate.log.withLock { $0 } == [
                        "cache first", "cache second", "metrics second", "complete second",
                        "metrics first", "complete first", "invalid",
                    ])
            }
        }

        @Test("An unanswered willCacheResponse delays the task until the request's timeout")
        func neverAnswered() async throws {
            try await serve { base in
                let delegate = Hesitant()
                let configuration = URLSessionConfiguration.ephemeral
                configuration.timeoutIntervalForRequest = 2
                let session = URLSession(
                    configuration: configuration, delegate: delegate,
                    delegateQueue: Self.makeQueue())
                let url = try #require(URL(string: base + "/hello?first"))
                session.dataTask(with: url).resume()
                try await waitUntil { delegate.log.withLock { $0.last } == "complete first" }
                #expect(
                    delegate.log.withLock { $0 } == [
                        "cache first", "metrics first", "complete first",
                    ])
                session.invalidateAndCancel()
            }
        }

        @Test("A delegate gets the file of a download; invalid resume data fails")
        func download() async throws {
            try await serve { base in
                let queue = Self.makeQueue()
                let listener = Listener(queue)
                let session = URLSession(
                    configuration: .ephemeral, delegate: listener, delegateQueue: queue)
                let task = session.downloadTask(with: try #require(URL(string: base + "/long")))
                task.resume()
                try await waitUntil { listener.log.withLock { $0.last == "complete" } }
                #expect(listener.log.withLock { $0 } == ["file", "metrics 1", "complete"])
                #expect(listener.content.withLock { $0.count } == 900_000)
                session.downloadTask(withResumeData: Data("no".utf8)).resume()
                try await waitUntil { listener.log.withLock { $0.last == "failed" } }
                session.invalidateAndCancel()
            }
        }

        @Test("A configuration is copied, and its properties apply to the client")
        func configuration() {
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForRequest = 12
            configuration.timeoutIntervalForResource = .infinity
            configuration.httpAdditionalHeaders = ["X-A": "b", 1: "c"]
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.httpMaximumConnectionsPerHost = 3
            let session = URLSession(configuration: configuration)
            configuration.timeoutIntervalForRequest = 99
            #expect(session.configuration.timeoutIntervalForRequest == 12)
            #expect(session.client.configuration.timeouts.total == nil)
            #expect(session.client.configuration.additionalFields["X-A"] == "b")
            #expect(session.client.configuration.cachePolicy == .reloadIgnoringLocalCacheData)
            #expect(session.client.configuration.connectionsPerOrigin == 3)
            #expect(session.configuration.requestCachePolicy == .reloadIgnoringLocalCacheData)
        }
    }
#endif

#if FoundationNetworking
    import Foundation
    import HTTPCodecs
    import HTTPParser
    import TestSupport
    import Testing
    import ToolkitSystem
    import URLClient
    import URLClientFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// A delegate that handles only metrics.
    private final class Meter: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
        private let calls = Locked(0)
        var count: Int { calls.withLock { $0 } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            calls.withLock { $0 += 1 }
        }
    }

    /// A session's delegate that lets another one decide about redirects.
    private final class Relay: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
        private let part = Meter()

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            part.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: completionHandler)
        }
    }

    /// A session's delegate without methods for tasks.
    private final class Doorkeeper: NSObject, URLSessionDelegate, @unchecked Sendable {
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    URLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void
        ) {
            completionHandler(
                .useCredential,
                URLCredential(user: "ada", password: "lovelace", persistence: .forSession))
        }
    }

    /// A delegate that makes its task a download, and then cancels or resumes the data task.
    private final class Toucher: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
        @unchecked Sendable
    {
        let log = Locked<[String]>([])
        private let cancels: Bool

        init(cancels: Bool) { self.cancels = cancels }

        private func add(_ entry: String) { log.withLock { $0.append(entry) } }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            completionHandler(.becomeDownload)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            didBecome downloadTask: URLSessionDownloadTask
        ) {
            add("became")
            if cancels { dataTask.cancel() } else { dataTask.resume() }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) {
            add("file")
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            let kind = task is URLSessionDownloadTask ? "download" : "data task"
            add(error == nil ? "complete \(kind)" : "failed \(kind)")
        }
    }

    @Suite("Decisions of the task's delegate and of the session's", .timeLimit(.minutes(3)))
    struct TaskDelegateTests {
        // MARK: the delegate of a task and that of the session

        @Test("Without a method in the task's delegate, the session's decides about a redirect")
        func redirectHandedOn() async throws {
            let server = try await SessionServer()
            let url = try server.bin("/redirect/1")
            let log = SessionLog(.init(follows: false))
            let session = URLSession.logging(log)
            let meter = Meter()
            let task = session.dataTask(with: url)
            task.delegate = meter
            task.resume()
            try await log.completed()
            #expect(log.order == ["redirect 302", "response 302", "complete"])
            #expect(meter.count == 1 && !log.entries.contains("metrics"))
            let (_, whole) = try await session.data(from: url, delegate: Meter())
            #expect((whole as? HTTPURLResponse)?.statusCode == 302)
            let (_, head) = try await session.bytes(from: url, delegate: Meter())
            #expect((head as? HTTPURLResponse)?.statusCode == 302)
            #expect(log.entries.count { $0 == "redirect 302" } == 3)
            session.invalidateAndCancel()
        }

        @Test("Without a method in the task's delegate, the session's answers a challenge")
        func challengeHandedOn() async throws {
            let server = try await SessionServer()
            let url = try server.bin("/basic-auth/ada/lovelace")
            let log = SessionLog(.init(login: ("ada", "lovelace")))
            let session = URLSession.logging(log)
            let task = session.dataTask(with: url)
            task.delegate = Meter()
            task.resume()
            try await log.completed()
            #expect(log.challenges == ["basic 0"])
            #expect(log.order == ["response 200", "data", "complete"])
            session.invalidateAndCancel()
            let other = URLSession(configuration: .ephemeral, delegate: Doorkeeper())
            let (_, response) = try await other.data(from: url, delegate: Meter())
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            other.invalidateAndCancel()
        }

        @Test("A session's delegate that forwards calls does not get them again")
        func relayed() async throws {
            let server = try await SessionServer()
            let url = try server.bin("/redirect/1")
            let session = URLSession(configuration: .ephemeral, delegate: Relay())
            for own in [nil, Meter()] {
                let (_, response) = try await session.data(from: url, delegate: own)
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
            }
            session.invalidateAndCancel()
        }

        @Test(
            "A data task that became a download ends only as a download", arguments: [false, true])
        func touched(_ cancels: Bool) async throws {
            let server = try await SessionServer()
            let toucher = Toucher(cancels: cancels)
            let session = URLSession(configuration: .ephemeral, delegate: toucher)
            // The cancelled download must not be complete before.
            let url = cancels ? try server.own("/halves") : try server.bin("/html")
            session.dataTask(with: url).resume()
            let end = cancels ? ["failed download"] : ["file", "complete download"]
            try await waitUntil {
                toucher.log.withLock { $0.last?.hasPrefix(cancels ? "failed" : "complete") } == true
            }
            #expect(toucher.log.withLock { $0 } == ["became"] + end)
            #expect(await session.allTasks.isEmpty)
            session.invalidateAndCancel()
        }

        // MARK: content that a delegate gives

        @Test("Without a stream from the delegate nothing is sent, and the task fails with -1021")
        func noStream() async throws {
            let server = try await SessionServer()
            let request = URLRequest("POST", try server.own("/echo"))
            let log = SessionLog()
            URLSession.logging(log).uploadTask(withStreamedRequest: request).resume()
            try await log.completed()
            #expect(log.order == ["stream", "complete -1021"])
            let alone = URLSession(configuration: .ephemeral)
            let task = alone.uploadTask(withStreamedRequest: request)
            task.resume()
            try await waitUntil { task.state == .completed }
            #expect(task.error?.sessionCode?.rawValue == -1021)
            #expect(server.seen("/echo").isEmpty)
        }

        @Test("Without a second stream after a redirect the task fails with -1021")
        func noSecondStream() async throws {
            let server = try await SessionServer()
            let streams = Locked([Data("given".utf8)])
            let log = SessionLog(
                .init(stream: {
                    streams.withLock { $0.popLast() }.map { InputStream(data: $0) }
                }))
            let target = try server.own("/echo")
            let url = try server.bin("/redirect-to?url=\(target)&status_code=307")
            let session = URLSession.logging(log)
            session.uploadTask(withStreamedRequest: URLRequest("POST", url)).resume()
            try await log.completed()
            #expect(log.order == ["stream", "redirect 307", "stream", "complete -1021"])
            #expect(server.seen("/echo").isEmpty)
        }

        // MARK: changes of a redirect by a delegate

        /// Fetches by a session whose delegate changes the request that follows a redirect.
        private func redirected(
            _ request: URLRequest, _ change: @escaping @Sendable (inout URLRequest) -> Void
        ) async throws -> (log: SessionLog, session: URLSession) {
            let log = SessionLog(
                .init(redirected: { request in
                    var request = request
                    change(&request)
                    return request
                }))
            let session = URLSession.logging(log)
            session.dataTask(with: request).resume()
            try await log.completed()
            return (log, session)
        }

        @Test("A redirect is followed without cookies if the delegate switches them off")
        func redirectWithoutCookies() async throws {
            let server = try await SessionServer()
            for isWanted in [true, false] {
                let request = URLRequest(url: try server.bin("/cookies/set?a=1"))
                let (log, session) = try await redirected(request) {
                    $0.httpShouldHandleCookies = isWanted
                }
                let stored = session.configuration.httpCookieStorage?.cookies
                #expect(stored?.map(\.name) == ["a"])
                let sent: [String: String] = isWanted ? ["a": "1"] : [:]
                #expect(try Echo(log.content).cookies == sent)
            }
        }

        @Test("A redirect is followed with the delegate's fields, content and cache policy")
        func redirectChanged() async throws {
            let server = try await SessionServer()
            let plain = URLRequest(url: try server.bin("/redirect-to?url=/headers"))
            let (fields, _) = try await redirected(plain) {
                $0.setValue("x", forHTTPHeaderField: "X-Added")
            }
            #expect(try Echo(fields.content).headers?["X-Added"] == "x")
            let post = URLRequest(
                "POST", try server.bin("/redirect-to?url=/anything&status_code=307"),
                ["Content-Type": "text/x"], body: Data("one".utf8))
            let (bytes, _) = try await redirected(post) { $0.httpBody = Data("two".utf8) }
            #expect(try Echo(bytes.content).data == "two")
            let (stream, _) = try await redirected(post) {
                $0.httpBodyStream = InputStream(data: Data("three".utf8))
            }
            #expect(try Echo(stream.content).data == "three")
            let (same, _) = try await redirected(post) { _ in }
            #expect(try Echo(same.content).data == "one")
            let (stored, _) = try await redirected(plain) {
                $0.cachePolicy = .returnCacheDataDontLoad
            }
            #expect(stored.order == ["redirect 302", "complete -1008"])
        }
    }
#endif

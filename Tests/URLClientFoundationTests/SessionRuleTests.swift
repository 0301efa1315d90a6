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

    /// A delegate without methods for content.
    private final class Watcher: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
        private let ends = Locked(0)
        var endCount: Int { ends.withLock { $0 } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            ends.withLock { $0 += 1 }
        }
    }

    @Suite("Rules of URLSession for delegates, ends and policies", .timeLimit(.minutes(3)))
    struct SessionRuleTests {
        @Test("Calls without a method in the task's delegate go to the session's delegate")
        func sessionDelegateBeside() async throws {
            let server = try await SessionServer()
            let cases: [(SessionLog.Answers, [String])] = [
                (.init(), ["response 200", "data"]),
                (.init(disposition: .becomeDownload), ["response 200", "became", "file"]),
            ]
            for (answers, order) in cases {
                let (log, watcher) = (SessionLog(answers), Watcher())
                let session = URLSession.logging(log)
                let task = session.dataTask(with: try server.bin("/html"))
                task.delegate = watcher
                task.resume()
                try await waitUntil { watcher.endCount == 1 }
                #expect(log.order == order)
                #expect(String(decoding: log.content, as: UTF8.self).contains("</html>"))
                session.invalidateAndCancel()
            }
        }

        @Test("A completed task releases its delegate", arguments: [false, true], [false, true])
        func taskDelegateLetGo(_ hasHandler: Bool, _ becomesDownload: Bool) async throws {
            let server = try await SessionServer()
            let disposition: URLSession.ResponseDisposition =
                becomesDownload ? .becomeDownload : .allow
            let session = URLSession.logging(SessionLog(.init(disposition: disposition)))
            let url = try server.bin("/html")
            let task =
                hasHandler
                ? session.dataTask(with: url, completionHandler: { _, _, _ in })
                : session.dataTask(with: url)
            weak var kept: Watcher?
            do {
                let watcher = Watcher()
                kept = watcher
                task.delegate = watcher
            }
            #expect(kept != nil && task.delegate != nil)
            task.resume()
            try await waitUntil { kept == nil }
            #expect(task.delegate == nil)
            session.invalidateAndCancel()
        }

        @Test("A session that is invalidated again after its end is released")
        func invalidatedTwice() async throws {
            weak var kept: URLSession?
            do {
                let log = SessionLog()
                let session = URLSession.logging(log)
                kept = session
                session.finishTasksAndInvalidate()
                try await log.wait { $0.last == "invalid" }
                session.invalidateAndCancel()
                session.finishTasksAndInvalidate()
            }
            try await waitUntil { kept == nil }
        }

        @Test("Only the handler gets the error of a task that is cancelled or starts too late")
        func handlerAlone() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log)
            let url = try server.own("/halves")
            let codes = Locked<[URLError.Code?]>([])
            let task = session.dataTask(with: url) { _, _, error in
                codes.withLock { $0.append(error?.sessionCode) }
            }
            task.progress.cancel()
            try await waitUntil { codes.withLock { $0.count } == 1 }
            #expect(codes.withLock { $0 } == [.cancelled] && task.state == .completed)
            session.dataTask(with: url).resume()
            try await log.wait { $0.contains("data") }
            session.finishTasksAndInvalidate()
            let late = await session.answer(URLRequest(url: url))
            #expect(late.0 == nil && late.2 != nil)
            server.open()
            try await log.wait { $0.last == "invalid" }
            #expect(log.order == ["response 200", "data", "complete", "invalid"])
        }

        @Test("Nothing is sent for a caller that is cancelled already")
        func cancelledCaller() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let url = try server.own("/echo")
            let call = Task {
                unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
                return try await session.data(from: url)
            }
            let error = await #expect(throws: URLError.self) { try await call.value }
            #expect(error?.code == .cancelled)
            #expect(server.seen("/echo").isEmpty)
        }

        @Test("A handler's response is stored without asking the session's delegate")
        func handlerStores() async throws {
            let server = try await SessionServer()
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let log = SessionLog(.init(stores: false))
            let session = URLSession.logging(log) { $0.urlCache = cache }
            let request = URLRequest(url: try server.bin("/cache/1000"))
            let (data, _, _) = await session.answer(request)
            #expect(data != nil && cache.cachedResponse(for: request)?.data == data)
            #expect(!log.entries.contains("cache"))
        }

        @Test("The progress of a task with a handler is updated")
        func progressOfHandler() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let task = session.dataTask(with: try server.own("/halves")) { _, _, _ in }
            task.resume()
            try await waitUntil { task.progress.completedUnitCount == 4 }
            #expect(task.progress.totalUnitCount == 8 && task.progress.fractionCompleted == 0.5)
            server.open()
            try await waitUntil { task.state == .completed && task.progress.isFinished }
        }

        @Test("The accept policy of a configuration does not change a shared storage")
        func acceptPolicy() async throws {
            let server = try await SessionServer()
            let storage = HTTPCookieStorage()
            func session(_ policy: HTTPCookie.AcceptPolicy?) -> URLSession {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.httpCookieStorage = storage
                if let policy { configuration.httpCookieAcceptPolicy = policy }
                return URLSession(configuration: configuration)
            }
            let (never, always, other) = (session(.never), session(.always), session(nil))
            let policies = [never, always, other].map { $0.configuration.httpCookieAcceptPolicy }
            #expect(policies == [.never, .always, .onlyFromMainDocumentDomain])
            #expect(storage.cookieAcceptPolicy == .onlyFromMainDocumentDomain)
            _ = await never.answer(URLRequest(url: try server.bin("/cookies/set?a=1")))
            #expect(storage.cookies == [])
            _ = await other.answer(URLRequest(url: try server.bin("/cookies/set?b=2")))
            #expect(storage.cookies?.map(\.name) == ["b"])
            // A configuration without a policy has that of the storage.
            storage.cookieAcceptPolicy = .never
            #expect(other.configuration.httpCookieAcceptPolicy == .never)
            _ = await other.answer(URLRequest(url: try server.bin("/cookies/set?c=3")))
            _ = await always.answer(URLRequest(url: try server.bin("/cookies/set?d=4")))
            #expect(storage.cookies?.map(\.name) == ["b", "d"])
        }
    }
#endif

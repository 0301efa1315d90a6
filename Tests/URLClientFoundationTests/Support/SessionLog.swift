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

    /// A delegate as in code for URLSession, which records its calls.
    final class SessionLog: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
        @unchecked Sendable
    {
        /// How it answers.
        struct Answers: Sendable {
            var follows = true
            var answersRedirects = true
            var disposition = URLSession.ResponseDisposition.allow
            var stream: (@Sendable () -> InputStream?)?
            var login: (user: String, password: String)?
            var stores = true
            /// Makes another response of the one that is to be stored.
            var revise: (@Sendable (CachedURLResponse) -> CachedURLResponse?)?
            /// Makes another request of the one that follows a redirect.
            var redirected: (@Sendable (URLRequest) -> URLRequest)?
        }

        private let answers: Answers
        private let log = Locked<[String]>([])
        private let received = Locked(Data())
        private let written = Locked<[Int64]>([])
        private let logins = Locked<[String]>([])
        private let unanswered = Locked<[@Sendable (URLRequest?) -> Void]>([])

        init(_ answers: Answers = Answers()) { self.answers = answers }

        /// All calls.
        var entries: [String] { log.withLock { $0 } }
        /// The calls that the tests of YMHTTP compare, with adjacent pieces of content as one.
        var order: [String] {
            entries.reduce(into: []) { order, entry in
                let isLeftOut = ["sent", "wrote", "metrics", "cache"].contains(entry)
                if !isLeftOut, entry != "data" || order.last != "data" { order.append(entry) }
            }
        }
        /// The received content, or that of the file.
        var content: Data { received.withLock { $0 } }
        /// The bytes sent or written, and the expected bytes, in the last call.
        var progress: [Int64] { written.withLock { $0 } }
        /// The method and the number of failures of each challenge.
        var challenges: [String] { logins.withLock { $0 } }

        private func add(_ entry: String) { log.withLock { $0.append(entry) } }

        /// Waits until a task has completed.
        func completed() async throws { try await wait { $0.last?.hasPrefix("complete") == true } }

        /// Waits for calls.
        func wait(_ condition: ([String]) -> Bool) async throws {
            try await waitUntil { condition(entries) }
        }

        func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
            add("invalid")
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            add("redirect \(response.statusCode)")
            guard answers.answersRedirects else {
                return unanswered.withLock { $0.append(completionHandler) }
            }
            let next = answers.redirected?(request) ?? request
            completionHandler(answers.follows ? next : nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    URLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void
        ) {
            let space = challenge.protectionSpace
            let method =
                space.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
                ? "digest"
                : space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic ? "basic" : "?"
            logins.withLock { $0.append("\(method) \(challenge.previousFailureCount)") }
            guard let login = answers.login, challenge.previousFailureCount == 0 else {
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            completionHandler(
                .useCredential,
                URLCredential(
                    user: login.user, password: login.password, persistence: .forSession))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            add("stream")
            completionHandler(answers.stream?())
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
            totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        ) {
            written.withLock { $0 = [totalBytesSent, totalBytesExpectedToSend] }
            add("sent")
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            add("metrics")
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            add(error.map { "complete \($0.sessionCode?.rawValue ?? 0)" } ?? "complete")
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            add("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
            completionHandler(answers.disposition)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            didBecome downloadTask: URLSessionDownloadTask
        ) {
            add("became")
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
        ) {
            received.withLock { $0.append(data) }
            add("data")
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            add("cache")
            if let revise = answers.revise { return completionHandler(revise(proposedResponse)) }
            completionHandler(answers.stores ? proposedResponse : nil)
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) {
            received.withLock { $0 = (try? Data(contentsOf: location)) ?? Data() }
            add("file")
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask,
            didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
            totalBytesExpectedToWrite: Int64
        ) {
            written.withLock { $0 = [totalBytesWritten, totalBytesExpectedToWrite] }
            add("wrote")
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask,
            didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64
        ) {
            add("resumed \(fileOffset) of \(expectedTotalBytes)")
        }
    }

    extension URLSession {
        /// A session with a delegate, a serial queue and empty storages.
        static func logging(
            _ log: SessionLog, _ change: (URLSessionConfiguration) -> Void = { _ in }
        ) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            change(configuration)
            return URLSession(configuration: configuration, delegate: log, delegateQueue: nil)
        }

        /// The values that the handler of a data task gets.
        func answer(
            _ request: URLRequest
        ) async -> (Data?, HTTPURLResponse?, URLError.Code?) {
            await withCheckedContinuation { done in
                dataTask(with: request) { data, response, error in
                    done.resume(returning: (data, response as? HTTPURLResponse, error?.sessionCode))
                }.resume()
            }
        }
    }
#endif

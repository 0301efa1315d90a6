#if FoundationNetworking
    public import Foundation

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    // Delegates by the names of URLSession's. Every method has a default, as each is optional there.
    // The defaults of a task's own delegate hand on the call to the session's delegate, if that has
    // methods of the kind.

    /// Is told about a session (`URLSessionDelegate`).
    public protocol ClientURLSessionDelegate: NSObjectProtocol, Sendable {
        /// The session has ended and lets go of its delegate.
        func urlSession(_ session: ClientURLSession, didBecomeInvalidWithError error: (any Error)?)

        /// A server or proxy asks for a login. Only asked when the task's delegate does not answer.
        func urlSession(
            _ session: ClientURLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    ClientURLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void)
    }

    /// Is told about tasks (`URLSessionTaskDelegate`).
    public protocol ClientURLSessionTaskDelegate: ClientURLSessionDelegate {
        /// A redirect came. The request that the handler is given is sent; nil makes the redirect
        /// itself the response.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void)

        /// A server or proxy asks this task for a login.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    ClientURLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void)

        /// The content has to be sent again, or was never given. Without a stream the task fails with
        /// `URLError.requestBodyStreamExhausted`, and nothing is sent.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

        /// Content was sent. The last count is -1 when the length is not known.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        )

        /// The metrics of the task are complete.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didFinishCollecting metrics: ClientURLSessionTaskMetrics)

        /// The task has ended; this is the last call for it. A task with a completion handler tells
        /// that instead.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didCompleteWithError error: (any Error)?)
    }

    /// Is told about data and upload tasks (`URLSessionDataDelegate`).
    public protocol ClientURLSessionDataDelegate: ClientURLSessionTaskDelegate {
        /// The head of the response is there. Content comes once the handler was called.
        func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (ClientURLSession.ResponseDisposition) -> Void)

        /// The task goes on as a download.
        func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didBecome downloadTask: ClientURLSessionDownloadTask)

        /// A piece of content.
        func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask, didReceive data: Data)

        /// The response was stored. The handler is given the response to store, another one, or nil
        /// for none; without an answer within the time between two pieces of content it is none, too.
        /// Asked for content of up to 5 MiB.
        func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
    }

    /// Is told about downloads (`URLSessionDownloadDelegate`).
    public protocol ClientURLSessionDownloadDelegate: ClientURLSessionTaskDelegate {
        /// The file is there. It is removed when this returns, unless it was moved.
        func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didFinishDownloadingTo location: URL)

        /// Content was written. The last count is -1 when the length is not known.
        func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
            totalBytesExpectedToWrite: Int64)

        /// The download goes on where another one ended.
        func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64)
    }

    extension ClientURLSessionDelegate {
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, didBecomeInvalidWithError error: (any Error)?
        ) {}
        /// Goes on as without a delegate.
        public func urlSession(
            _ session: ClientURLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    ClientURLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void
        ) { completionHandler(.performDefaultHandling, nil) }
    }

    private typealias AnyDelegate = any ClientURLSessionDelegate
    private typealias AnyTaskDelegate = any ClientURLSessionTaskDelegate
    private typealias AnyDataDelegate = any ClientURLSessionDataDelegate
    private typealias AnyDownloadDelegate = any ClientURLSessionDownloadDelegate

    extension ClientURLSessionTaskDelegate {
        /// Asks the session's delegate where this is a task's own; follows the redirect otherwise.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            guard let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self) else {
                return completionHandler(request)
            }
            next.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: completionHandler)
        }
        /// Asks the session's delegate.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    ClientURLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void
        ) {
            if let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self) {
                return next.urlSession(
                    session, task: task, didReceive: challenge,
                    completionHandler: completionHandler)
            }
            // The session's delegate may have no methods for tasks.
            if let next = task.nextDelegate(after: self, as: AnyDelegate.self) {
                return next.urlSession(
                    session, didReceive: challenge, completionHandler: completionHandler)
            }
            urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }
        /// Asks the session's delegate where this is a task's own; gives no content otherwise, which
        /// fails the task.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            guard let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self) else {
                return completionHandler(nil)
            }
            next.urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
        /// Tells the session's delegate where this is a task's own.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        ) {
            let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self)
            next?.urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }
        /// Tells the session's delegate where this is a task's own.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didFinishCollecting metrics: ClientURLSessionTaskMetrics
        ) {
            let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self)
            next?.urlSession(session, task: task, didFinishCollecting: metrics)
        }
        /// Tells the session's delegate where this is a task's own.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didCompleteWithError error: (any Error)?
        ) {
            let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self)
            next?.urlSession(session, task: task, didCompleteWithError: error)
        }
    }

    extension ClientURLSessionDataDelegate {
        /// Asks the session's delegate where this is a task's own; takes the content otherwise.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (ClientURLSession.ResponseDisposition) -> Void
        ) {
            guard let next = dataTask.nextDelegate(after: self, as: AnyDataDelegate.self) else {
                return completionHandler(.allow)
            }
            next.urlSession(
                session, dataTask: dataTask, didReceive: response,
                completionHandler: completionHandler)
        }
        /// Tells the session's delegate where this is a task's own.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didBecome downloadTask: ClientURLSessionDownloadTask
        ) {
            let next = dataTask.nextDelegate(after: self, as: AnyDataDelegate.self)
            next?.urlSession(session, dataTask: dataTask, didBecome: downloadTask)
        }
        /// Tells the session's delegate where this is a task's own.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask, didReceive data: Data
        ) {
            let next = dataTask.nextDelegate(after: self, as: AnyDataDelegate.self)
            next?.urlSession(session, dataTask: dataTask, didReceive: data)
        }
        /// Asks the session's delegate where this is a task's own; stores the response as it is
        /// otherwise.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            guard let next = dataTask.nextDelegate(after: self, as: AnyDataDelegate.self) else {
                return completionHandler(proposedResponse)
            }
            next.urlSession(
                session, dataTask: dataTask, willCacheResponse: proposedResponse,
                completionHandler: completionHandler)
        }
    }

    extension ClientURLSessionDownloadDelegate {
        /// Tells the session's delegate where this is a task's own.
        public func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
            totalBytesExpectedToWrite: Int64
        ) {
            let next = downloadTask.nextDelegate(after: self, as: AnyDownloadDelegate.self)
            next?.urlSession(
                session, downloadTask: downloadTask, didWriteData: bytesWritten,
                totalBytesWritten: totalBytesWritten,
                totalBytesExpectedToWrite: totalBytesExpectedToWrite)
        }
        /// Tells the session's delegate where this is a task's own.
        public func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64
        ) {
            let next = downloadTask.nextDelegate(after: self, as: AnyDownloadDelegate.self)
            next?.urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
                expectedTotalBytes: expectedTotalBytes)
        }
    }
#endif

#if FoundationNetworking
    public import Foundation

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    // Delegates with the names of URLSession's. Every method has a default, as URLSession's methods
    // are optional. The default of a task's own delegate forwards the call to the session's
    // delegate, if it conforms to the same protocol.

    /// Receives the events of a session (`URLSessionDelegate`).
    public protocol ClientURLSessionDelegate: NSObjectProtocol, Sendable {
        /// The session has ended and releases its delegate.
        func urlSession(_ session: ClientURLSession, didBecomeInvalidWithError error: (any Error)?)

        /// A server or proxy requires a credential. Called only if no task delegate handles the
        /// challenge.
        func urlSession(
            _ session: ClientURLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    ClientURLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void)
    }

    /// Receives the events of tasks (`URLSessionTaskDelegate`).
    public protocol ClientURLSessionTaskDelegate: ClientURLSessionDelegate {
        /// A redirect was received. The handler takes the request to send; nil makes the redirect
        /// itself the response.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void)

        /// A server or proxy requires a credential for this task.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    ClientURLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void)

        /// The task was created without content, or its content must be sent again. Without a
        /// stream the task fails with `URLError.requestBodyStreamExhausted`, and nothing is sent.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

        /// Content was sent. The last count is -1 if the length is unknown.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        )

        /// The metrics of the task are complete.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didFinishCollecting metrics: ClientURLSessionTaskMetrics)

        /// The task has ended; this is the last call for it. A task with a completion handler calls
        /// the handler instead.
        func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didCompleteWithError error: (any Error)?)
    }

    /// Receives the events of data and upload tasks (`URLSessionDataDelegate`).
    public protocol ClientURLSessionDataDelegate: ClientURLSessionTaskDelegate {
        /// The head of the response was received. Content is delivered once the handler was called.
        func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (ClientURLSession.ResponseDisposition) -> Void)

        /// The task has become a download.
        func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didBecome downloadTask: ClientURLSessionDownloadTask)

        /// A piece of content was received.
        func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask, didReceive data: Data)

        /// The response was stored. The handler takes the response to store, which may be changed,
        /// or nil to remove it. Without an answer within the idle timeout it is removed, too.
        /// Called only for content of up to 5 MiB.
        func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)
    }

    /// Receives the events of downloads (`URLSessionDownloadDelegate`).
    public protocol ClientURLSessionDownloadDelegate: ClientURLSessionTaskDelegate {
        /// The file is complete. It is removed when this method returns, unless it was moved.
        func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didFinishDownloadingTo location: URL)

        /// Content was written. The last count is -1 if the length is unknown.
        func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
            totalBytesExpectedToWrite: Int64)

        /// The download continues from its resume data.
        func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64)
    }

    extension ClientURLSessionDelegate {
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, didBecomeInvalidWithError error: (any Error)?
        ) {}
        /// Behaves as without a delegate.
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
        /// Forwards to the session's delegate if this is a task's own delegate; otherwise follows
        /// the redirect.
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
        /// Forwards to the session's delegate.
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
        /// Forwards to the session's delegate if this is a task's own delegate; otherwise returns
        /// no content, which fails the task.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            guard let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self) else {
                return completionHandler(nil)
            }
            next.urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
        /// Forwards to the session's delegate if this is a task's own delegate.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        ) {
            let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self)
            next?.urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }
        /// Forwards to the session's delegate if this is a task's own delegate.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didFinishCollecting metrics: ClientURLSessionTaskMetrics
        ) {
            let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self)
            next?.urlSession(session, task: task, didFinishCollecting: metrics)
        }
        /// Forwards to the session's delegate if this is a task's own delegate.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didCompleteWithError error: (any Error)?
        ) {
            let next = task.nextDelegate(after: self, as: AnyTaskDelegate.self)
            next?.urlSession(session, task: task, didCompleteWithError: error)
        }
    }

    extension ClientURLSessionDataDelegate {
        /// Forwards to the session's delegate if this is a task's own delegate; otherwise accepts
        /// the content.
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
        /// Forwards to the session's delegate if this is a task's own delegate.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didBecome downloadTask: ClientURLSessionDownloadTask
        ) {
            let next = dataTask.nextDelegate(after: self, as: AnyDataDelegate.self)
            next?.urlSession(session, dataTask: dataTask, didBecome: downloadTask)
        }
        /// Forwards to the session's delegate if this is a task's own delegate.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask, didReceive data: Data
        ) {
            let next = dataTask.nextDelegate(after: self, as: AnyDataDelegate.self)
            next?.urlSession(session, dataTask: dataTask, didReceive: data)
        }
        /// Forwards to the session's delegate if this is a task's own delegate; otherwise stores
        /// the response unchanged.
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
        /// Forwards to the session's delegate if this is a task's own delegate.
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
        /// Forwards to the session's delegate if this is a task's own delegate.
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

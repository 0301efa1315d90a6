#if FoundationNetworking
    public import Foundation

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    // Delegates by the names of URLSession's. Every method has a default, as each is optional there.

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

        /// The content has to be sent again, or was never given.
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

    extension ClientURLSessionTaskDelegate {
        /// Follows the redirect.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) { completionHandler(request) }
        /// Asks the session's delegate.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    ClientURLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void
        ) {
            urlSession(session, didReceive: challenge, completionHandler: completionHandler)
        }
        /// Gives no content.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) { completionHandler(nil) }
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didSendBodyData bytesSent: Int64, totalBytesSent: Int64, totalBytesExpectedToSend: Int64
        ) {}
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didFinishCollecting metrics: ClientURLSessionTaskMetrics
        ) {}
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, task: ClientURLSessionTask,
            didCompleteWithError error: (any Error)?
        ) {}
    }

    extension ClientURLSessionDataDelegate {
        /// Takes the content.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (ClientURLSession.ResponseDisposition) -> Void
        ) { completionHandler(.allow) }
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            didBecome downloadTask: ClientURLSessionDownloadTask
        ) {}
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask, didReceive data: Data
        ) {}
        /// Stores the response as it is.
        public func urlSession(
            _ session: ClientURLSession, dataTask: ClientURLSessionDataTask,
            willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) { completionHandler(proposedResponse) }
    }

    extension ClientURLSessionDownloadDelegate {
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
            totalBytesExpectedToWrite: Int64
        ) {}
        /// Does nothing.
        public func urlSession(
            _ session: ClientURLSession, downloadTask: ClientURLSessionDownloadTask,
            didResumeAtOffset fileOffset: Int64, expectedTotalBytes: Int64
        ) {}
    }
#endif

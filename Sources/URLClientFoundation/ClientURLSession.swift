#if FoundationNetworking
    public import Foundation
    internal import HTTPCodecs
    internal import ToolkitSystem
    public import URLClient

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// A session with the names of `URLSession`, based on ``/URLClient/ClientSession``.
    ///
    /// To use it in code that was written for `URLSession`, declare type aliases in your module.
    /// They win over imported names:
    ///
    /// ```swift
    /// typealias URLSession = ClientURLSession
    /// typealias URLSessionConfiguration = ClientURLSessionConfiguration
    /// typealias URLSessionTask = ClientURLSessionTask
    /// typealias URLSessionDataTask = ClientURLSessionDataTask
    /// typealias URLSessionDataDelegate = ClientURLSessionDataDelegate
    /// typealias HTTPCookieStorage = ClientHTTPCookieStorage
    /// typealias URLCache = ClientURLCache
    /// ```
    ///
    /// Requests, responses and errors are Foundation's: `URLRequest`, `HTTPURLResponse`,
    /// `URLError`. A session keeps its delegate until it is invalidated, and running tasks keep
    /// their session.
    public final class ClientURLSession: NSObject, @unchecked Sendable {
        /// The answer to a challenge (`URLSession.AuthChallengeDisposition`).
        public enum AuthChallengeDisposition: Int, Sendable {
            case useCredential
            case performDefaultHandling
            case cancelAuthenticationChallenge
            case rejectProtectionSpace
        }

        /// The treatment of a response (`URLSession.ResponseDisposition`).
        public enum ResponseDisposition: Int, Sendable {
            case cancel
            case allow
            case becomeDownload
        }

        /// The key of the resume data in the `userInfo` of a download's error.
        public static let downloadTaskResumeDataKey = "NSURLSessionDownloadTaskResumeData"

        /// A session with the default configuration and no delegate, which is never invalidated.
        public static let shared = ClientURLSession(
            configuration: .default, delegate: nil, delegateQueue: nil, isShared: true)

        /// The underlying session; use it for features that `URLSession` does not have.
        public let client: ClientSession
        /// The queue on which the delegate and completion handlers are called.
        public let delegateQueue: OperationQueue
        /// A description for the program's own use.
        public var sessionDescription: String? {
            get { text.withLock { $0 } }
            set { text.withLock { $0 = newValue } }
        }
        let bridge: DelegateBridge
        private let copied: ClientURLSessionConfiguration
        private let text = Locked<String?>(nil)
        private let isShared: Bool

        /// Creates a session.
        /// - Parameters:
        ///   - configuration: the settings, which are copied.
        ///   - delegate: receives the events; retained until the session is invalidated.
        ///   - delegateQueue: the queue on which the delegate and completion handlers are called;
        ///     nil for a new serial queue.
        public convenience init(
            configuration: ClientURLSessionConfiguration,
            delegate: (any ClientURLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil
        ) {
            self.init(
                configuration: configuration, delegate: delegate, delegateQueue: delegateQueue,
                isShared: false)
        }

        private init(
            configuration: ClientURLSessionConfiguration,
            delegate: (any ClientURLSessionDelegate)?, delegateQueue: OperationQueue?,
            isShared: Bool
        ) {
            self.isShared = isShared
            copied = ClientURLSessionConfiguration(copying: configuration)
            self.delegateQueue = delegateQueue ?? Self.makeQueue()
            bridge = DelegateBridge(delegate, on: self.delegateQueue)
            client = ClientSession(configuration.client, delegate: bridge)
            super.init()
            bridge.session = self
        }

        private static func makeQueue() -> OperationQueue {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            return queue
        }

        deinit { client.finishTasksAndInvalidate() }

        /// A copy of the settings.
        public var configuration: ClientURLSessionConfiguration {
            ClientURLSessionConfiguration(copying: copied)
        }

        /// The delegate; nil once the session was invalidated.
        public var delegate: (any ClientURLSessionDelegate)? { bridge.delegate }

        // MARK: the end

        /// Accepts no more tasks, and releases the delegate when the running tasks are over.
        public func finishTasksAndInvalidate() {
            guard !isShared else { return }
            bridge.keepSession(self)
            client.finishTasksAndInvalidate()
        }

        /// Cancels all tasks, accepts no more, and releases the delegate.
        public func invalidateAndCancel() {
            guard !isShared else { return }
            bridge.keepSession(self)
            client.invalidateAndCancel()
        }

        /// Removes all cookies, stored responses, credentials, the token and the hosts that require
        /// https, and closes the connections.
        public func reset(completionHandler: @escaping @Sendable () -> Void) {
            Task {
                await reset()
                delegateQueue.addOperation(completionHandler)
            }
        }

        /// Removes all cookies, stored responses, credentials, the token and the hosts that require
        /// https, also on the disk, and closes the connections.
        public func reset() async { await client.reset() }

        /// Writes all stored data to the disk, and closes the connections, so that the next request
        /// opens a new one.
        public func flush(completionHandler: @escaping @Sendable () -> Void) {
            Task {
                await flush()
                delegateQueue.addOperation(completionHandler)
            }
        }

        /// Writes all stored data to the disk, and closes the connections, so that the next request
        /// opens a new one.
        public func flush() async { await client.flush() }

        // MARK: running tasks

        /// The tasks that were resumed and have not ended.
        public var allTasks: [ClientURLSessionTask] {
            get async { bridge.tasks }
        }

        /// The data, upload and download tasks that were resumed and have not ended.
        public var tasks:
            (
                [ClientURLSessionDataTask], [ClientURLSessionUploadTask],
                [ClientURLSessionDownloadTask]
            )
        {
            get async { sortedTasks }
        }

        /// Passes the tasks that were resumed and have not ended to a handler.
        public func getAllTasks(
            completionHandler: @escaping @Sendable ([ClientURLSessionTask]) -> Void
        ) {
            let tasks = bridge.tasks
            delegateQueue.addOperation { completionHandler(tasks) }
        }

        /// Passes the data, upload and download tasks that were resumed and have not ended to a
        /// handler.
        public func getTasksWithCompletionHandler(
            _ completionHandler:
                @escaping @Sendable (
                    [ClientURLSessionDataTask], [ClientURLSessionUploadTask],
                    [ClientURLSessionDownloadTask]
                ) -> Void
        ) {
            let (data, uploads, downloads) = sortedTasks
            delegateQueue.addOperation { completionHandler(data, uploads, downloads) }
        }

        private var sortedTasks:
            (
                [ClientURLSessionDataTask], [ClientURLSessionUploadTask],
                [ClientURLSessionDownloadTask]
            )
        {
            let tasks = bridge.tasks
            let uploads = tasks.compactMap { $0 as? ClientURLSessionUploadTask }
            let data = tasks.compactMap { task in
                task is ClientURLSessionUploadTask ? nil : task as? ClientURLSessionDataTask
            }
            return (data, uploads, tasks.compactMap { $0 as? ClientURLSessionDownloadTask })
        }
    }

    extension ClientURLSessionConfiguration {
        convenience init(copying other: ClientURLSessionConfiguration) {
            self.init(client: other.client)
            take(other)
        }
    }
#endif

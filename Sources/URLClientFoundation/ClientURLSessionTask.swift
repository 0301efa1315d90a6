#if FoundationNetworking
    public import Foundation
    internal import HTTPCodecs
    internal import HTTPParser
    internal import ToolkitSystem
    internal import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// A task of a ``ClientURLSession``, with the names of `URLSessionTask`.
    public class ClientURLSessionTask: NSObject, @unchecked Sendable {
        private struct Values {
            var delegate: (any ClientURLSessionTaskDelegate)?
            var response: URLResponse?
            var written: Int64 = 0
            var sent: Int64 = 0
            /// The content so far of a response that is being stored, to be shown to the delegate.
            var storable: Data?
        }

        let core: TransferTask
        // A running task retains its session.
        let session: ClientURLSession
        /// Whether a completion handler is called at the end in place of the delegate.
        let hasHandler: Bool
        private let values = Locked(Values())
        private let shownProgress = Progress(totalUnitCount: -1)

        init(_ core: TransferTask, _ session: ClientURLSession, hasHandler: Bool = false) {
            (self.core, self.session, self.hasHandler) = (core, session, hasHandler)
            super.init()
            shownProgress.isCancellable = true
            shownProgress.cancellationHandler = { [weak self] in self?.cancel() }
        }

        /// The progress of the task; cancelling it cancels the task. Without a delegate for the
        /// content, the figures are updated only when this property is read.
        public var progress: Progress {
            if core.state != .completed {
                showProgress()
                // The task may have ended meanwhile: the last update must show the end.
                if core.state == .completed { showEnd() }
            }
            return shownProgress
        }

        /// The number of the task in its session.
        public var taskIdentifier: Int { core.identifier }
        /// The request that the task was created with.
        public var originalRequest: URLRequest? { URLRequest(core.originalRequest) }
        /// The request after redirects.
        public var currentRequest: URLRequest? { URLRequest(core.currentRequest) }
        /// The response once its head was received; an `HTTPURLResponse`.
        public var response: URLResponse? {
            if let known = values.withLock({ $0.response }) { return known }
            guard let response = core.response?.urlResponse else { return nil }
            // Keep the response only at the end: after a redirect another one may follow.
            if core.state == .completed { values.withLock { $0.response = response } }
            return response
        }
        /// The error that ended the task; a `URLError`.
        public var error: (any Error)? { core.error?.sessionError }
        /// The state of the task.
        public var state: State { State(core.state) }
        /// A description for the program's own use.
        public var taskDescription: String? {
            get { core.taskDescription.isEmpty ? nil : core.taskDescription }
            set { core.taskDescription = newValue ?? "" }
        }
        /// The priority, 0...1. Tasks with a higher priority are sent first.
        public var priority: Float {
            get { Float(core.priority) }
            set { core.priority = Double(newValue) }
        }
        /// Receives the events of this task in place of the session's delegate. The session's
        /// delegate gets the calls for which this delegate has no method. Set it before the task is
        /// resumed; it becomes nil once the task is over.
        public var delegate: (any ClientURLSessionTaskDelegate)? {
            get { values.withLock { $0.delegate } }
            set {
                // Release the old delegate outside of the lock: its deinitializer may use this
                // task.
                let old = values.withLock { values in
                    defer { values.delegate = newValue }
                    return values.delegate
                }
                withExtendedLifetime(old) {}
            }
        }

        /// How many bytes of content were received.
        public var countOfBytesReceived: Int64 { core.countOfBytesReceived }
        /// The expected total in bytes; -1 if unknown.
        public var countOfBytesExpectedToReceive: Int64 { core.countOfBytesExpectedToReceive ?? -1 }
        /// How many bytes of content were sent.
        public var countOfBytesSent: Int64 { core.countOfBytesSent }
        /// The expected total in bytes; -1 if unknown.
        public var countOfBytesExpectedToSend: Int64 { core.countOfBytesExpectedToSend ?? -1 }

        /// Starts or resumes the task.
        public func resume() {
            session.bridge.add(self)
            core.resume()
        }
        /// Suspends the task until it is resumed as often as it was suspended.
        public func suspend() { core.suspend() }
        /// Ends the task with `URLError.cancelled`.
        public func cancel() {
            session.bridge.add(self)
            core.cancel()
        }

        /// The states of a task (`URLSessionTask.State`).
        public enum State: Int, Sendable {
            case running, suspended, canceling, completed

            init(_ state: TransferTask.State) {
                self =
                    switch state {
                    case .running: .running
                    case .suspended: .suspended
                    case .canceling: .canceling
                    case .completed: .completed
                    }
            }
        }

        /// The default priority.
        public class var defaultPriority: Float { 0.5 }
        /// A priority below the default.
        public class var lowPriority: Float { 0.25 }
        /// A priority above the default.
        public class var highPriority: Float { 0.75 }

        // MARK: from delegates and the bridge

        /// The session's delegate, which gets the calls that the task's own delegate does not
        /// implement. Nil if the caller is not the task's own delegate: the session's delegate may
        /// forward calls to it, and they must not return.
        func nextDelegate<Delegate>(after own: AnyObject, as kind: Delegate.Type) -> Delegate? {
            guard delegate === own, let next = session.delegate, next !== own else { return nil }
            return next as? Delegate
        }

        func showProgress() {
            let now = core.currentProgress
            let (total, isTooMuch) = (now.expectedToReceive ?? 0).addingReportingOverflow(
                now.expectedToSend ?? 0)
            // A server may announce any length.
            if total > 0, !isTooMuch { shownProgress.totalUnitCount = total }
            shownProgress.completedUnitCount = now.received + now.sent
        }

        func showEnd() {
            showProgress()
            guard core.error == nil else { return }
            shownProgress.totalUnitCount = max(shownProgress.completedUnitCount, 1)
            shownProgress.completedUnitCount = shownProgress.totalUnitCount
        }

        /// How much was written since the last call.
        func newlyWritten(_ total: Int64) -> Int64 {
            values.withLock { values in
                defer { values.written = total }
                return max(0, total - values.written)
            }
        }

        /// How much was sent since the last call.
        func newlySent(_ total: Int64) -> Int64 {
            values.withLock { values in
                defer { values.sent = total }
                return max(0, total - values.sent)
            }
        }

        /// The most content, in bytes, that is shown to the delegate before it is stored.
        private static let storableLimit = 5 << 20

        func beginStorable() { values.withLock { $0.storable = Data() } }

        func addStorable(_ content: [UInt8]) {
            values.withLock { values in
                guard let count = values.storable?.count else { return }
                if content.count > Self.storableLimit - count {
                    values.storable = nil
                } else {
                    values.storable?.append(contentsOf: content)
                }
            }
        }

        func takeStorable() -> Data? { values.withLock { $0.storable.take() } }
    }

    /// A task that receives content in memory (`URLSessionDataTask`).
    public class ClientURLSessionDataTask: ClientURLSessionTask, @unchecked Sendable {}

    /// A task that sends content (`URLSessionUploadTask`).
    public final class ClientURLSessionUploadTask: ClientURLSessionDataTask, @unchecked Sendable {}

    /// A task that writes a file (`URLSessionDownloadTask`).
    public final class ClientURLSessionDownloadTask: ClientURLSessionTask, @unchecked Sendable {
        /// Cancels the task. The handler receives the resume data; nil if the server cannot send
        /// the rest.
        public func cancel(
            byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void
        ) {
            Task { completionHandler(await cancelByProducingResumeData()) }
        }

        /// Cancels the task and returns the resume data; nil if the server cannot send the rest.
        public func cancelByProducingResumeData() async -> Data? {
            session.bridge.add(self)
            guard let download = core as? DownloadTask,
                let data = await download.cancelProducingResumeData()
            else { return nil }
            return data.encoded
        }
    }
#endif

#if FoundationNetworking
    public import Foundation
    internal import HTTPCodecs
    internal import HTTPParser
    internal import ToolkitSystem
    internal import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// A task of a ``ClientURLSession``, by the names of `URLSessionTask`.
    public class ClientURLSessionTask: NSObject, @unchecked Sendable {
        private struct Values {
            var delegate: (any ClientURLSessionTaskDelegate)?
            var response: URLResponse?
            var written: Int64 = 0
            var sent: Int64 = 0
            /// The content so far of a response that is stored, so that the delegate can look at it.
            var storable: Data?
        }

        let core: TransferTask
        // A running task keeps its session.
        let session: ClientURLSession
        /// Whether a completion handler is called at the end, in place of the delegate.
        let hasHandler: Bool
        private let values = Locked(Values())
        private let shownProgress = Progress(totalUnitCount: -1)

        init(_ core: TransferTask, _ session: ClientURLSession, hasHandler: Bool = false) {
            (self.core, self.session, self.hasHandler) = (core, session, hasHandler)
            super.init()
            shownProgress.isCancellable = true
            shownProgress.cancellationHandler = { [weak self] in self?.cancel() }
        }

        /// How far the task is; cancelling it cancels the task. Ask the task for it again to see
        /// the latest figures: without a delegate for its content they are brought up to date then.
        public var progress: Progress {
            if core.state != .completed {
                showProgress()
                // It may have ended meanwhile: what was shown last must be the end.
                if core.state == .completed { showEnd() }
            }
            return shownProgress
        }

        /// The number of the task in its session.
        public var taskIdentifier: Int { core.identifier }
        /// The request as it was given.
        public var originalRequest: URLRequest? { URLRequest(core.originalRequest) }
        /// The request after redirects.
        public var currentRequest: URLRequest? { URLRequest(core.currentRequest) }
        /// The response once its head is there; an `HTTPURLResponse`.
        public var response: URLResponse? {
            if let known = values.withLock({ $0.response }) { return known }
            guard let response = core.response?.urlResponse else { return nil }
            // The response of a redirect may be followed by another one until the task is over.
            if core.state == .completed { values.withLock { $0.response = response } }
            return response
        }
        /// The error that ended the task; a `URLError`.
        public var error: (any Error)? { core.error?.sessionError }
        /// The state of the task.
        public var state: State { State(core.state) }
        /// A text for the program's own use.
        public var taskDescription: String? {
            get { core.taskDescription.isEmpty ? nil : core.taskDescription }
            set { core.taskDescription = newValue ?? "" }
        }
        /// From 0 to 1; tasks of a higher one are sent first.
        public var priority: Float {
            get { Float(core.priority) }
            set { core.priority = Double(newValue) }
        }
        /// Is told about this task in place of the session's delegate, which gets the calls that
        /// this one has no methods for. Set it before the task is resumed; it is nil again once the
        /// task is over.
        public var delegate: (any ClientURLSessionTaskDelegate)? {
            get { values.withLock { $0.delegate } }
            set {
                // The old one goes outside of the lock: its end may ask for this task.
                let old = values.withLock { values in
                    defer { values.delegate = newValue }
                    return values.delegate
                }
                withExtendedLifetime(old) {}
            }
        }

        /// How many bytes of content came.
        public var countOfBytesReceived: Int64 { core.countOfBytesReceived }
        /// -1 when it is not known.
        public var countOfBytesExpectedToReceive: Int64 { core.countOfBytesExpectedToReceive ?? -1 }
        /// How many bytes of content were sent.
        public var countOfBytesSent: Int64 { core.countOfBytesSent }
        /// -1 when it is not known.
        public var countOfBytesExpectedToSend: Int64 { core.countOfBytesExpectedToSend ?? -1 }

        /// Starts the task, or goes on with it.
        public func resume() {
            session.bridge.add(self)
            core.resume()
        }
        /// Holds the task until it is resumed as often as it was suspended.
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

        /// The priority of a task that sets none.
        public class var defaultPriority: Float { 0.5 }
        /// A priority below the default.
        public class var lowPriority: Float { 0.25 }
        /// A priority above the default.
        public class var highPriority: Float { 0.75 }

        // MARK: from delegates and the bridge

        /// The session's delegate, which gets a call that the task's own delegate has no method for.
        /// Nil where the caller is any other delegate: the session's may hand on calls to it, and
        /// they must not come back.
        func nextDelegate<Delegate>(after own: AnyObject, as kind: Delegate.Type) -> Delegate? {
            guard delegate === own, let next = session.delegate, next !== own else { return nil }
            return next as? Delegate
        }

        func showProgress() {
            let now = core.currentProgress
            let (total, isTooMuch) = (now.expectedToReceive ?? 0).addingReportingOverflow(
                now.expectedToSend ?? 0)
            // A server may claim any length.
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

        /// The most content that the delegate is shown before it is stored.
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

    /// A task that gives content in memory (`URLSessionDataTask`).
    public class ClientURLSessionDataTask: ClientURLSessionTask, @unchecked Sendable {}

    /// A task that sends content (`URLSessionUploadTask`).
    public final class ClientURLSessionUploadTask: ClientURLSessionDataTask, @unchecked Sendable {}

    /// A task that writes a file (`URLSessionDownloadTask`).
    public final class ClientURLSessionDownloadTask: ClientURLSessionTask, @unchecked Sendable {
        /// Cancels the task; the handler is given what another one goes on with, or nil when the
        /// server cannot send the rest.
        public func cancel(
            byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void
        ) {
            Task { completionHandler(await cancelByProducingResumeData()) }
        }

        /// Cancels the task and gives what another one goes on with, or nil when the server cannot
        /// send the rest.
        public func cancelByProducingResumeData() async -> Data? {
            session.bridge.add(self)
            guard let download = core as? DownloadTask,
                let data = await download.cancelProducingResumeData()
            else { return nil }
            return data.encoded
        }
    }
#endif

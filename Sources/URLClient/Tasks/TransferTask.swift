internal import HTTPCodecs
internal import Synchronization
internal import ToolkitSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The parts from which a task's runner is made.
struct TaskPlan: @unchecked Sendable {
    let policy: TransactionPolicy
    let sink: ContentSink
}

/// A task of a session: data, upload or download.
///
/// Tasks are created suspended; ``resume()`` starts them. All members may be used from any thread.
public class TransferTask: @unchecked Sendable {
    /// The state of a task.
    public enum State: Sendable, Hashable {
        /// The task is running, or waits in the queue.
        case running
        /// The task was not started, or is suspended: its connection is not read.
        case suspended
        /// The task was cancelled and will soon be completed.
        case canceling
        /// The task is over.
        case completed
    }

    struct Shared: Sendable {
        var state = State.suspended
        var suspensions = 1
        var isStarted = false
        /// Whether it is over, though the delegate may not have been notified yet.
        var isOver = false
        var current: ClientRequest?
        var response: ClientResponse?
        var error: ClientError?
        var metrics: ClientMetrics?
        /// The content, when a caller collects it.
        var content: [UInt8] = []
        var keepsContent = false
        /// Whether the task was created with a completion handler.
        var hasHandler = false
        var collector: Waiter<Void>?
        /// Whether a partial file is kept; nil to keep it after failures, but not after `cancel()`.
        var keepsPartial: Bool?
        /// See ``DownloadTask/onResumable``.
        var onResumable: (@Sendable (ResumeData?) -> Void)?
        var text = ""
        var priority: Double
        var watchers: [AsyncStream<TransferProgress>.Continuation] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// The runner is made when the task starts. Task and runner retain each other until the
        /// task is over.
        var runner: TransactionRunner?
        var plan: TaskPlan?
        /// The URL under which the server keeps the received part of an upload.
        var uploadURL: URL?
        /// A task that is not over retains its session.
        var session: ClientSession?
    }

    /// Called at the end of the task.
    typealias Completion = @Sendable (TransferTask, [UInt8]) -> Void

    /// The number of the task within its session, from 1.
    public let identifier: Int
    /// The request that the task was created with.
    public let originalRequest: ClientRequest
    let loop: ClientLoop
    let counters: TaskCounters
    let shared: Locked<Shared>
    /// The events for the delegate; nil without a delegate.
    let events: TaskEvents?
    let wantsMetrics: Bool
    private let completion: Completion?
    private let watched = Atomic(false)

    init(
        _ identifier: Int, _ request: ClientRequest, _ loop: ClientLoop, events: TaskEvents?,
        wantsMetrics: Bool, completion: Completion?
    ) {
        self.identifier = identifier
        originalRequest = request
        self.loop = loop
        self.events = events
        self.wantsMetrics = wantsMetrics
        self.completion = completion
        counters = TaskCounters()
        shared = Locked(Shared(priority: request.priority))
    }

    /// Creates a task that takes over the state of another.
    init(adopting other: TransferTask) {
        identifier = other.identifier
        originalRequest = other.originalRequest
        loop = other.loop
        events = other.events
        wantsMetrics = other.wantsMetrics
        completion = nil
        counters = other.counters
        shared = other.shared
        watched.store(other.isWatched, ordering: .relaxed)
    }

    /// The request of the current transaction, as sent.
    public var currentRequest: ClientRequest {
        shared.withLock { $0.current } ?? originalRequest
    }
    /// The response, once its head has arrived.
    public var response: ClientResponse? { shared.withLock { $0.response } }
    /// The reason for the failure; nil while the task is running, and after success.
    public var error: ClientError? { shared.withLock { $0.error } }
    /// The state of the task.
    public var state: State { shared.withLock { $0.state } }
    /// The times and counts of the task, once it is over.
    public var metrics: ClientMetrics? { shared.withLock { $0.metrics } }
    /// Whether the task was created with a completion handler.
    package var hasHandler: Bool { shared.withLock { $0.hasHandler } }
    /// A description for human readers; the client does not use it.
    public var taskDescription: String {
        get { shared.withLock { $0.text } }
        set { shared.withLock { $0.text = newValue } }
    }

    /// How many bytes of the response's content have arrived, before content decoding.
    public var countOfBytesReceived: Int64 { counters.received }
    /// How many bytes will arrive in total; nil if unknown.
    public var countOfBytesExpectedToReceive: Int64? { counters.toReceive }
    /// How many bytes of the request's content were sent in the current transaction.
    public var countOfBytesSent: Int64 { counters.sent }
    /// How many bytes will be sent in total; nil if unknown.
    public var countOfBytesExpectedToSend: Int64? { counters.toSend }

    /// The priority when not all tasks can run, 0...1. A change applies from the next transaction.
    public var priority: Double {
        get { shared.withLock { $0.priority } }
        set {
            let runner = shared.withLock { shared -> TransactionRunner? in
                shared.priority = newValue
                return shared.runner
            }
            guard let runner else { return }
            loop.post { runner.priority = newValue }
        }
    }

    // MARK: control

    /// Starts or resumes the task. Calls to ``suspend()`` are counted, and each needs one call of
    /// this method. A new task counts as suspended once. Further calls do nothing.
    public func resume() {
        resume(entersLoop: false)
    }

    /// - Parameter entersLoop: whether the calling thread may run the loop if no other thread does;
    ///   the caller must hold no lock. See ``InlineLoop``.
    func resume(entersLoop: Bool) {
        let step = shared.withLock { shared -> (Bool, TransactionRunner)? in
            guard shared.state == .suspended, let runner = madeRunner(&shared) else { return nil }
            shared.suspensions -= 1
            guard shared.suspensions == 0 else { return nil }
            shared.state = .running
            defer { shared.isStarted = true }
            return (!shared.isStarted, runner)
        }
        guard let (isFirst, runner) = step else { return }
        let isAccepted =
            if entersLoop, isFirst {
                loop.inline.start(runner)
            } else {
                loop.post { isFirst ? runner.start() : self.applyState(to: runner) }
            }
        if !isAccepted { refuse() }
    }

    /// Starts the task for a caller that waits for it. If the calling Swift task is already
    /// cancelled, nothing is sent.
    func startForWaiter() {
        Task.isCancelled ? cancel() : resume(entersLoop: true)
    }

    /// Stops the task until it is resumed: nothing is read from its connection or sent on it. Calls
    /// are counted.
    public func suspend() {
        let runner = shared.withLock { shared -> TransactionRunner? in
            guard shared.state == .running || shared.state == .suspended else { return nil }
            shared.suspensions += 1
            guard shared.state == .running else { return nil }
            shared.state = .suspended
            return shared.runner
        }
        if let runner { loop.post { self.applyState(to: runner) } }
    }

    /// Applies the current state on the loop. When threads suspend and resume a task at the same
    /// time, their work may arrive in another order than their changes of the state.
    private func applyState(to runner: TransactionRunner) {
        switch state {
        case .running: runner.resume()
        case .suspended: runner.suspend()
        case .canceling, .completed: break
        }
    }

    /// Cancels the task, which soon ends with ``ClientError/Kind/cancelled``.
    public func cancel() {
        cancel(keepingPartial: false)
    }

    func cancel(keepingPartial: Bool) {
        let runner = shared.withLock { shared -> TransactionRunner? in
            guard shared.state == .running || shared.state == .suspended else { return nil }
            shared.state = .canceling
            shared.isStarted = true
            if keepingPartial { shared.keepsPartial = true }
            return madeRunner(&shared)
        }
        guard let runner else { return }
        if !loop.post({ runner.cancel() }) { refuse() }
    }

    /// The runner, made when it is first needed.
    private func madeRunner(_ shared: inout Shared) -> TransactionRunner? {
        if let runner = shared.runner { return runner }
        guard let plan = shared.plan.take() else { return nil }
        let runner = TransactionRunner(loop, plan.policy, self, plan.sink)
        runner.priority = shared.priority
        (plan.sink as? DelegateSink)?.runner = runner
        events?.belong(to: self)
        shared.runner = runner
        return runner
    }

    /// Makes the runner of a task that is about to start.
    func prepare() -> TransactionRunner? { shared.withLock { madeRunner(&$0) } }

    private func refuse() {
        complete(ClientError(.sessionInvalidated), [], nil)
    }

    /// Waits until the task is over, and starts it if it was not started.
    /// - Returns: the response.
    /// - Throws: the task's error.
    @discardableResult
    public func finished() async throws(ClientError) -> ClientResponse {
        Task.isCancelled ? cancel() : startIfFresh()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = shared.withLock { shared -> Bool in
                    guard !shared.isOver else { return true }
                    shared.waiters.append(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
        let (error, response) = shared.withLock { ($0.error, $0.response) }
        if let error { throw error }
        guard let response else { throw ClientError(.internalFailure, "no response") }
        return response
    }

    func startIfFresh() {
        if shared.withLock({ !$0.isStarted && $0.state == .suspended && $0.suspensions == 1 }) {
            resume()
        }
    }

    // MARK: progress

    /// The progress of the task: the latest figures, up to twenty times a second, until the task is
    /// over. Reading this starts a task that was not started.
    public var progress: AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        watched.store(true, ordering: .releasing)
        let isOver = shared.withLock { shared -> Bool in
            guard !shared.isOver else { return true }
            shared.watchers.append(continuation)
            return false
        }
        if isOver {
            continuation.yield(currentProgress)
            continuation.finish()
        } else {
            startIfFresh()
        }
        return stream
    }

    /// The current progress of the task.
    public var currentProgress: TransferProgress {
        TransferProgress(
            received: counters.received, newlyReceived: counters.newlyReceived,
            expectedToReceive: counters.toReceive,
            sent: counters.sent, expectedToSend: counters.toSend)
    }

    var isWatched: Bool { events != nil || watched.load(ordering: .acquiring) }

    /// Called on the session's loop.
    func notifyProgress(isLast: Bool) {
        let progress = currentProgress
        let watchers = shared.withLock { shared -> [AsyncStream<TransferProgress>.Continuation] in
            defer { if isLast { shared.watchers = [] } }
            return shared.watchers
        }
        for watcher in watchers {
            watcher.yield(progress)
            if isLast { watcher.finish() }
        }
        events?.progressed(self, progress)
    }

    // MARK: from the runner

    func setCurrent(_ request: ClientRequest) {
        guard events != nil || wantsMetrics else { return }
        shared.withLock { $0.current = request }
    }

    func setResponse(_ response: ClientResponse) {
        shared.withLock { $0.response = response }
    }

    func interimReceived(_ response: ClientResponse.Interim) {
        if self is UploadTask, let url = response.uploadURL(for: currentRequest) {
            shared.withLock { $0.uploadURL = url }
        }
        events?.interim(self, response)
    }

    var keepsPartial: Bool? { shared.withLock { $0.keepsPartial } }
    /// The session, until the task is over.
    var session: ClientSession? { shared.withLock { $0.session } }

    func becomeDownload(_ sink: FileSink, isTemporary: Bool) -> DownloadTask {
        let download = DownloadTask(adopting: self, sink, isTemporary: isTemporary)
        events?.became(self, download)
        return download
    }

    /// Completes the task; only the first call has an effect.
    func complete(_ error: ClientError?, _ content: [UInt8], _ metrics: ClientMetrics?) {
        var watchers: [AsyncStream<TransferProgress>.Continuation] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
        var collector: Waiter<Void>?
        // Release these outside of the lock: it may take a while, or take the same lock.
        var (runner, plan, session) = (TransactionRunner?.none, TaskPlan?.none, ClientSession?.none)
        let isFirst = shared.withLock { shared -> Bool in
            guard !shared.isOver else { return false }
            shared.isOver = true
            if events == nil { shared.state = .completed }
            shared.error = error
            if metrics != nil { shared.metrics = metrics }
            if shared.keepsContent { shared.content = content }
            swap(&shared.watchers, &watchers)
            swap(&shared.waiters, &waiters)
            collector = shared.collector.take()
            swap(&shared.runner, &runner)
            swap(&shared.plan, &plan)
            swap(&shared.session, &session)
            return true
        }
        guard isFirst else { return }
        for watcher in watchers { watcher.finish() }
        finishDelivery(error)
        if let metrics, wantsMetrics { events?.collected(self, metrics) }
        events?.completed(self, error)
        completion?(self, content)
        for waiter in waiters { waiter.resume() }
        collector?.resume()
        withExtendedLifetime((runner, plan, session)) {}
    }

    /// Sets the state before the delegate's last call, on its queue.
    func becomeCompleted() {
        shared.withLock { $0.state = .completed }
    }

    /// The work of a subclass at the end, before the task counts as over.
    func finishDelivery(_ error: ClientError?) {}
}

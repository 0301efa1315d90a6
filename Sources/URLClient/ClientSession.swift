public import Dispatch
internal import HTTPCodecs
internal import ToolkitSystem

/// Sends requests and receives responses over connections that are kept and shared.
///
/// ```swift
/// let session = ClientSession()
/// let (content, response) = try await session.data(for: ClientRequest(.get, "https://example.org/"))
/// ```
///
/// One session is enough for a program: each session has its own connections and one thread. A
/// session ends when it is released and all of its tasks are over.
public final class ClientSession: Sendable {
    struct Shared: Sendable {
        var lastIdentifier = 0
        var isInvalid = false
        /// Held until the session is invalid, as with `NSURLSession`.
        var delegate: (any ClientSessionDelegate)?
    }

    /// The configuration that the session was created with. It cannot be changed later.
    public let configuration: ClientConfiguration
    let loop: ClientLoop
    let policy: TransactionPolicy
    let delegateQueue: DelegateQueue
    private let shared: Locked<Shared>
    private let isShared: Bool
    /// The stored responses that are being revalidated.
    private let revalidations = Locked(Set<String>())

    /// A session for the whole program, with the default configuration. It cannot be invalidated.
    public static let shared = ClientSession(.default, delegate: nil, delegateQueue: nil, true)

    /// Creates a session.
    /// - Parameters:
    ///   - configuration: the settings of the session.
    ///   - delegate: receives the events of the session and its tasks; retained until the session
    ///     is invalid.
    ///   - delegateQueue: the queue on which the delegate and completion handlers are called, one
    ///     call at a time even if the queue is concurrent. Nil for the system's threads.
    public convenience init(
        _ configuration: ClientConfiguration = .default,
        delegate: (any ClientSessionDelegate)? = nil, delegateQueue: DispatchQueue? = nil
    ) {
        self.init(configuration, delegate: delegate, delegateQueue: delegateQueue, false)
    }

    private init(
        _ configuration: ClientConfiguration, delegate: (any ClientSessionDelegate)?,
        delegateQueue: DispatchQueue?, _ isShared: Bool
    ) {
        self.configuration = configuration
        self.isShared = isShared
        self.delegateQueue = DelegateQueue(delegateQueue)
        loop = ClientLoop(configuration)
        policy = TransactionPolicy(configuration)
        shared = Locked(Shared(delegate: delegate))
        loop.start()
    }

    deinit {
        finishTasksAndInvalidate()
    }

    /// The delegate; nil once the session is invalid.
    public var delegate: (any ClientSessionDelegate)? { shared.withLock { $0.delegate } }

    // MARK: the end

    /// Accepts no more tasks, and ends when the running tasks are over; then the delegate is
    /// notified and released. Tasks that were created but not started fail when they are started.
    /// The shared session ignores this call.
    public func finishTasksAndInvalidate() {
        if invalidate() { end() }
    }

    private func end() {
        let (shared, queue) = (shared, delegateQueue)
        loop.end {
            let delegate = shared.withLock { shared -> (any ClientSessionDelegate)? in
                defer { shared.delegate = nil }
                return shared.delegate
            }
            guard let delegate else { return }
            queue.send { delegate.sessionDidBecomeInvalid() }
        }
    }

    /// Cancels all tasks and accepts no more. The shared session ignores this call.
    public func invalidateAndCancel() {
        guard !isShared else { return }
        // Tasks that are started after this line fail.
        let isFirst = invalidate()
        let loop = loop
        loop.post {
            for runner in loop.runners.all { runner.task.cancel() }
            loop.webSockets.cancelAll()
        }
        if isFirst { end() }
    }

    /// Marks the session as invalid; true for the first call. The shared session is never invalid.
    private func invalidate() -> Bool {
        guard !isShared else { return false }
        return shared.withLock { shared in
            defer { shared.isInvalid = true }
            return !shared.isInvalid
        }
    }

    /// The tasks that run or were suspended after they had been started.
    public var allTasks: [TransferTask] {
        get async {
            await withCheckedContinuation { continuation in
                let loop = loop
                let isTaken = loop.post {
                    continuation.resume(returning: loop.runners.all.map(\.task))
                }
                if !isTaken { continuation.resume(returning: []) }
            }
        }
    }

    /// How often the session has checked the deadlines of its tasks; 0 once it has ended. For
    /// tests.
    package var deadlineLookCount: Int {
        get async {
            await withCheckedContinuation { continuation in
                let loop = loop
                let isTaken = loop.post { continuation.resume(returning: loop.deadlines.lookCount) }
                if !isTaken { continuation.resume(returning: 0) }
            }
        }
    }

    // MARK: making tasks

    var isInvalid: Bool { shared.withLock { $0.isInvalid } }

    func nextIdentifier() -> Int {
        shared.withLock { shared in
            shared.lastIdentifier += 1
            return shared.lastIdentifier
        }
    }

    /// A new task's identifier, and the events for its delegate: its own or else the session's.
    func announce(_ own: (any ClientSessionDelegate)?) -> (Int, TaskEvents?) {
        let (identifier, delegate) = shared.withLock { shared in
            shared.lastIdentifier += 1
            return (shared.lastIdentifier, own ?? shared.delegate)
        }
        return (identifier, delegate.map { TaskEvents($0, on: delegateQueue) })
    }

    /// The events for a task's own delegate, or else for the session's; nil without either.
    func events(_ own: (any ClientSessionDelegate)?) -> TaskEvents? {
        (own ?? delegate).map { TaskEvents($0, on: delegateQueue) }
    }

    /// The events for the session's delegate, without a task's response and content.
    var eventsBesideContent: TaskEvents? {
        delegate.map { TaskEvents($0, on: delegateQueue, notifiesContent: false) }
    }

    /// Gives a task its session, policy and sink. If the session is invalid, the task fails.
    /// - Parameters:
    ///   - keepsContent: whether the task keeps the content for a caller that collects it.
    ///   - hasHandler: whether an application's completion handler is called at its end.
    @discardableResult
    func adopt<Made: TransferTask>(
        _ task: Made, _ sink: ContentSink, keepsContent: Bool = false, hasHandler: Bool = false
    ) -> Made {
        task.shared.withLock { shared in
            shared.plan = TaskPlan(policy: policy, sink: sink)
            shared.session = self
            shared.keepsContent = keepsContent
            shared.hasHandler = hasHandler
        }
        if isInvalid { task.complete(ClientError(.sessionInvalidated), [], nil) }
        return task
    }

    /// Revalidates a stored response in the background (RFC 5861 section 3), unless that is already
    /// running. The delegate gets no events of this task.
    func revalidate(_ revalidation: StoredAnswer.Revalidation) {
        let (key, revalidations) = (revalidation.key, revalidations)
        guard revalidations.withLock({ $0.insert(key).inserted }) else { return }
        let task = adopt(
            DataTask(
                nextIdentifier(), revalidation.request, loop, events: nil, wantsMetrics: false,
                completion: { _, _ in revalidations.withLock { _ = $0.remove(key) } }),
            ContentSink())
        task.resume()
    }
}

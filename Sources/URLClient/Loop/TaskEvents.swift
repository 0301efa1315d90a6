internal import HTTPCodecs
internal import HTTPParser
internal import Synchronization
internal import ToolkitSystem

/// Calls a task's delegate, on the delegate's queue.
final class TaskEvents: @unchecked Sendable {
    /// Used only on the queue. Released after its last call, because the application may keep the
    /// task.
    private var delegate: (any ClientSessionDelegate)?
    private let queue: DelegateQueue
    private let task = Locked<TransferTask?>(nil)
    /// Whether the delegate is notified of the response and its content, too.
    let notifiesContent: Bool
    private let isNotifyingProgress = Atomic(false)
    /// How much was sent when the delegate was last notified of it.
    private let notifiedSent = Atomic<Int64>(0)

    init(
        _ delegate: any ClientSessionDelegate, on queue: DelegateQueue, notifiesContent: Bool = true
    ) {
        self.delegate = delegate
        self.queue = queue
        self.notifiesContent = notifiesContent
    }

    /// Sets the task, which is created after this object. The task is released when it completes.
    func belong(to task: TransferTask) {
        self.task.withLock { $0 = task }
    }

    func willRedirect(
        to request: ClientRequest, from response: ClientResponse
    ) async -> ClientRequest? {
        guard let task = task.withLock({ $0 }) else { return request }
        return await queue.ask {
            guard let delegate = self.delegate else { return request }
            return await delegate.task(task, willRedirectTo: request, from: response)
        }
    }

    func answer(_ challenge: ClientChallenge) async -> ChallengeAnswer {
        guard let task = task.withLock({ $0 }) else { return .useProposed }
        return await queue.ask {
            await self.delegate?.task(task, didReceiveChallenge: challenge) ?? .useProposed
        }
    }

    func needsNewBody() async -> ClientBody {
        guard let task = task.withLock({ $0 }) else { return .none }
        return await queue.ask { await self.delegate?.taskNeedsNewBody(task) ?? ClientBody.none }
    }

    func disposition(for response: ClientResponse) async -> ResponseDisposition {
        guard let task = task.withLock({ $0 }) else { return .allow }
        return await queue.ask {
            await self.delegate?.task(task, didReceiveResponse: response) ?? .allow
        }
    }

    func mayStore(_ response: ClientResponse) async -> Bool {
        guard let task = task.withLock({ $0 }) else { return true }
        return await queue.ask {
            await self.delegate?.task(task, willStore: response) ?? true
        }
    }

    func interim(_ task: TransferTask, _ response: ClientResponse.Interim) {
        queue.send { self.delegate?.task(task, didReceive: response) }
    }

    func became(_ task: TransferTask, _ download: DownloadTask) {
        belong(to: download)
        queue.send { self.delegate?.task(task, didBecome: download) }
    }

    /// Waits until the delegate has been notified of all earlier events.
    func allIsNotified() async { await queue.ask {} }

    /// Passes a piece of content to the delegate, then calls `done`.
    func received(_ content: [UInt8], done: @escaping @Sendable () -> Void) {
        guard let task = task.withLock({ $0 }) else { return done() }
        queue.send {
            self.delegate?.task(task, didReceiveContent: content)
            done()
        }
    }

    /// Notifies the delegate of progress. At most one call is pending.
    func progressed(_ task: TransferTask, _ progress: TransferProgress) {
        guard progress.sent > 0 || task is DownloadTask else { return }
        guard !isNotifyingProgress.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.send {
            self.isNotifyingProgress.store(false, ordering: .releasing)
            let progress = task.currentProgress
            if progress.sent > 0, progress.received == 0 || !(task is DownloadTask) {
                let told = self.notifiedSent.exchange(
                    progress.sent, ordering: .acquiringAndReleasing)
                guard told != progress.sent else { return }
                self.delegate?.task(task, didSend: progress)
            } else if self.notifiesContent, let download = task as? DownloadTask {
                self.delegate?.task(download, didWrite: progress)
            }
        }
    }

    func resumed(_ task: DownloadTask, at offset: Int64, of length: Int64?) {
        guard notifiesContent else { return }
        queue.send { self.delegate?.task(task, didResumeAt: offset, expectedLength: length) }
    }

    func downloaded(_ task: DownloadTask, to path: String, isTemporary: Bool) {
        guard notifiesContent else { return }
        queue.send {
            self.delegate?.task(task, didFinishDownloadingTo: path)
            if isTemporary { Syscalls.removeFile(path) }
        }
    }

    func collected(_ task: TransferTask, _ metrics: ClientMetrics) {
        queue.send { self.delegate?.task(task, didCollect: metrics) }
    }

    func completed(_ task: TransferTask, _ error: ClientError?) {
        self.task.withLock { $0 = nil }
        queue.send {
            task.becomeCompleted()
            self.delegate?.task(task, didCompleteWith: error)
            self.delegate = nil
        }
    }
}

/// Hands content to a delegate, and pauses the connection while too much is pending.
final class DelegateSink: ContentSink {
    private let events: TaskEvents
    private let limit: Int
    private let waiting = WaitingBytes()
    private unowned let loop: ClientLoop
    /// Content that arrives together is delivered in one call, because each call costs time and
    /// memory.
    private var piece: [UInt8] = []
    weak var runner: TransactionRunner?

    /// - Parameter limit: the number of pending bytes at which the connection is paused, at least
    ///   1.
    init(_ events: TaskEvents, limit: Int, loop: ClientLoop) {
        self.events = events
        self.limit = max(limit, 1)
        self.loop = loop
    }

    override var asksForDisposition: Bool { true }

    override func take(_ bytes: UnsafeRawBufferPointer) -> Answer {
        unsafe piece.append(contentsOf: bytes)
        return piece.count < min(ContentPiece.usualLength, limit) ? .kept : flush()
    }

    override func flush() -> Answer {
        guard !piece.isEmpty else { return .taken }
        let whole = piece
        piece = []
        let count = whole.count
        let (loop, runner, limit, waiting) = (loop, runner, limit, waiting)
        let isFull = waiting.add(count) >= limit
        events.received(whole) {
            let left = waiting.add(-count)
            guard left < limit, left + count >= limit, let runner else { return }
            loop.post { runner.sinkHasRoom() }
        }
        return isFull ? .full : .taken
    }

    override func finish(trailers: HTTPFields) -> ClientError? {
        _ = flush()
        return nil
    }

    override func abandon(_ error: ClientError) { _ = flush() }
}

/// How much content is pending for a delegate.
private final class WaitingBytes: Sendable {
    private let count = Atomic(0)

    func add(_ bytes: Int) -> Int {
        count.add(bytes, ordering: .acquiringAndReleasing).newValue
    }
}

internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

/// Runs the actions of a task's ``TransactionMachine``, in the session's loop.
///
/// Transfers are never added or removed in a callback of libcurl: an aborted transfer ends in
/// ``afterCallbacks()``.
final class TransactionRunner: LoopMember, @unchecked Sendable {
    let loop: ClientLoop
    private(set) var task: TransferTask
    private(set) var sink: ContentSink
    /// The runner's positions in the set and the queues of the loop.
    var links = LoopLinks<TransactionRunner>()
    /// The priority of the task in the queue.
    var priority: Double
    @exclusivity(unchecked)
    private var heldMachine: TransactionMachine
    /// The machine calls no other code, so accesses cannot overlap and need no check.
    private(set) var machine: TransactionMachine {
        get { unsafe heldMachine }
        _modify { yield unsafe &heldMachine }
    }
    var transfer: CurlTransfer?
    var upload: UploadSource?
    /// The slot that the request waits in, or that its transfer occupies.
    var slot: Admission<TransactionRunner>.Slot?
    var content = ContentFlow()
    var rate: RateLimiter?
    @exclusivity(unchecked)
    private var heldMeter = TransactionMeter()
    var meter: TransactionMeter {
        get { unsafe heldMeter }
        _modify { yield unsafe &heldMeter }
    }
    /// The error of a task that is over; nil for success.
    private var outcome: ClientError?

    init(
        _ loop: ClientLoop, _ policy: TransactionPolicy, _ task: TransferTask, _ sink: ContentSink
    ) {
        self.loop = loop
        self.task = task
        self.sink = sink
        priority = task.originalRequest.priority
        rate = loop.configuration.receiveBytesPerSecond.map { RateLimiter(bytesPerSecond: $0) }
        let context = TransactionContext(
            task.originalRequest, isDownload: task is DownloadTask, hasDelegate: task.events != nil)
        unsafe heldMachine = TransactionMachine(
            policy, context, asksDelegate: sink.asksForDisposition, isDisposed: sink.isDecided)
    }

    // MARK: the task

    func start() {
        guard machine.isIdle else { return }
        loop.register(self)
        guard !loop.isEnding else {
            let error = ClientError(.sessionInvalidated, "the session was invalidated")
            return step(.failed(TransactionFailure(error)))
        }
        let request = task.originalRequest
        let limits =
            request.usesDefaults
            ? loop.defaults.limits : TransactionLimits(request, loop.configuration)
        loop.look(at: loop.now + limits.total)
        if task.wantsMetrics { meter.start(at: loop.now) }
        step(.started(loop.defaults.fill(request, isDownload: sink.isFile), limits))
    }

    func suspend() { step(.suspended) }

    func resume() {
        step(.resumed)
        loop.look(at: loop.now + machine.limits.shortest)
    }

    func cancel() {
        guard !machine.isOver else { return }
        if machine.isIdle { loop.register(self) }
        step(.cancelled)
    }

    /// Called when the sink can take content again.
    func sinkHasRoom() { step(.released(.reader)) }

    /// Checks the deadlines.
    func checkDeadlines() {
        step(
            .time(
                transfer.map {
                    $0.progressTimes(lastEvent: loop.multi?.lastEvent(of: $0.handle) ?? 0)
                }))
    }

    /// Notifies the task of its end.
    func notifyEnd() { task.complete(outcome, sink.collected, meter.metrics) }

    // MARK: the machine

    /// Passes an event to the machine, and performs its actions.
    // Inlining would copy the body into many callers.
    @inline(never)
    func step(_ input: consuming TransactionInput) {
        var next = perform(machine.handle(consume input, at: loop.now))
        while let input = next.take() {
            next = perform(machine.handle(consume input, at: loop.now))
        }
    }

    /// Pauses receiving until `.released` with the same reason.
    func pause(_ reason: PauseReasons) { machine.pause(reason) }

    /// - Returns: the next input, if the action has an immediate result.
    private func perform(_ action: TransactionAction) -> TransactionInput? {
        switch action {
        case .none: break
        case .prepare(let request):
            task.setCurrent(request)
            return .prepared(loop.defaults.fault(of: request))
        case .ask(let question, let number): ask(question, number)
        case .openContent(let request, let reuses): return openContent(of: request, reuses: reuses)
        case .enqueue(let request): return enqueue(request)
        case .leaveQueue: leaveQueue()
        case .send(let request, let target): return send(request, to: target)
        case .deliver(let response, let plan):
            return .deliveryBegan(begin(response, plan))
        case .serve(let answer):
            if let revalidation = answer.revalidation { task.session?.revalidate(revalidation) }
            return .deliveryBegan(begin(answer.response, nil))
        case .discard(stops: false): endPause()
        case .discard(stops: true):
            return abort(ClientError(.internalFailure, "not read to its end"))
        case .pour(let content, let trailers): return pour(content, trailers)
        case .finishContent(let trailers): return finishContent(trailers)
        case .acceptFile(let response): return acceptFile(response)
        case .becomeDownload(let path): return becomeDownload(path)
        case .continueDownload(let data):
            (sink as? FileSink)?.prepareToResume(data)
            return .downloadContinued
        case .abort(let error): return abort(error)
        case .stop(let error):
            let placed = transfer?.placed(error) ?? error
            endTransfer()
            return .failed(failure(placed))
        case .applyPauses(let atOnce):
            if atOnce { transfer?.applyPauses(atOnce: true) } else { endPause() }
        case .wait(let time): loop.look(at: min(time, latestLook))
        case .complete(let error): complete(error)
        }
        return nil
    }

    /// Lets content flow again. The idle limit restarts: this side's pause does not count as the
    /// server's silence.
    private func endPause() {
        transfer?.touch()
        loop.callAfterwards(self)
    }

    /// The time of the next check of the deadlines, at the latest. A limit that does not count now
    /// starts when a pause ends or the transfer's next stage begins, and may expire before the
    /// others.
    private var latestLook: Int64 {
        // The deadlines of a suspended task are checked when it is resumed.
        guard let transfer, !machine.pausesSending,
            !transfer.isHeadDone || transfer.isPaused || machine.pausesReceiving
        else { return .max }
        return loop.now + machine.limits.shortest
    }

    private func ask(_ question: TransactionQuestion, _ number: Int) {
        if machine.hasQuestionDeadline { loop.look(at: loop.now + machine.limits.shortest) }
        let (policy, events) = (machine.policy, task.events)
        Task {
            let answer = await question.answer(policy, events)
            self.loop.post { self.step(.answered(answer, to: number)) }
        }
    }

    // MARK: from the transfer

    /// Called in a callback of libcurl.
    func headReceived(_ response: ClientResponse, _ transfer: CurlTransfer) {
        slot?.isHTTP2 = response.version == .http2
        if task.wantsMetrics { meter.noteSecurity(transfer) }
        // The delegate is notified of all that was sent before it is asked about the response.
        if upload != nil, task.isWatched { task.notifyProgress(isLast: false) }
        var facts = HeadFacts()
        facts.continuation = (sink as? FileSink)?.continuation
        let settings = transfer.settings
        facts.hasExpectation =
            upload != nil
            && (settings.expectationWait != nil || settings.fields.contains(.expect))
        facts.sentBytes = upload?.position ?? 0
        facts.contentLength = transfer.contentLength
        facts.isOverruled = loop.routing.isOverruled(transfer.settings.wire.origin)
        step(.head(response, facts))
    }

    func contentSent(_ count: Int) {
        guard count > 0 else { return }
        task.counters.send(count)
        noteProgress()
    }

    func noteProgress(isLast: Bool = false) {
        guard task.isWatched, meter.isProgressDue(at: loop.now) || isLast else { return }
        task.notifyProgress(isLast: isLast)
    }

    /// Ends the transfer because of an error: after the callback that may be running.
    @discardableResult
    func abort(_ error: ClientError) -> TransactionInput? {
        guard let transfer else { return .failed(failure(error)) }
        transfer.abort(error)
        loop.callAfterwards(self)
        return nil
    }

    /// Called outside of callbacks when the transfer has ended.
    func transferEnded(_ transfer: CurlTransfer, _ code: TransferResult.Code) {
        guard self.transfer === transfer else { return }
        let result = TransferResult(code: code, message: transfer.handle.errorMessage)
        if result.isSuccess, sink.stream == nil {
            loop.inline.noteAnswer(after: loop.now - transfer.times.start)
        }
        let failed = transfer.error(of: result).map { failure($0) }
        endTransfer()
        if let failed, let refusal = transfer.tunnelRefusal {
            return step(.tunnelRefused(refusal, failed))
        }
        step(.ended(TransactionEnding(failed, trailers: transfer.trailers)))
    }

    /// Called between two calls of libcurl.
    func afterCallbacks() {
        guard !machine.isOver else { return }
        if let transfer, let error = transfer.abortion {
            let placed = transfer.placed(error)
            endTransfer()
            return step(.failed(failure(placed)))
        }
        handOn()
        transfer?.applyPauses(atOnce: false)
        readStored()
    }

    func failure(_ error: ClientError) -> TransactionFailure {
        var failure = TransactionFailure(error, download: (sink as? FileSink)?.state)
        failure.isKeptByServer = task.shared.withLock { $0.uploadURL != nil }
        return failure
    }

    // MARK: the end

    private func becomeDownload(_ path: String?) -> TransactionInput? {
        let file = FileSink(to: path, resuming: nil)
        // Ranges count bytes of the coded content. Stored content is decoded, too.
        file.isDecoded = content.isDecoding || machine.response?.isFromCache == true
        task = task.becomeDownload(file, isTemporary: path == nil)
        sink = file
        return .becameDownload(machine.response.flatMap { unaskedPart($0) ?? file.begin($0) })
    }

    private func complete(_ failure: ClientError?) {
        endTransfer()
        upload?.close()
        upload = nil
        content.end()
        outcome = failure.map { sink.abandon($0, received: content.delivered, task.keepsPartial) }
        meter.finish(redirects: machine.context.redirectCount)
        loop.unregister(self)
        noteProgress(isLast: true)
        loop.complete(self)
    }
}

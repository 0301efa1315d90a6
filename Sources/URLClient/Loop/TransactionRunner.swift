internal import HTTPCodecs
internal import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Leads a task through its transactions. All of it is done in the session's loop.
///
/// It says when bytes may flow, by holds, and never adds or removes a transfer while libcurl is
/// calling: what has to wait is done in `afterCallbacks()`.
final class TransactionRunner: @unchecked Sendable {
    enum Stage { case fresh, preparing, parked, queued, running, over }

    /// What the content of the response is for.
    enum Purpose {
        case undecided
        case delivering
        case discarding(Sequel)
    }

    /// What comes after content that was thrown away.
    enum Sequel {
        case request(ClientRequest, FollowReason, after: Duration)
        case stored(ClientResponse, content: StoredContent)
        /// The file is whole already; the response says so.
        case whole(ClientResponse)
    }

    /// Why nothing may flow.
    struct Holds: OptionSet {
        let rawValue: UInt8
        /// Somebody decides about the response.
        static let decision = Holds(rawValue: 1)
        /// The task is suspended.
        static let suspension = Holds(rawValue: 2)
        /// The reader of the content is behind.
        static let reader = Holds(rawValue: 4)
        /// The cache is behind.
        static let recorder = Holds(rawValue: 8)
    }

    /// Where the loop keeps it.
    var place: Int?
    // Its places in the loop's queues.
    var afterwardsLink = RunnerQueue.Link()
    var completionLink = RunnerQueue.Link()
    let loop: ClientLoop
    let decider: any TransactionDecider
    var task: TransferTask
    var sink: ContentSink
    /// The priority, as the queue needs it.
    var priority: Double

    var stage = Stage.fresh
    var purpose = Purpose.undecided
    var holds: Holds = []
    /// Counts what makes answers to older questions void.
    var epoch = 0
    var context: TransactionContext
    /// The request of this transaction, and what it became by `begin`.
    var request: ClientRequest
    var sent: ClientRequest
    var response: ClientResponse?
    var transfer: CurlTransfer?
    /// How the transfer ended while a decision was awaited.
    var ending: Ending?
    var pendingFailure: ClientError?
    /// Why the task has failed, when it is over.
    var outcome: ClientError?
    var upload: UploadSource?
    /// Whether the next transaction sends what this one has not begun to.
    var keepsUpload = false
    var slot: Admission.Slot?

    // Connect to host.
    var targets: [ConnectTarget] = []
    var targetIndex = 0
    var attempt = 0

    // Content.
    var decoding: Decoding?
    var recorder: (any ContentRecorder)?
    var delivered: Int64 = 0
    var discarded = 0
    /// What is delivered in place of content from the network.
    var served: StoredContent?
    /// How far stored content in a file was delivered.
    var reading: StoredReading?
    /// How often a download went on without anything new, and where it was then.
    var continuations = 0
    var lastOffset: Int64 = 0
    /// Until when the reader may come for the next piece; nil while content comes by itself.
    var pullEnd: Int64?
    /// Whether a question has led to another one, so that the hold stays.
    var isAsking = false
    /// Since when the delegate is asked about a redirect, or about what is stored.
    var askedSince: Int64?

    // Time.
    var limits: Limits
    var startTime: Int64 = 0
    var queuedSince: Int64 = 0
    /// Since when the application is asked where to connect to; 0 when it is not.
    var resolvingSince: Int64 = 0
    var metrics: Measuring?
    var security: CopyOnWriteBox<EasyHandle.Security>?
    var lastProgress: Int64 = 0

    /// How a transfer ended: nil for well.
    struct Ending {
        let error: ClientError?
        let trailers: HTTPFields
    }

    /// What the task has taken so far.
    final class Measuring {
        var values = ClientMetrics()
    }

    /// Stored content on its way to the sink.
    struct StoredReading {
        let file: StoredFile
        let ending: Ending
        var offset: Int64 = 0
        var isWaiting = false
    }

    init(
        _ loop: ClientLoop, _ decider: any TransactionDecider, _ task: TransferTask,
        _ sink: ContentSink
    ) {
        self.loop = loop
        self.decider = decider
        self.task = task
        self.sink = sink
        limits = loop.defaultLimits
        request = task.originalRequest
        sent = request
        priority = request.priority
        context = TransactionContext(task, request: request)
    }

    var configuration: ClientConfiguration { loop.configuration }
    var headLimit: Int { configuration.headLimit }
    var requestURL: URL { sent.url }

    // MARK: begin

    func start() {
        guard stage == .fresh else { return }
        loop.register(self)
        startTime = loop.now
        limits = request.usesDefaults ? loop.defaultLimits : Limits(request, configuration)
        guard !loop.isEnding else {
            return finish(ClientError(.sessionInvalidated, "the session was invalidated"))
        }
        // Whoever is asked before the request goes out may never answer.
        loop.look(at: startTime + limits.total)
        if task.wantsMetrics { metrics = Measuring() }
        if let error = fault(of: request) { return finish(error) }
        begin(
            request.filled(isDownload: sink.isFile, loop.defaultFields)
                ?? request.filled(from: configuration, isDownload: sink.isFile))
    }

    /// What is wrong with a request before anything is done about it.
    private func fault(of request: ClientRequest) -> ClientError? {
        if case .failure(let error) = request.wire { return error }
        if request.method.givesContentNoMeaning, request.body.length != 0,
            !request.allowsContentWithoutMeaning
        {
            return ClientError(.contentNotAllowed, "\(request.method) with content")
        }
        return nil
    }

    /// Begins a transaction.
    func begin(_ next: ClientRequest) {
        stage = .preparing
        epoch += 1
        purpose = .undecided
        response = nil
        // What was kept of another response would stay behind in the cache's folder.
        if let recorder {
            recorder.abandon()
            self.recorder = nil
        }
        (ending, served) = (nil, nil)
        if decoding != nil { decoding = nil }
        discarded = 0
        (targets, targetIndex, attempt) = ([], 0, 0)
        request = next
        context = context.with(next)
        switch decider.begin(next, in: context) {
        case .now(let start): apply(start)
        case .later(let ask): wait(for: ask) { $0.apply($1) }
        }
    }

    private func apply(_ start: TransactionStart) {
        switch start {
        case .send(let request):
            sent = request
            task.setCurrent(request)
            if !request.fields.isKnownSame(as: loop.validatedFields) {
                if let error = request.invalidField { return fail(error) }
                loop.validatedFields = request.fields
            }
            if case .failure(let error) = request.wire { return fail(error) }
            if let transport = configuration.transport { return exchange(by: transport) }
            findTargets()
        case .serve(let response, let content): serve(response, content)
        case .fail(let error): finish(error)
        }
    }

    /// Waits for an answer without holding anything up; it is void when the transaction is over by then.
    func wait<Answer: Sendable>(
        for ask: @escaping @Sendable () async -> Answer,
        then use: @escaping @Sendable (TransactionRunner, Answer) -> Void
    ) {
        let epoch = epoch
        Task {
            let answer = await ask()
            self.loop.post {
                guard self.epoch == epoch, self.stage != .over else { return }
                use(self, answer)
            }
        }
    }

    // MARK: holds

    var holdsReceiving: Bool { !holds.isEmpty }
    var holdsSending: Bool { holds.contains(.suspension) }
    /// Whether stored content has to wait until the task is resumed.
    var holdsServing: Bool { served != nil && holds.contains(.suspension) }

    /// Lets something go on that was held.
    func release(_ hold: Holds) {
        guard holds.contains(hold) else { return }
        holds.remove(hold)
        guard stage != .over else { return }
        if let ending, !holds.contains(.decision), !holdsServing {
            self.ending = nil
            return conclude(ending)
        }
        loop.callAfterwards(self)
    }

    func suspend() {
        holds.insert(.suspension)
        switch stage {
        case .queued:
            if let slot { loop.admission.leave(self, slot) }
            slot = nil
            stage = .parked
        case .running: transfer?.applyHolds(stopsAtOnce: true)
        default: break
        }
    }

    func unsuspend() {
        if askedSince != nil { limitAsking() }
        release(.suspension)
        if resolvingSince > 0 {
            resolvingSince = loop.now
            loop.look(at: loop.now + limits.connect)
        }
        if stage == .parked { enqueue() }
    }

    /// Between two calls of libcurl.
    func afterCallbacks() {
        guard stage != .over else { return }
        if let error = pendingFailure {
            pendingFailure = nil
            removeTransfer()
            return failed(error)
        }
        if case .full = sink.flush() { holds.insert(.reader) }
        if sink.isAwaited {
            sink.isAwaited = false
            // Who is told at once comes back before the loop is free to be entered.
            let waits = loop.expectsReader(of: self) && startPull()
            if let stream = sink.stream {
                waits ? loop.notifyAfterLeaving(stream) : stream.notifyReader()
            }
        }
        transfer?.applyHolds(stopsAtOnce: false)
        if reading != nil { readOn() }
    }
}

internal import HTTPParser

/// The life of a task, as a value: a chain of transactions, each with a request and a response.
///
/// The machine knows neither the task nor the loop nor libcurl. ``handle(_:at:)`` takes an event
/// and returns an action, which `TransactionRunner` performs. The rules between transactions
/// (cookies, cache, credentials, redirects, retries) belong to ``TransactionPolicy``.
///
/// Values that most tasks do without are boxed: the C library has to search for memory for a runner
/// of more than 1 KiB.
package struct TransactionMachine: Sendable {
    package enum State: Sendable {
        /// Not started. Exits: `started` to preparing, delivering or over; `cancelled` to over.
        case idle
        /// The request is being prepared: by the policy, the endpoint policy, or the opening of its
        /// content. Also between two transactions. Exits: queued, parked, delivering (stored
        /// response), awaitingHead (``ClientConfiguration/transport``), over.
        case preparing
        /// Suspended before it was queued. Exits: `resumed` to queued; `cancelled`, time to over.
        case parked
        /// In the queue. Exits: `admitted` to awaitingHead; `suspended` to parked; over.
        case queued
        /// The request is sent, or was sent. Exits: `head` to deciding, delivering or discarding;
        /// failures to preparing (retry, next endpoint) or over.
        case awaitingHead
        /// The head has arrived, and a question about it is open. Exits: `answered` to delivering
        /// or discarding; failures to preparing or over.
        case deciding
        /// The content is passed to the sink. Exits: `contentFinished` to over; failures of
        /// downloads to preparing; others to over.
        case delivering
        /// The content is discarded. Exits: the end of the transfer, also by a failure, to
        /// preparing or delivering; cancellation or an expired limit to over.
        case discarding(Sequel)
        /// The task is over. No exits: all input is ignored.
        case over
    }

    /// The next step after discarded content.
    package indirect enum Sequel: Sendable {
        case request(ClientRequest, FollowReason, after: Duration)
        case stored(StoredAnswer)
        /// The partial file of a download was already complete, as the response shows.
        case completeFile(ClientResponse)
    }

    /// The most content, in bytes, that is discarded so that the connection can be reused.
    static var discardLimit: Int { 64 << 10 }

    let policy: TransactionPolicy
    package internal(set) var context: TransactionContext
    package internal(set) var state = State.idle
    package internal(set) var pauses: PauseReasons = []
    /// The request as it is sent.
    package internal(set) var sent: ClientRequest
    /// Whether the delegate is asked about responses: whether to store them, and how to handle
    /// them.
    let asksDelegate: Bool
    /// Whether the delegate has decided what to do with the response. It is not asked again when a
    /// download continues.
    var isDisposed: Bool
    var response: ClientResponse?
    /// The content of `response`, if it does not come from a connection but from the cache or
    /// ``ClientConfiguration/transport``.
    var content: StoredContent?
    var facts = HeadFacts()
    var discarded = 0
    /// The end of the transfer, kept while an open question or a suspension delays the next step.
    var ending: TransactionEnding?
    var question: OpenQuestion? {
        didSet { questionHoldsResponse = question?.subject.holdsResponse ?? false }
    }
    private var questionHoldsResponse = false
    var endpoints = Endpoints()
    var continuation = Continuation()
    var times: TransactionTimes
    /// Whether a deadline has passed after which the task makes no further attempt.
    var isExpired = false
    /// The time of the current input.
    var now: Int64 = 0
    private var questionCount = 0

    /// The open question, and the use of its answer.
    struct OpenQuestion {
        indirect enum Subject {
            case beginning, endpoints, exchange, response, disposition, notification
            case delay(ClientRequest)
            case tunnel(TransactionFailure)
            case redirect(ClientRequest, after: Duration)
            case storing(StoragePlan)

            /// Whether the response is not received further before the answer.
            var holdsResponse: Bool {
                switch self {
                case .response, .redirect, .storing, .disposition, .notification: true
                case .beginning, .endpoints, .exchange, .delay, .tunnel: false
                }
            }
        }

        let number: Int
        let subject: Subject
    }

    /// The addresses that a request may connect to.
    struct Endpoints {
        var targets: [ConnectTarget] = []
        var index = 0
        var attempt = 0
        /// Whether the next request sends the content that this one has opened but not read.
        var reusesContent = false

        var current: ConnectTarget? { index < targets.count ? targets[index] : nil }
    }

    /// How often a download continued without progress, and the offset that it had reached.
    struct Continuation {
        var count = 0
        var offset: Int64 = 0
        private var box: CopyOnWriteBox<ResumeData>?
        /// The data with which the rest is requested.
        var data: ResumeData? {
            get { box?.values }
            set { box = newValue.map { CopyOnWriteBox($0) } }
        }
    }

    /// - Parameters:
    ///   - policy: the rules between transactions.
    ///   - context: the task's request and kind.
    ///   - asksDelegate: whether the delegate, if any, is asked about responses.
    ///   - isDisposed: whether the handling of responses is already decided.
    package init(
        _ policy: TransactionPolicy, _ context: TransactionContext, asksDelegate: Bool = false,
        isDisposed: Bool = false
    ) {
        self.policy = policy
        self.context = context
        self.asksDelegate = asksDelegate && context.hasDelegate
        self.isDisposed = isDisposed
        sent = context.request
        times = TransactionTimes(limits: .none)
    }

    // Inlined, because a call would copy the machine out of the object that holds it.
    var configuration: ClientConfiguration {
        @inline(__always) get { policy.configuration }
    }
    package var limits: TransactionLimits {
        @inline(__always) get { times.limits }
    }
    package var isOver: Bool {
        @inline(__always) get { if case .over = state { true } else { false } }
    }
    package var isIdle: Bool {
        @inline(__always) get { if case .idle = state { true } else { false } }
    }
    /// Whether a transfer is under way, or a stored response is delivered.
    package var isRunning: Bool {
        @inline(__always) get {
            switch state {
            case .awaitingHead, .deciding, .delivering, .discarding: true
            case .idle, .preparing, .parked, .queued, .over: false
            }
        }
    }
    /// Whether the open question has a deadline.
    var hasQuestionDeadline: Bool { times.asking != nil || times.resolving != nil }
    private var isPreparing: Bool { if case .preparing = state { true } else { false } }
    package var isDelivering: Bool {
        @inline(__always) get { if case .delivering = state { true } else { false } }
    }
    package var isDiscarding: Bool {
        @inline(__always) get { if case .discarding = state { true } else { false } }
    }

    /// Whether receiving is paused.
    package var pausesReceiving: Bool {
        @inline(__always) get { !pauses.isEmpty || questionHoldsResponse }
    }
    /// Whether sending is paused.
    package var pausesSending: Bool {
        @inline(__always) get { pauses.contains(.suspension) }
    }

    /// Pauses receiving until `released` with the same reason.
    package mutating func pause(_ reason: PauseReasons) { pauses.insert(reason) }

    /// Handles an event.
    /// - Parameters:
    ///   - input: the event.
    ///   - now: the time on the loop's clock, in nanoseconds.
    /// - Returns: the next action.
    package mutating func handle(
        _ input: consuming TransactionInput, at now: Int64
    ) -> TransactionAction {
        if isOver { return .none }
        self.now = now
        // A single switch takes the input apart: examining it twice would copy it.
        switch consume input {
        case .started(let request, let limits): return isIdle ? start(request, limits) : .none
        case .prepared(let error): return isPreparing ? prepared(error) : .none
        case .contentOpened(let error):
            guard isPreparing else { return .none }
            return error.map { fail(TransactionFailure($0)) } ?? enqueue()
        case .admitted: if case .queued = state { return admitted() }
        case .head(let response, let facts):
            if case .awaitingHead = state { return received(response, facts) }
        case .content(let count):
            guard isDiscarding else { return .none }
            discarded += count
            return discarded > Self.discardLimit ? .discard(stops: true) : .none
        case .deliveryBegan(let error): return isDelivering ? deliveryBegan(error) : .none
        case .fileAccepted(let result): return isDiscarding ? accepted(result) : .none
        case .becameDownload(let error): return isDelivering ? becameDownload(error) : .none
        case .contentFinished(let failure):
            guard isDelivering else { return .none }
            return failure.map { fail($0) } ?? complete(nil)
        case .downloadContinued: return downloadContinued()
        case .ended(let ending):
            self.ending = ending
            return conclude()
        case .failed(let failure): return fail(failure)
        case .tunnelRefused(let response, let failure): return tunnelRefused(response, failure)
        case .answered(let answer, let number):
            guard let question, question.number == number else { return .none }
            self.question = nil
            return answered(answer, question.subject)
        case .time(let transfer): return expire(transfer)
        case .suspended: return suspend()
        case .resumed: return resume()
        case .released(let reasons):
            guard !pauses.isDisjoint(with: reasons) else { return .none }
            pauses.subtract(reasons)
            return conclude(otherwise: .applyPauses(atOnce: false))
        case .cancelled: return .stop(ClientError(.cancelled))
        }
        return .none
    }

    // MARK: shared by the parts

    mutating func ask(
        _ question: TransactionQuestion, _ subject: OpenQuestion.Subject
    ) -> TransactionAction {
        questionCount += 1
        self.question = OpenQuestion(number: questionCount, subject: subject)
        return .ask(question, number: questionCount)
    }

    /// Ends the task.
    mutating func complete(_ error: ClientError?) -> TransactionAction {
        state = .over
        (question, ending, content) = (nil, nil, nil)
        var error = error
        // The requests before a redirect were processed, even if the last one was not.
        if context.redirectCount > 0, !context.originalRequest.method.isIdempotent {
            error?.isSafeToRetry = false
        }
        return .complete(error)
    }

    // MARK: suspension

    private mutating func suspend() -> TransactionAction {
        pauses.insert(.suspension)
        guard case .queued = state else { return .applyPauses(atOnce: true) }
        state = .parked
        times.queued = nil
        return .leaveQueue
    }

    private mutating func resume() -> TransactionAction {
        guard pauses.contains(.suspension) else { return .none }
        pauses.remove(.suspension)
        // The time of the suspension does not count.
        if times.asking != nil { times.asking = now }
        if times.resolving != nil { times.resolving = now }
        if case .parked = state { return enqueue() }
        return conclude(otherwise: .applyPauses(atOnce: false))
    }

    // MARK: time

    private mutating func expire(_ transfer: TransferProgressTimes?) -> TransactionAction {
        let (time, limit) = times.deadline(
            transfer, isSuspended: pauses.contains(.suspension), isPaused: pausesReceiving)
        guard time <= now else { return .wait(until: time) }
        // A delegate that did not answer in time is not asked again.
        isExpired = limit == .total || limit == .queue || times.asking != nil
        var error = ClientError(.timedOut(limit), curlCode: 28)
        if times.resolving != nil {
            times.resolving = nil
            question = nil
            (error.phase, error.isSafeToRetry) = (.resolving, true)
        }
        return .stop(error)
    }
}

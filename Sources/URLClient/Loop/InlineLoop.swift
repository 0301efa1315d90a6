internal import HTTPCodecs

/// Turns in the loop by threads other than its own.
///
/// A thread that starts a task, or that reads content, enters the loop if no thread is in it: its
/// request goes out without waking the loop's thread. It also polls there for a response that is
/// likely to arrive at once, or, with ``ClientConfiguration/briefWait``, blocks until it is there: see
/// `Docs/Decisions/0007-brief-wait.md`.
final class InlineLoop {
    private var responses: InlineWaitPolicy
    private var pieces: InlineWaitPolicy
    /// The stream whose reader is notified once no thread is in the loop: the reader enters it.
    private var streamToNotify: ContentStream?

    init(_ configuration: ClientConfiguration) {
        let blocks = configuration.briefWait > .zero
        let limit = blocks ? configuration.briefWait : configuration.briefPolling
        responses = InlineWaitPolicy(limit, blocks: blocks)
        pieces = InlineWaitPolicy(limit, blocks: blocks, average: 0)
    }

    // MARK: from any thread

    /// Starts a task, at once if no thread is in the loop. False if the loop has ended.
    func start(_ runner: TransactionRunner) -> Bool {
        switch runner.loop.inbox.enter(orLeave: { Self.starting(runner) }) {
        case .entered: visit(runner, isReader: false)
        case .left: break
        case .over: return false
        }
        return true
    }

    /// Has the reader of a task's content fetch more of it, if no thread is in the loop and nothing
    /// else runs there. A piece that is there, or arrives at once, then needs no other thread.
    /// - Parameter isHeld: whether the content is held until the reader wants it.
    func pull(_ runner: TransactionRunner, isHeld: Bool) {
        let loop = runner.loop
        guard isHeld || loop.runners.count == 1 else { return }
        let entry = loop.inbox.enter(orLeave: { isHeld ? Self.endingPull(of: runner) : nil })
        if case .entered = entry { visit(runner, isReader: true) }
    }

    // Made only where it is left for another thread.
    private static func starting(_ runner: TransactionRunner) -> ClientLoop.Work {
        { runner.start() }
    }

    private static func endingPull(of runner: TransactionRunner) -> ClientLoop.Work {
        { runner.endPull() }
    }

    // MARK: in the loop

    /// A request was answered, that long after it was sent.
    func noteAnswer(after nanoseconds: Int64) { responses.note(answer: nanoseconds) }

    /// Whether a reader that has just got a piece is likely to ask for the next one soon.
    func expectsReader(of runner: TransactionRunner) -> Bool {
        isAlone(runner) && pieces.isHopeful
    }

    /// Notifies the reader of a stream once no thread is in the loop any more.
    func notifyAfterLeaving(_ stream: ContentStream) {
        if let other = takeStreamToNotify(), other !== stream { other.notifyReader() }
        streamToNotify = stream
    }

    func takeStreamToNotify() -> ContentStream? {
        streamToNotify.take()
    }

    /// A turn of a visiting thread.
    /// - Parameters:
    ///   - runner: the task that is started, or whose content is wanted.
    ///   - isReader: whether its content is wanted.
    private func visit(_ runner: TransactionRunner, isReader: Bool) {
        let loop = runner.loop
        loop.now = System.now()
        loop.multi?.poller.beginTurn()
        let waits =
            isReader
            ? isAlone(runner) && pieces.isWorthwhile
            : loop.runners.count == 0 && responses.isWorthwhile
        let given = runner.sink.givenCount
        if waits { loop.multi?.poller.hold(all: isReader) }
        if isReader { runner.endPull() } else { runner.start() }
        if let multi = loop.multi {
            let signals = loop.routing.mayBeSecure ? System.holdBrokenPipe() : nil
            loop.perform(multi, rounds: 2)
            if waits {
                wait(for: runner, isReader: isReader, given: given, multi)
                if runner.sink.givenCount != given, isAlone(runner) { runner.startPull() }
                multi.poller.letGo()
            }
            if let signals { System.restore(signals) }
        }
        let stream = takeStreamToNotify()
        loop.inbox.leaveAfterVisit(loop.hasEndToReach ? 0 : loop.nextDeadline)
        stream?.notifyReader()
    }

    /// Whether nothing but the transfer of a runner goes on.
    private func isAlone(_ runner: TransactionRunner) -> Bool {
        runner.loop.runners.count == 1 && runner.machine.isRunning
    }

    /// Polls or blocks until the response, or the next piece, is there, as long as no other thread wants
    /// anything: waking two threads would take longer than the response.
    private func wait(
        for runner: TransactionRunner, isReader: Bool, given: Int, _ multi: MultiHandle
    ) {
        let loop = runner.loop
        let end = loop.now + (isReader ? pieces.limit : responses.longest)
        let blocks = responses.blocks
        if isAlone(runner), runner.sink.givenCount == given {
            guard loop.inbox.setVisitorWaiting(true) else { return }
            var isUndisturbed = true
            while isUndisturbed, isAlone(runner), runner.sink.givenCount == given, loop.now < end {
                isUndisturbed = multi.waitForHeld(
                    nanoseconds: end - loop.now, blocks: blocks, from: loop.now)
                loop.now = System.now()
                loop.perform(multi, rounds: 2)
            }
            _ = loop.inbox.setVisitorWaiting(false)
        }
        let isRewarded = runner.machine.isOver || runner.sink.givenCount != given
        if isReader {
            pieces.note(isRewarded: isRewarded)
        } else {
            responses.note(isRewarded: isRewarded)
        }
    }
}

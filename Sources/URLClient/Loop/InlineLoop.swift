internal import HTTPCodecs
internal import ToolkitSystem

/// Lets threads other than the loop's briefly enter the loop.
///
/// A thread that starts a task or reads content enters the loop if no thread is in it. Its request
/// is sent without waking the loop's thread. If a response is likely to arrive soon, the visiting
/// thread also polls for it or, with ``ClientConfiguration/briefWait``, blocks until it arrives:
/// see `Docs/Decisions/0007-brief-wait.md`.
final class InlineLoop {
    private var responses: InlineWaitPolicy
    private var pieces: InlineWaitPolicy
    /// The stream whose reader is notified once no thread is in the loop, so that the reader can
    /// enter it.
    private var streamToNotify: ContentStream?

    init(_ configuration: ClientConfiguration) {
        let blocks = configuration.briefWait > .zero
        let limit = blocks ? configuration.briefWait : configuration.briefPolling
        responses = InlineWaitPolicy(limit, blocks: blocks)
        pieces = InlineWaitPolicy(limit, blocks: blocks, average: 0)
    }

    // MARK: from any thread

    /// Starts a task, immediately if no thread is in the loop. False if the loop has ended.
    func start(_ runner: TransactionRunner) -> Bool {
        switch runner.loop.inbox.enter(orLeave: { Self.starting(runner) }) {
        case .entered: visit(runner, isReader: false)
        case .left: break
        case .over: return false
        }
        return true
    }

    /// Lets the reader of a task's content enter the loop and fetch more. Content that is already
    /// in the socket, or arrives soon, then needs no other thread. If another thread is in the
    /// loop, held content is requested from that thread. Without held content, nothing happens
    /// unless the task is the only one.
    /// - Parameter isHeld: whether receiving is paused until the reader wants more.
    func pull(_ runner: TransactionRunner, isHeld: Bool) {
        let loop = runner.loop
        guard isHeld || loop.runners.count == 1 else { return }
        let entry = loop.inbox.enter(orLeave: { isHeld ? Self.endingPull(of: runner) : nil })
        if case .entered = entry { visit(runner, isReader: true) }
    }

    // These closures are created only when the work is left to another thread.
    private static func starting(_ runner: TransactionRunner) -> ClientLoop.Work {
        { runner.start() }
    }

    private static func endingPull(of runner: TransactionRunner) -> ClientLoop.Work {
        { runner.endPull() }
    }

    // MARK: in the loop

    /// Notes how long the response to a request took.
    func noteAnswer(after nanoseconds: Int64) { responses.note(answer: nanoseconds) }

    /// Whether a reader that has just received a piece is likely to request the next one soon.
    func expectsReader(of runner: TransactionRunner) -> Bool {
        isAlone(runner) && pieces.isHopeful
    }

    /// Notifies the reader of a stream once no thread is in the loop.
    func notifyAfterLeaving(_ stream: ContentStream) {
        if let other = takeStreamToNotify(), other !== stream { other.notifyReader() }
        streamToNotify = stream
    }

    func takeStreamToNotify() -> ContentStream? {
        streamToNotify.take()
    }

    /// Runs the loop on a visiting thread.
    /// - Parameters:
    ///   - runner: the task that is started, or whose content is read.
    ///   - isReader: whether the task's content is read.
    private func visit(_ runner: TransactionRunner, isReader: Bool) {
        let loop = runner.loop
        loop.now = LoopClock.now()
        loop.multi?.poller.beginTurn()
        let waits =
            isReader
            ? isAlone(runner) && pieces.isWorthwhile
            : loop.runners.count == 0 && responses.isWorthwhile
        let given = runner.sink.givenCount
        if waits { loop.multi?.poller.hold(all: isReader) }
        if isReader { runner.endPull() } else { runner.start() }
        if let multi = loop.multi {
            let signals = loop.routing.mayBeSecure ? BrokenPipes.hold() : nil
            loop.perform(multi, rounds: 2)
            if waits {
                wait(for: runner, isReader: isReader, given: given, multi)
                if runner.sink.givenCount != given, isAlone(runner) { runner.startPull() }
                multi.poller.letGo()
            }
            if let signals { BrokenPipes.restore(signals) }
        }
        let stream = takeStreamToNotify()
        loop.inbox.leaveAfterVisit(loop.hasEndToReach ? 0 : loop.nextDeadline)
        stream?.notifyReader()
    }

    /// Whether the runner is the only one, and its transfer is under way.
    private func isAlone(_ runner: TransactionRunner) -> Bool {
        runner.loop.runners.count == 1 && runner.machine.isRunning
    }

    /// Polls or blocks until the response, or the next piece, has arrived. Ends when another thread
    /// has work for the loop: waking two threads would take longer than the response.
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
                loop.now = LoopClock.now()
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

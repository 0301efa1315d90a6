internal import Dispatch
internal import HTTPCodecs
internal import Synchronization

// Turns in the loop that others than its thread take.
extension ClientLoop {
    /// What came of an attempt to get into the loop.
    private enum Entry { case mine, left, over }

    /// Takes the loop over if nobody else is in it, and leaves work there otherwise. The caller must
    /// hold no lock: whatever is due in the loop may be done meanwhile.
    private func enter(orLeave work: () -> Work?) -> Entry {
        var sleeper: MultiHandle?
        let entry = inbox.withLock { inbox -> Entry in
            guard !inbox.isOver else { return .over }
            guard inbox.isTaken || !inbox.work.isEmpty else {
                inbox.isTaken = true
                return .mine
            }
            if let work = work() {
                inbox.work.append(work)
                sleeper = inbox.isVisitorWaiting ? inbox.multi : nil
            }
            return .left
        }
        sleeper?.wake()
        return entry
    }

    /// Starts a task, at once and by the caller if nobody else is in the loop. An answer that is
    /// expected at once is waited for. False if the thread has ended.
    func start(_ runner: TransactionRunner) -> Bool {
        switch enter(orLeave: { Self.starting(runner) }) {
        case .mine: visit(runner, isReader: false)
        case .left: break
        case .over: return false
        }
        return true
    }

    /// Has the reader of a runner's content get more of it by itself, if nobody else is in the loop
    /// and nothing else goes on there: a piece that is there, or comes at once, changes no thread.
    /// - Parameter isHeld: whether the content is held until the reader wants it.
    func pull(_ runner: TransactionRunner, isHeld: Bool) {
        guard isHeld || runningCount == 1 else { return }
        let entry = enter(orLeave: { isHeld ? Self.endingPull(of: runner) : nil })
        if case .mine = entry { visit(runner, isReader: true) }
    }

    // Made only where it is left for another.
    private static func starting(_ runner: TransactionRunner) -> Work {
        { runner.start() }
    }

    private static func endingPull(of runner: TransactionRunner) -> Work {
        { runner.endPull() }
    }

    /// A turn of a thread that is not the loop's.
    /// - Parameters:
    ///   - runner: which is started, or whose content is wanted; it may be worth a short wait.
    ///   - isReader: whether it is for content.
    private func visit(_ runner: TransactionRunner, isReader: Bool) {
        now = System.now()
        multi?.poller.beginTurn()
        let waits = isWorthWaiting(for: runner, isReader: isReader)
        let given = runner.sink.givenCount
        if waits { multi?.poller.hold(all: isReader) }
        if isReader { runner.endPull() } else { runner.start() }
        if let multi {
            let signals = mayBeSecure ? System.holdBrokenPipe() : nil
            perform(multi, rounds: 2)
            if waits {
                wait(for: runner, isReader: isReader, given: given, multi)
                if runner.sink.givenCount != given, isAlone(runner) { runner.startPull() }
                multi.poller.letGo()
            }
            if let signals { System.restore(signals) }
        }
        leaveAfterVisit()
    }

    private func isWorthWaiting(for runner: TransactionRunner, isReader: Bool) -> Bool {
        isReader
            ? unsafe isAlone(runner) && contentPatience.isWorthwhile
            : unsafe runningCount == 0 && patience.isWorthwhile
    }

    /// Whether a reader who has got a piece is likely to come for the next one soon.
    func expectsReader(of runner: TransactionRunner) -> Bool {
        unsafe isAlone(runner) && contentPatience.isHopeful
    }

    /// Has the reader of a stream told of what there is, once nobody is in the loop any more.
    func notifyAfterLeaving(_ stream: ContentStream) {
        if let other = takeStreamToNotify(), other !== stream { other.notifyReader() }
        streamToNotify = stream
    }

    func takeStreamToNotify() -> ContentStream? {
        guard let stream = streamToNotify else { return nil }
        streamToNotify = nil
        return stream
    }

    /// Whether nothing but the transfer of a runner goes on.
    private func isAlone(_ runner: TransactionRunner) -> Bool {
        runningCount == 1 && runner.stage == .running
    }

    private func leaveAfterVisit() {
        let told = takeStreamToNotify()
        let isDone = runningCount == 0 && (isEnding || wantsReconnection)
        let deadline = isDone ? 0 : nextDeadline
        let (isHandedOver, sleeper) = inbox.withLock { inbox -> (Bool, MultiHandle?) in
            if inbox.isThreadWaiting {
                // The loop stays taken, by the thread.
                inbox.isThreadWaiting = false
                return (true, nil)
            }
            inbox.isTaken = false
            let isLeft = !inbox.work.isEmpty || deadline < inbox.sleepEnd
            return (false, isLeft ? inbox.multi : nil)
        }
        if isHandedOver { turn.signal() }
        sleeper?.wake()
        told?.notifyReader()
    }

    /// Waits for the answer where it is asked for, as long as nobody else wants anything: an answer
    /// that comes within a fraction of a millisecond is there before two threads could be woken.
    private func wait(
        for runner: TransactionRunner, isReader: Bool, given: Int, _ multi: MultiHandle
    ) {
        let end = unsafe now + (isReader ? contentPatience.limit : patience.longest)
        if isAlone(runner), runner.sink.givenCount == given {
            guard setWaiting(true) else { return }
            var goesOn = true
            while goesOn, isAlone(runner), runner.sink.givenCount == given, now < end {
                goesOn = multi.waitForHeld(nanoseconds: end - now, from: now)
                now = System.now()
                perform(multi, rounds: 2)
            }
            _ = setWaiting(false)
        }
        let isRewarded = runner.stage == .over || runner.sink.givenCount != given
        if isReader {
            unsafe contentPatience.note(isRewarded: isRewarded)
        } else {
            unsafe patience.note(isRewarded: isRewarded)
        }
    }

    /// Whether those who leave work shall interrupt the wait. False if some is there.
    private func setWaiting(_ isWaiting: Bool) -> Bool {
        inbox.withLock { inbox in
            guard !isWaiting || inbox.work.isEmpty && !inbox.isThreadWaiting else { return false }
            inbox.isVisitorWaiting = isWaiting
            return true
        }
    }
}

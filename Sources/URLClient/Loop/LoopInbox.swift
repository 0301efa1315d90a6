internal import Dispatch
internal import HTTPCodecs
internal import ToolkitSystem

/// Controls access to a loop: queues work for it, and lets one thread at a time enter.
final class LoopInbox: @unchecked Sendable {
    typealias Work = ClientLoop.Work

    struct State {
        var work: [Work] = []
        var isOver = false
        /// Whether a thread is in the loop.
        var isTaken = true
        /// Whether the loop's thread waits to enter. It enters next.
        var isThreadWaiting = false
        /// Whether a visiting thread is blocked in the loop, waiting for its response.
        var isVisitorWaiting = false
        /// The time until which the loop's thread waits for sockets, if nothing wakes it.
        var sleepEnd = Int64.max
        /// Nil once the loop has ended. A thread that wakes the handle retains it during the call.
        var multi: MultiHandle?
    }

    private let state = Locked(State())
    private let turn = DispatchSemaphore(value: 0)
    // Used only by the loop's thread. Its capacity is reused.
    @exclusivity(unchecked)
    private var taken: [Work] = []

    func withLock<Value>(_ body: (inout State) -> Value) -> Value { state.withLock(body) }

    /// Queues work for the loop. False if the loop has ended.
    func post(_ work: @escaping Work) -> Bool {
        let (isAccepted, sleeper) = withLock { state -> (Bool, MultiHandle?) in
            guard !state.isOver else { return (false, nil) }
            state.work.append(work)
            // A thread in the loop checks for work before it leaves.
            let sleeps = !state.isTaken || state.isVisitorWaiting
            return (true, state.work.count == 1 && sleeps ? state.multi : nil)
        }
        sleeper?.wake()
        return isAccepted
    }

    // MARK: the loop's thread

    /// Passes all queued work to `body`.
    func takeWork(_ body: ([Work]) -> Void) {
        withLock { unsafe swap(&$0.work, &taken) }
        guard unsafe !taken.isEmpty else { return }
        unsafe body(taken)
        unsafe taken.removeAll(keepingCapacity: true)
    }

    /// Lets other threads enter the loop until `enter()`. False, without effect, if work is queued.
    func leave(until deadline: Int64) -> Bool {
        withLock { state in
            guard state.work.isEmpty else { return false }
            state.isTaken = false
            state.sleepEnd = deadline
            return true
        }
    }

    /// Enters the loop again. Waits for a visiting thread to leave.
    func enter() {
        let waits = withLock { state -> Bool in
            state.isThreadWaiting = state.isTaken
            state.isTaken = true
            return state.isThreadWaiting
        }
        guard waits else { return }
        turn.wait()
        // The lock makes the other thread's changes visible.
        withLock { _ in }
    }

    /// Refuses further work. False, without effect, if work is queued.
    func close() -> Bool {
        withLock { state in
            guard state.work.isEmpty else { return false }
            state.isOver = true
            state.multi = nil
            return true
        }
    }

    // MARK: visitors

    enum Entry { case entered, left, over }

    /// Enters the loop if no thread is in it and no work is queued; otherwise queues `work`, if
    /// any. The caller must hold no lock, because a visit handles everything that is due in the
    /// loop.
    func enter(orLeave work: () -> Work?) -> Entry {
        var sleeper: MultiHandle?
        let entry = withLock { state -> Entry in
            guard !state.isOver else { return .over }
            guard state.isTaken || !state.work.isEmpty else {
                state.isTaken = true
                return .entered
            }
            if let work = work() {
                state.work.append(work)
                sleeper = state.isVisitorWaiting ? state.multi : nil
            }
            return .left
        }
        sleeper?.wake()
        return entry
    }

    /// Ends a visit.
    /// - Parameter deadline: the time of the next event that is due in the loop.
    func leaveAfterVisit(_ deadline: Int64) {
        let (isHandedOver, sleeper) = withLock { state -> (Bool, MultiHandle?) in
            if state.isThreadWaiting {
                // The loop's thread enters next, so the loop stays taken.
                state.isThreadWaiting = false
                return (true, nil)
            }
            state.isTaken = false
            let isLeft = !state.work.isEmpty || deadline < state.sleepEnd
            return (false, isLeft ? state.multi : nil)
        }
        if isHandedOver { turn.signal() }
        sleeper?.wake()
    }

    /// Sets whether new work interrupts a visitor's wait. False, without effect, if that wait must
    /// not begin: work is queued, or the loop's thread waits to enter.
    func setVisitorWaiting(_ isWaiting: Bool) -> Bool {
        withLock { state in
            guard !isWaiting || state.work.isEmpty && !state.isThreadWaiting else { return false }
            state.isVisitorWaiting = isWaiting
            return true
        }
    }
}

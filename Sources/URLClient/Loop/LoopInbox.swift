internal import Dispatch
internal import HTTPCodecs
internal import ToolkitSystem

/// The entrance to a loop: work for it, and whose turn in it is.
final class LoopInbox: @unchecked Sendable {
    typealias Work = ClientLoop.Work

    struct State {
        var work: [Work] = []
        var isOver = false
        /// Whether a thread is in the loop.
        var isTaken = true
        /// Whether the loop's thread waits for its turn; it is the next one then.
        var isThreadWaiting = false
        /// Whether a visiting thread is blocked in the loop, waiting for its response.
        var isVisitorWaiting = false
        /// Until when the loop's thread waits for sockets unless something happens.
        var sleepEnd = Int64.max
        /// A thread that wakes it retains it meanwhile.
        var multi: MultiHandle?
    }

    private let state = Locked(State())
    private let turn = DispatchSemaphore(value: 0)
    // Of the loop's thread. Its capacity is reused.
    @exclusivity(unchecked)
    private var taken: [Work] = []

    func withLock<Value>(_ body: (inout State) -> Value) -> Value { state.withLock(body) }

    /// Leaves work. False if the thread has ended.
    func post(_ work: @escaping Work) -> Bool {
        let (isAccepted, sleeper) = withLock { state -> (Bool, MultiHandle?) in
            guard !state.isOver else { return (false, nil) }
            state.work.append(work)
            // A thread in the loop looks here before it leaves.
            let sleeps = !state.isTaken || state.isVisitorWaiting
            return (true, state.work.count == 1 && sleeps ? state.multi : nil)
        }
        sleeper?.wake()
        return isAccepted
    }

    // MARK: the loop's thread

    /// Takes all work.
    func takeWork(_ body: ([Work]) -> Void) {
        withLock { unsafe swap(&$0.work, &taken) }
        guard unsafe !taken.isEmpty else { return }
        unsafe body(taken)
        unsafe taken.removeAll(keepingCapacity: true)
    }

    /// Lets other threads into the loop, unless there is work.
    func leave(until deadline: Int64) -> Bool {
        withLock { state in
            guard state.work.isEmpty else { return false }
            state.isTaken = false
            state.sleepEnd = deadline
            return true
        }
    }

    /// Enters the loop again, after the thread that may be in it.
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

    /// Refuses further work, unless there is some.
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

    /// Enters the loop if no thread is in it, and leaves work otherwise. The caller must hold no lock:
    /// whatever is due in the loop may be done meanwhile.
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
    /// - Parameter deadline: when something is due in the loop.
    func leaveAfterVisit(_ deadline: Int64) {
        let (isHandedOver, sleeper) = withLock { state -> (Bool, MultiHandle?) in
            if state.isThreadWaiting {
                // The loop stays taken, by its thread.
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

    /// Sets whether new work interrupts a visitor's wait. False if there is work.
    func setVisitorWaiting(_ isWaiting: Bool) -> Bool {
        withLock { state in
            guard !isWaiting || state.work.isEmpty && !state.isThreadWaiting else { return false }
            state.isVisitorWaiting = isWaiting
            return true
        }
    }
}

internal import Dispatch
internal import HTTPCodecs
internal import HTTPParser
internal import Synchronization

/// The loop of a session: all of libcurl, and every decision about a task, happens in it.
///
/// It belongs to a thread that waits for the sockets. While that one waits, a task that starts takes
/// the loop over for a moment and sends its request itself, so that nobody has to be woken for it;
/// `isTaken` says whose turn it is. Work that comes meanwhile is left in an inbox. Nothing that the
/// loop calls may block, and no lock is held while it calls anything.
final class ClientLoop: @unchecked Sendable {
    typealias Work = @Sendable () -> Void

    struct Inbox {
        var work: [Work] = []
        var isOver = false
        /// Whether somebody is in the loop.
        var isTaken = true
        /// Whether the loop's thread waits for its turn; then it is the next.
        var isThreadWaiting = false
        /// Whether who is in the loop waits there for an answer.
        var isVisitorWaiting = false
        /// Until when the thread waits for sockets unless something happens.
        var sleepEnd = Int64.max
        /// Whoever wakes it holds it, so that it lives until the last of them is done.
        var multi: MultiHandle?
    }

    let configuration: ClientConfiguration
    let defaultFields: DefaultFields
    let inbox = Locked(Inbox())
    let turn = DispatchSemaphore(value: 0)
    /// How many runners there are, for those who ask from outside.
    let runnerCount = Atomic(0)
    var multi: MultiHandle?

    // Of whoever is in the loop.
    var now: Int64 = System.now()
    // Only one is in the loop, and nobody calls out while changing these.
    @exclusivity(unchecked)
    var runners: [TransactionRunner] = []
    @exclusivity(unchecked)
    var idleHandles: [EasyHandle] = []
    /// Who is called between two calls of libcurl, and whose end has to be told.
    let afterwards = RunnerQueue(.afterwards)
    let completions = RunnerQueue(.completion)
    /// Whose reader is told of a piece as soon as nobody is in the loop, for the reader wants in.
    var streamToNotify: ContentStream?
    // Emptied, for the next work.
    @exclusivity(unchecked)
    private var spareWork: [Work] = []
    /// The limits of requests that have none of their own.
    let defaultLimits: TransactionRunner.Limits
    /// Those that were found fit to be sent last.
    var validatedFields = HTTPFields()
    var hasNewTransfers = false
    var nextLook: Int64 = .max
    /// How often the deadlines were looked at, for tests.
    var lookCount = 0
    var isEnding = false
    private var onEnd: Work?
    var wantsReconnection = false
    @exclusivity(unchecked)
    var routes: SharedRoutes
    @exclusivity(unchecked)
    var patience: InlineWaitPolicy
    /// The same for those who read content as it comes.
    @exclusivity(unchecked)
    var contentPatience: InlineWaitPolicy
    /// Where the application trusts a certificate in which the usual check has found a fault.
    var overruled: Set<Origin> = []
    /// As whom tunnels are asked for or were made that are kept, by their proxies.
    var tunnelUsers: [Origin: TunnelUser] = [:]
    /// Whether OpenSSL may write to a socket, which can raise a signal.
    var mayBeSecure = false
    let admission: Admission

    init(_ configuration: ClientConfiguration) {
        self.configuration = configuration
        defaultFields = DefaultFields(configuration)
        defaultLimits = TransactionRunner.Limits(configuration.timeouts)
        admission = Admission(configuration)
        unsafe routes = SharedRoutes(configuration)
        unsafe patience = InlineWaitPolicy(configuration.briefWait)
        unsafe contentPatience = InlineWaitPolicy(configuration.briefWait, usual: 0)
        let multi = MultiHandle(idleConnections: configuration.idleConnectionLimit)
        self.multi = multi
        inbox.withLock { $0.multi = multi }
    }

    /// Starts the thread. Without it, or without libcurl, all work is refused.
    func start() {
        guard multi != nil, System.startThread({ self.run() }) else {
            inbox.withLock { $0.isOver = true }
            return
        }
    }

    // MARK: from any thread

    /// Has something done by the thread. False if that has ended.
    @discardableResult
    func post(_ work: @escaping Work) -> Bool {
        let (isAccepted, sleeper) = inbox.withLock { inbox -> (Bool, MultiHandle?) in
            guard !inbox.isOver else { return (false, nil) }
            inbox.work.append(work)
            // Who is in the loop looks at the inbox before leaving.
            let sleeps = !inbox.isTaken || inbox.isVisitorWaiting
            return (true, inbox.work.count == 1 && sleeps ? inbox.multi : nil)
        }
        sleeper?.wake()
        return isAccepted
    }

    /// Ends the thread when nothing is left to do, then calls `done` on it.
    func end(_ done: @escaping Work) {
        let isTaken = post {
            self.isEnding = true
            self.onEnd = done
        }
        if !isTaken { done() }
    }

    /// Has all connections closed, at once or as soon as nothing runs. `done` is called at once.
    func closeConnections(_ done: @escaping Work) {
        let isTaken = post {
            self.wantsReconnection = true
            self.reconnectIfRequested()
            done()
        }
        if !isTaken { done() }
    }

    // MARK: the thread

    private func run() {
        while true {
            reconnectIfRequested()
            takeWork()
            notifyCompletions()
            if isEnding, runningCount == 0, closeInbox() { break }
            guard let multi else { break }
            perform(multi, rounds: .max)
            if isEnding || wantsReconnection, runningCount == 0 { continue }
            let wait = waitingTime()
            let turn = multi.poller.turn
            let told = takeStreamToNotify()
            let leaves = wait > 0 && leave()
            told?.notifyReader()
            let events = multi.wait(milliseconds: leaves ? wait : 0)
            if leaves { enter() }
            now = System.now()
            multi.handle(events: events, at: now, since: turn)
        }
        unsafe idleHandles = []
        multi = nil
        onEnd?()
        onEnd = nil
    }

    /// Lets others into the loop, unless there is something to do.
    private func leave() -> Bool {
        let deadline = nextDeadline
        return inbox.withLock { inbox in
            guard inbox.work.isEmpty else { return false }
            inbox.isTaken = false
            inbox.sleepEnd = deadline
            return true
        }
    }

    /// Takes the loop again, after those who are in it.
    private func enter() {
        let waits = inbox.withLock { inbox -> Bool in
            inbox.isThreadWaiting = inbox.isTaken
            inbox.isTaken = true
            return inbox.isThreadWaiting
        }
        guard waits else { return }
        turn.wait()
        // What the other has done is seen from here on.
        inbox.withLock { _ in }
    }

    /// Closes all connections once nothing uses them. Who still wakes the old handle has left its
    /// work in the inbox before, which is looked at next.
    private func reconnectIfRequested() {
        guard wantsReconnection, runningCount == 0 else { return }
        wantsReconnection = false
        guard let fresh = MultiHandle(idleConnections: configuration.idleConnectionLimit) else {
            return
        }
        multi = fresh
        unsafe idleHandles = []
        inbox.withLock { $0.multi = fresh }
    }

    private func takeWork() {
        inbox.withLock { unsafe swap(&$0.work, &spareWork) }
        guard unsafe !spareWork.isEmpty else { return }
        now = System.now()
        for item in unsafe spareWork { item() }
        unsafe spareWork.removeAll(keepingCapacity: true)
    }

    /// Refuses further work, unless some has come.
    private func closeInbox() -> Bool {
        inbox.withLock { inbox in
            guard inbox.work.isEmpty else { return false }
            inbox.isOver = true
            inbox.multi = nil
            return true
        }
    }

    func perform(_ multi: MultiHandle, rounds: Int) {
        var left = rounds
        admitWaiting()
        repeat {
            hasNewTransfers = false
            left -= 1
            if now >= nextLook { lookAtDeadlines() }
            multi.perform(at: now)
            runAfterwards()
            while let (transfer, code) = multi.nextDone() {
                transfer.runner.transferEnded(transfer, code)
            }
            runAfterwards()
            admitWaiting()
        } while left > 0 && (hasNewTransfers || multi.deadline <= now)
        notifyCompletions()
    }

    /// Those who wait for tasks are told together, so that whoever runs them is woken once.
    private func notifyCompletions() {
        while let runner = completions.next() { runner.notifyEnd() }
    }

    private func admitWaiting() {
        while let runner = admission.next() { runner.admitted() }
    }

    /// For what a callback must not do itself: adding, removing, starting to flow again.
    private func runAfterwards() {
        while let runner = afterwards.next() { runner.afterCallbacks() }
    }

    private func waitingTime() -> Int32 {
        let deadline = nextDeadline
        guard deadline != .max else { return 60_000 }
        return deadline <= now
            ? 0 : Int32(clamping: min((deadline - now) / 1_000_000 + 1, 60_000))
    }

    /// When something has to be done though nothing has happened.
    var nextDeadline: Int64 { min(nextLook, multi?.deadline ?? .max) }
}

internal import Dispatch
internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

/// The loop of a session: runs libcurl, and makes every decision about a task.
///
/// The loop has a thread that waits for the sockets. While the thread waits, a thread that starts a
/// task may briefly enter the loop and send the request itself: see ``InlineLoop``. One thread at a
/// time is in the loop; work from other threads is queued in the inbox. Code that the loop calls
/// must not block, and the loop holds no lock during calls.
final class ClientLoop: @unchecked Sendable {
    typealias Work = @Sendable () -> Void

    /// The deadlines of all tasks, which are checked together.
    struct Deadlines {
        /// The time of the next check.
        var nextLook: Int64 = .max
        /// How often the deadlines were checked. For tests.
        var lookCount = 0
    }

    /// Pending requests that concern the whole session.
    struct Requests {
        /// The thread ends when nothing is left to do.
        var isEnding = false
        var onEnd: Work?
        /// All connections are closed as soon as nothing uses them.
        var wantsReconnection = false
    }

    let configuration: ClientConfiguration
    let inbox = LoopInbox()
    let runners = RunnerSet<TransactionRunner>()
    let webSockets = WebSocketSet()
    let admission: Admission<TransactionRunner>
    let inline: InlineLoop

    // Used only by the thread that is in the loop.
    private(set) var multi: MultiHandle?
    var now: Int64 = LoopClock.now()
    let defaults: RequestDefaults
    @exclusivity(unchecked)
    private var idleHandles: [EasyHandle] = []
    private var hasNewTransfers = false
    private(set) var deadlines = Deadlines()
    private(set) var requests = Requests()
    var routing: Routing

    init(_ configuration: ClientConfiguration) {
        self.configuration = configuration
        defaults = RequestDefaults(configuration)
        admission = Admission(configuration)
        inline = InlineLoop(configuration)
        routing = Routing(configuration)
        let multi = MultiHandle(idleConnections: configuration.idleConnectionLimit)
        self.multi = multi
        inbox.withLock { $0.multi = multi }
    }

    /// Starts the thread. If the thread or libcurl's handle cannot be created, all work is refused.
    func start() {
        guard multi != nil, SystemThread.start({ self.run() }) else {
            inbox.withLock { $0.isOver = true }
            return
        }
    }

    // MARK: from any thread

    /// Queues work for the loop's thread. False if the thread has ended.
    @discardableResult
    func post(_ work: @escaping Work) -> Bool { inbox.post(work) }

    /// Ends the thread when nothing is left to do, then calls `done` on it.
    func end(_ done: @escaping Work) {
        let isTaken = post {
            self.requests.isEnding = true
            self.requests.onEnd = done
        }
        if !isTaken { done() }
    }

    /// Closes all connections as soon as nothing uses them. `done` may be called before that.
    func closeConnections(_ done: @escaping Work) {
        let isTaken = post {
            self.requests.wantsReconnection = true
            self.reconnectIfRequested()
            done()
        }
        if !isTaken { done() }
    }

    // MARK: the thread

    /// How often libcurl is called before the thread checks its work and the sockets again. While a
    /// download always has bytes to read, libcurl 8.9 and later repeatedly asks to be called
    /// immediately.
    private static var roundLimit: Int { 8 }

    private func run() {
        while true {
            reconnectIfRequested()
            takeWork()
            notifyCompletions()
            if isEnding, isIdle, inbox.close() { break }
            guard let multi else { break }
            perform(multi, rounds: Self.roundLimit)
            if hasEndToReach { continue }
            let wait = waitingTime()
            let turn = multi.poller.turn
            let stream = inline.takeStreamToNotify()
            let leaves = wait > 0 && inbox.leave(until: nextDeadline)
            stream?.notifyReader()
            let events = multi.wait(milliseconds: leaves ? wait : 0)
            if leaves { inbox.enter() }
            now = LoopClock.now()
            multi.handle(events: events, at: now, since: turn)
        }
        unsafe idleHandles = []
        multi = nil
        requests.onEnd?()
        requests.onEnd = nil
    }

    var isEnding: Bool { requests.isEnding }

    /// Whether no task runs, and no WebSocket is open.
    private var isIdle: Bool { runners.count == 0 && webSockets.isEmpty }

    /// Whether the loop is idle, and its thread has to end or to reconnect.
    var hasEndToReach: Bool {
        (requests.isEnding || requests.wantsReconnection) && isIdle
    }

    /// Closes all connections if that was requested and nothing uses them. Another thread may still
    /// wake the old handle. That thread has queued its work before, and the loop takes all work
    /// next.
    private func reconnectIfRequested() {
        guard requests.wantsReconnection, isIdle else { return }
        requests.wantsReconnection = false
        guard let fresh = MultiHandle(idleConnections: configuration.idleConnectionLimit) else {
            return
        }
        multi = fresh
        unsafe idleHandles = []
        inbox.withLock { $0.multi = fresh }
    }

    private func takeWork() {
        inbox.takeWork { work in
            now = LoopClock.now()
            for item in work { item() }
        }
    }

    /// Runs everything that is due, in up to `rounds` calls of libcurl. If more is due after the
    /// last round, ``nextDeadline`` is in the past.
    func perform(_ multi: MultiHandle, rounds: Int) {
        var left = rounds
        admitWaiting()
        repeat {
            hasNewTransfers = false
            left -= 1
            if now >= deadlines.nextLook { lookAtDeadlines() }
            multi.perform(at: now)
            runAfterwards()
            while let (receiver, code) = multi.nextDone() {
                receiver.ended(code)
            }
            runAfterwards()
            admitWaiting()
        } while left > 0 && (hasNewTransfers || multi.deadline <= now)
        notifyCompletions()
    }

    /// Notifies all tasks that are over, together, so that the thread that runs their waiters is
    /// woken once.
    private func notifyCompletions() {
        while let runner = runners.completions.next() { runner.notifyEnd() }
    }

    private func admitWaiting() {
        while let runner = admission.next() { runner.admitted() }
    }

    /// Runs the steps that are forbidden in a callback of libcurl: adding, removing and unpausing
    /// transfers.
    private func runAfterwards() {
        while let runner = runners.afterwards.next() { runner.afterCallbacks() }
    }

    private func waitingTime() -> Int32 {
        let deadline = nextDeadline
        guard deadline != .max else { return 60_000 }
        return deadline <= now
            ? 0 : Int32(clamping: min((deadline - now) / 1_000_000 + 1, 60_000))
    }

    // MARK: for runners

    func register(_ runner: TransactionRunner) { runners.insert(runner) }

    func unregister(_ runner: TransactionRunner) { runners.remove(runner) }

    func callAfterwards(_ runner: TransactionRunner) { runners.afterwards.append(runner) }

    /// Marks a task as over. It is notified after everything else that is due.
    func complete(_ runner: TransactionRunner) { runners.completions.append(runner) }

    func takeHandle() -> EasyHandle? {
        unsafe idleHandles.popLast() ?? makeHandle()
    }

    func makeHandle() -> EasyHandle? { multi.flatMap(EasyHandle.init) }

    func giveBack(_ handle: EasyHandle) {
        handle.detach()
        guard unsafe idleHandles.count < 64 else { return }
        unsafe idleHandles.append(handle)
    }

    func add(_ handle: EasyHandle) -> Bool {
        hasNewTransfers = true
        return multi?.add(handle) ?? false
    }

    func remove(_ handle: EasyHandle) {
        multi?.remove(handle)
    }

    /// Whether a server's certificates are accepted.
    func trusts(
        _ certificates: [[UInt8]], isTrusted: Bool, of settings: TransferSettings
    ) -> Bool {
        guard let trust = settings.route.trust else { return isTrusted }
        // libcurl also asks about the certificates of an HTTPS proxy, without naming the server. A
        // policy that accepts an origin's invalid certificate must not accept a proxy's.
        if !isTrusted, settings.route.proxy?.kind == .https { return false }
        let origin = settings.wire.origin
        let isAccepted = trust.evaluate(
            TrustPolicy.Evaluation(
                origin: origin, certificates: certificates, isTrusted: isTrusted))
        if isAccepted, !isTrusted { routing.overrule(origin) }
        return isAccepted
    }

    // MARK: deadlines

    /// The shortest time between two checks of the deadlines, in nanoseconds.
    static var granularity: Int64 { 10_000_000 }

    /// When the next deadline has to be checked, or libcurl has to be called.
    var nextDeadline: Int64 { min(deadlines.nextLook, multi?.deadline ?? .max) }

    /// Has the deadlines checked at `time` or earlier; `granularity` may delay the check.
    func look(at time: Int64) {
        deadlines.nextLook = min(deadlines.nextLook, time)
    }

    /// Checks all deadlines. Progress only postpones deadlines, so it schedules no check.
    private func lookAtDeadlines() {
        deadlines.nextLook = .max
        deadlines.lookCount &+= 1
        for runner in runners.all {
            if let end = runner.content.pullEnd {
                if end <= now { runner.endPull() } else { look(at: end) }
            }
            if let end = runner.content.rateEnd {
                if end <= now { runner.endRatePause() } else { look(at: end) }
            }
            runner.checkDeadlines()
        }
        webSockets.checkDeadlines()
        if deadlines.nextLook != .max {
            deadlines.nextLook = max(deadlines.nextLook, now + Self.granularity)
        }
    }
}

internal import Dispatch
internal import HTTPCodecs

/// The loop of a session: all of libcurl, and every decision about a task, happens in it.
///
/// It belongs to a thread that waits for the sockets. While that one waits, a task that starts takes
/// the loop over for a moment and sends its request itself, so that nobody has to be woken for it;
/// `isTaken` says whose turn it is. Work that comes meanwhile is left in an inbox. Nothing that the
/// loop calls may block, and no lock is held while it calls anything.
final class ClientLoop: @unchecked Sendable {
    typealias Work = @Sendable () -> Void

    /// What a task has come to.
    private struct Completion {
        let task: TransferTask
        let error: ClientError?
        let content: [UInt8]
        let metrics: ClientMetrics?
    }

    private struct Inbox {
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
    let usualFields: UsualFields
    private let inbox = Locked(Inbox())
    private let turn = DispatchSemaphore(value: 0)
    private var multi: MultiHandle?

    // Of whoever is in the loop.
    private(set) var now: Int64 = System.now()
    private var drivers: [TaskDriver] = []
    private var idleHandles: [EasyHandle] = []
    private var afterwards: [TaskDriver] = []
    private var completions: [Completion] = []
    private var hasNewTransfers = false
    private var nextLook: Int64 = .max
    private var isEnding = false
    private var onEnd: Work?
    private var wantsRenewal = false
    private var routes: SharedRoutes
    private(set) var patience: Patience
    /// Whether OpenSSL may write to a socket, which can raise a signal.
    private var mayBeSecure = false
    var admission: Admission

    init(_ configuration: ClientConfiguration) {
        self.configuration = configuration
        usualFields = UsualFields(configuration)
        admission = Admission(configuration)
        routes = SharedRoutes(configuration)
        patience = Patience(configuration.briefWait)
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

    /// Has something done, at once and by the caller if nobody else is in the loop. The caller must
    /// hold no lock: whatever is due in the loop may be done meanwhile. False if the thread has
    /// ended.
    func perform(_ driver: TaskDriver? = nil, _ work: @escaping Work) -> Bool {
        var sleeper: MultiHandle?
        let (isAccepted, isMine) = inbox.withLock { inbox -> (Bool, Bool) in
            guard !inbox.isOver else { return (false, false) }
            guard !inbox.isTaken, inbox.work.isEmpty else {
                inbox.work.append(work)
                sleeper = inbox.isVisitorWaiting ? inbox.multi : nil
                return (true, false)
            }
            inbox.isTaken = true
            return (true, true)
        }
        sleeper?.wake()
        if isMine { visit(driver, work) }
        return isAccepted
    }

    /// Starts a task; see ``perform(_:)``. An answer that is expected at once is waited for.
    func start(_ driver: TaskDriver) -> Bool {
        perform(driver) { driver.start() }
    }

    /// A turn of a thread that is not the loop's.
    /// - Parameter driver: whose end is worth a short wait.
    private func visit(_ driver: TaskDriver?, _ work: Work) {
        now = System.now()
        let waits = driver != nil && drivers.isEmpty && patience.isWorthwhile
        if waits { multi?.poller.hold() }
        work()
        if let multi {
            let signals = mayBeSecure ? System.holdBrokenPipe() : nil
            perform(multi, rounds: 2)
            if waits, let driver { wait(for: driver, multi) }
            if let signals { System.restore(signals) }
        }
        let isDone = drivers.isEmpty && (isEnding || wantsRenewal)
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
    }

    /// Waits for the answer where it is asked for, as long as nobody else wants anything: an answer
    /// that comes within a fraction of a millisecond is there before two threads could be woken.
    private func wait(for driver: TaskDriver, _ multi: MultiHandle) {
        let end = now + patience.limit
        if driver.stage == .running, setWaiting(true) {
            var goesOn = true
            while goesOn, driver.stage == .running, drivers.count == 1, now < end {
                goesOn = multi.waitForHeld(nanoseconds: end - now)
                now = System.now()
                perform(multi, rounds: 2)
            }
            _ = setWaiting(false)
            patience.note(isRewarded: driver.stage == .over)
        }
        multi.poller.letGo()
    }

    /// Whether those who leave work shall interrupt the wait. False if some is there.
    private func setWaiting(_ isWaiting: Bool) -> Bool {
        inbox.withLock { inbox in
            guard !isWaiting || inbox.work.isEmpty && !inbox.isThreadWaiting else { return false }
            inbox.isVisitorWaiting = isWaiting
            return true
        }
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
            self.wantsRenewal = true
            self.renewIfWanted()
            done()
        }
        if !isTaken { done() }
    }

    // MARK: the thread

    private func run() {
        while true {
            renewIfWanted()
            takeWork()
            tellCompletions()
            if isEnding, drivers.isEmpty, closeInbox() { break }
            guard let multi else { break }
            perform(multi, rounds: .max)
            if drivers.isEmpty, isEnding || wantsRenewal { continue }
            let wait = waitingTime()
            let leaves = wait > 0 && leave()
            let events = multi.wait(milliseconds: leaves ? wait : 0)
            if leaves { enter() }
            now = System.now()
            multi.handle(events: events)
        }
        idleHandles = []
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
    private func renewIfWanted() {
        guard wantsRenewal, drivers.isEmpty else { return }
        wantsRenewal = false
        guard let fresh = MultiHandle(idleConnections: configuration.idleConnectionLimit) else {
            return
        }
        multi = fresh
        idleHandles = []
        inbox.withLock { $0.multi = fresh }
    }

    private func takeWork() {
        let work = inbox.withLock { inbox -> [Work] in
            guard !inbox.work.isEmpty else { return [] }
            let work = inbox.work
            inbox.work = []
            return work
        }
        guard !work.isEmpty else { return }
        now = System.now()
        for item in work { item() }
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

    private func perform(_ multi: MultiHandle, rounds: Int) {
        var left = rounds
        admitWaiting()
        repeat {
            hasNewTransfers = false
            left -= 1
            multi.perform(at: now)
            runAfterwards()
            while let (transfer, code) = multi.nextDone() {
                transfer.driver.transferEnded(transfer, code)
            }
            runAfterwards()
            admitWaiting()
            if now >= nextLook { lookAtDeadlines() }
        } while left > 0 && (hasNewTransfers || multi.deadline <= now)
        tellCompletions()
    }

    /// Those who wait for tasks are told together, so that whoever runs them is woken once.
    private func tellCompletions() {
        while !completions.isEmpty {
            let told = completions
            completions.removeAll(keepingCapacity: true)
            for one in told { one.task.complete(one.error, one.content, one.metrics) }
        }
    }

    private func admitWaiting() {
        while let driver = admission.next() { driver.admitted() }
    }

    /// For what a callback must not do itself: adding, removing, starting to flow again.
    private func runAfterwards() {
        while !afterwards.isEmpty {
            let drivers = afterwards
            afterwards.removeAll(keepingCapacity: true)
            for driver in drivers {
                driver.isCalledAfterwards = false
                driver.afterCallbacks()
            }
        }
    }

    private func waitingTime() -> Int32 {
        let deadline = nextDeadline
        guard deadline != .max else { return 60_000 }
        return deadline <= now
            ? 0 : Int32(clamping: min((deadline - now) / 1_000_000 + 1, 60_000))
    }

    /// When something has to be done though nothing has happened.
    private var nextDeadline: Int64 { min(nextLook, multi?.deadline ?? .max) }

    // MARK: for drivers, on the thread

    func register(_ driver: TaskDriver) {
        guard driver.place == nil else { return }
        driver.place = drivers.count
        drivers.append(driver)
    }

    func unregister(_ driver: TaskDriver) {
        guard let place = driver.place, let last = drivers.popLast() else { return }
        driver.place = nil
        guard last !== driver else { return }
        last.place = place
        drivers[place] = last
    }

    var allDrivers: [TaskDriver] { drivers }

    func callAfterwards(_ driver: TaskDriver) {
        guard !driver.isCalledAfterwards else { return }
        driver.isCalledAfterwards = true
        afterwards.append(driver)
    }

    func takeHandle() -> EasyHandle? { idleHandles.popLast() ?? multi.flatMap(EasyHandle.init) }

    func giveBack(_ handle: EasyHandle) {
        handle.detach()
        guard idleHandles.count < 64 else { return }
        idleHandles.append(handle)
    }

    /// How a request reaches its server, where the configuration alone says that.
    func sharedRoute(
        for request: ClientRequest, to origin: Origin, _ target: ConnectTarget?,
        receivesMuch: Bool
    ) -> HopRoute? {
        if origin.isSecure { mayBeSecure = true }
        guard target == nil else { return nil }
        return routes.route(request, to: origin, receivesMuch: receivesMuch, configuration)
    }

    /// A task is over; it is said after everything else that is going on.
    func complete(
        _ task: TransferTask, _ error: ClientError?, _ content: [UInt8], _ metrics: ClientMetrics?
    ) {
        completions.append(
            Completion(task: task, error: error, content: content, metrics: metrics))
    }

    /// A request was answered, so long after it was handed over.
    func noteAnswer(after nanoseconds: Int64) {
        patience.note(answer: nanoseconds)
    }

    func add(_ handle: EasyHandle) -> Bool {
        hasNewTransfers = true
        return multi?.add(handle) ?? false
    }

    func remove(_ handle: EasyHandle) {
        multi?.remove(handle)
    }

    // MARK: deadlines

    /// How far apart two looks at the deadlines are at least.
    private static var granularity: Int64 { 10_000_000 }

    /// Has the deadlines looked at no later than at `time`.
    func look(at time: Int64) {
        nextLook = min(nextLook, time)
    }

    /// One look at all of them. Progress only moves a deadline away, so nothing has to be done
    /// about it when it happens.
    private func lookAtDeadlines() {
        nextLook = .max
        for driver in drivers {
            guard let deadline = driver.nextDeadline() else { continue }
            if deadline.time <= now {
                driver.timedOut(deadline.limit)
            } else {
                nextLook = min(nextLook, deadline.time)
            }
        }
        if nextLook != .max { nextLook = max(nextLook, now + Self.granularity) }
    }
}

internal import HTTPCodecs

/// The thread of a session: all of libcurl, and every decision about a task, happens on it.
///
/// Other threads leave work in an inbox and wake it. Nothing that it calls may block, and no lock
/// is held while it calls anything.
final class ClientLoop: @unchecked Sendable {
    typealias Work = @Sendable () -> Void

    private struct Inbox {
        var work: [Work] = []
        var isOver = false
        /// Whoever wakes it holds it, so that it lives until the last of them is done.
        var multi: MultiHandle?
    }

    let configuration: ClientConfiguration
    private let inbox = Locked(Inbox())
    private var multi: MultiHandle?

    // Of the thread alone.
    private(set) var now: Int64 = System.now()
    private var drivers: [ObjectIdentifier: TaskDriver] = [:]
    private var idleHandles: [EasyHandle] = []
    private var afterwards: [TaskDriver] = []
    private var hasNewTransfers = false
    private var nextLook: Int64 = .max
    private var isEnding = false
    private var onEnd: Work?
    private var wantsRenewal = false
    var admission: Admission

    init(_ configuration: ClientConfiguration) {
        self.configuration = configuration
        admission = Admission(configuration)
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

    /// Has something done on the thread. False if that has ended.
    @discardableResult
    func post(_ work: @escaping Work) -> Bool {
        let (isTaken, sleeper) = inbox.withLock { inbox -> (Bool, MultiHandle?) in
            guard !inbox.isOver else { return (false, nil) }
            inbox.work.append(work)
            return (true, inbox.work.count == 1 ? inbox.multi : nil)
        }
        sleeper?.wake()
        return isTaken
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
            if isEnding, drivers.isEmpty, closeInbox() { break }
            guard let multi else { break }
            perform(multi)
            if drivers.isEmpty, isEnding || wantsRenewal { continue }
            let wait = waitingTime()
            if wait > 0 { multi.poll(milliseconds: wait) }
            now = System.now()
        }
        idleHandles = []
        multi = nil
        onEnd?()
        onEnd = nil
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

    private func perform(_ multi: MultiHandle) {
        admitWaiting()
        repeat {
            hasNewTransfers = false
            multi.perform()
            runAfterwards()
            while let (transfer, code) = multi.nextDone() {
                transfer.driver.transferEnded(transfer, code)
            }
            runAfterwards()
            admitWaiting()
            if now >= nextLook { lookAtDeadlines() }
        } while hasNewTransfers
    }

    private func admitWaiting() {
        while let driver = admission.next() { driver.admitted() }
    }

    /// For what a callback must not do itself: adding, removing, starting to flow again.
    private func runAfterwards() {
        while !afterwards.isEmpty {
            let drivers = afterwards
            afterwards.removeAll(keepingCapacity: true)
            for driver in drivers { driver.afterCallbacks() }
        }
    }

    private func waitingTime() -> Int32 {
        guard nextLook != .max else { return 60_000 }
        return Int32(clamping: max(0, (nextLook - now) / 1_000_000 + 1))
    }

    // MARK: for drivers, on the thread

    func register(_ driver: TaskDriver) {
        drivers[ObjectIdentifier(driver)] = driver
    }

    func unregister(_ driver: TaskDriver) {
        drivers[ObjectIdentifier(driver)] = nil
    }

    var allDrivers: [TaskDriver] { Array(drivers.values) }

    func callAfterwards(_ driver: TaskDriver) {
        afterwards.append(driver)
    }

    func takeHandle() -> EasyHandle? { idleHandles.popLast() ?? EasyHandle() }

    func giveBack(_ handle: EasyHandle) {
        guard idleHandles.count < 64 else { return }
        handle.reset()
        idleHandles.append(handle)
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
        for driver in drivers.values {
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

package import Dispatch
package import HTTPParser
internal import Synchronization
package import ToolkitSystem

/// One thread's worth of connections: a serial Dispatch queue, a poller, and one Dispatch source
/// that wakes the queue when the poller has events.
///
/// A woken loop polls while events arrive, and waits some milliseconds longer before it gives the
/// thread back: a busy server runs at the speed of a plain poll loop, and an idle one holds no
/// thread (Docs/Decisions/0001). The loop is also an executor, so async handlers run on the thread
/// of their connection without a hop.
///
/// Everything marked "confined" is touched only on the loop's thread. Never block there; use
/// `BlockingHandler`.
@safe
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private struct Inbox: Sendable {
        var jobs: [LoopJob] = []
        var work: [@Sendable () -> Void] = []
        var isSignalled = false
    }

    /// The means to wake the loop: its queue, and the source that watches the poller.
    private struct Waking {
        let queue: DispatchQueue
        let source: any DispatchSourceRead
        /// Milliseconds to wait for more events before giving the thread back.
        let linger: CInt
    }

    /// The jobs of handlers.
    private struct Jobs {
        var waiting: [LoopJob] = []
        private(set) var running: [LoopJob] = []
        /// Whether the loop's thread has added to the inbox since it was last emptied.
        var areInInbox = false

        mutating func begin() { swap(&waiting, &running) }
        mutating func end() { running.removeAll(keepingCapacity: true) }
    }

    /// One batch of events.
    struct Turn {
        /// The monotonic clock in nanoseconds, read once for each batch.
        var now: UInt64
        /// When the batch was read, in nanoseconds of `now`; the bytes that its events report had
        /// arrived by then. `.max` after a connection was read without an event.
        var arrival = UInt64.max
        /// Whether a connection, which may have output in `sendBuffer`, calls a handler or a hook.
        var isInCall = false
    }

    private struct Timers {
        var wheel: TimerWheel
        /// The deadline that the poller wakes the loop for.
        var armed: UInt64?
        /// Whether deadlines fire on their own.
        let fire: Bool
    }

    private let waking: Waking
    package let poller: Poller
    private let inbox = Locked(Inbox())
    /// The thread that drains the poller now, or 0.
    private let thread = Atomic<UInt>(0)

    // Confined.
    @exclusivity(unchecked)
    private var clients = ClientTable()
    @exclusivity(unchecked)
    private var jobs = Jobs()
    @exclusivity(unchecked)
    private var timers: Timers
    /// The monotonic clock in nanoseconds, read once for each batch of events.
    package var now: UInt64 { unsafe turn.now }
    @exclusivity(unchecked)
    var turn: Turn
    /// The buffer that all connections read into, one after another.
    package let receiveRoom: UnsafeMutableRawBufferPointer
    /// The output of the current event. Handlers and hooks cannot use it; see `isFree`.
    @exclusivity(unchecked)
    package var sendBuffer = ByteBuffer(capacity: 32 << 10)
    /// The parser of heads that arrive in one piece.
    @exclusivity(unchecked)
    package var headParser: HeadParser
    /// The last content that came with its head. Its memory is reused unless a handler keeps it.
    @exclusivity(unchecked)
    var content: [UInt8] = []
    private let serialSide = LoopSerialExecutor()
    @exclusivity(unchecked)
    private var common: CommonFields
    var idle = IdleConnections()

    package static let receiveSize = 64 << 10

    /// - Parameters:
    ///   - label: names the queue in debuggers.
    ///   - linger: milliseconds to wait for more events before giving the thread back.
    ///   - serverName: the value of Server in each response; empty for none.
    ///   - firesDeadlines: whether deadlines fire by themselves. Tests turn this off and fire them
    ///     explicitly, so that they do not depend on machine speed.
    ///   - qos: the quality of service of the loop's queue.
    ///   - target: the target of the loop's queue; `nil` for a thread of the system.
    /// - Throws: if the poller cannot be created, for example because no descriptor is free.
    package init(
        label: String, linger: CInt = 10, limits: ParserLimits = .standard,
        leniency: ParserLeniency = [], serverName: String = "", firesDeadlines: Bool = true,
        qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil
    ) throws(SystemError) {
        poller = try Poller()
        unsafe receiveRoom = .allocate(byteCount: Self.receiveSize, alignment: 16)
        unsafe common = CommonFields(serverName: serverName)
        unsafe turn = Turn(now: Syscalls.monotonic())
        unsafe timers = Timers(wheel: TimerWheel(now: turn.now), fire: firesDeadlines)
        unsafe headParser = HeadParser(.request, limits: limits, leniency: leniency)
        let queue = DispatchQueue(label: label, qos: qos, target: target)
        let source = DispatchSource.makeReadSource(
            fileDescriptor: poller.descriptor, queue: queue)
        waking = Waking(queue: queue, source: source, linger: linger)
        source.setEventHandler { @Sendable [weak self] in self?.drain() }
        // The poller has to outlive the source that watches it.
        source.setCancelHandler { @Sendable [poller] in withExtendedLifetime(poller) {} }
        // Before the first event, which may run a job of an actor of this loop.
        unsafe serialSide.loop = self
        source.activate()
    }

    deinit {
        waking.source.cancel()
        unsafe receiveRoom.deallocate()
    }

    /// The quality of service of the loop's queue.
    package var qos: DispatchQoS { waking.queue.qos }

    /// Whether the caller runs on the loop's thread.
    package var isCurrent: Bool {
        thread.load(ordering: .relaxed) == Syscalls.currentThread()
    }

    /// Whether the caller may use the loop's connections without `execute`. Handlers, hooks and
    /// loggers may not: with `Task.immediate` they would write into their connection's output.
    package var isFree: Bool { unsafe isCurrent && !turn.isInCall }

    /// Calls a handler, a hook or a logger.
    @inline(__always)
    func call<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = unsafe turn.isInCall
        unsafe turn.isInCall = true
        defer { unsafe turn.isInCall = outer }
        return try body()
    }

    // MARK: Draining

    private func drain() {
        thread.store(Syscalls.currentThread(), ordering: .relaxed)
        defer { thread.store(0, ordering: .relaxed) }
        while true {
            let isWaiting = unsafe jobs.waiting.isEmpty && !jobs.areInInbox
            let count = poller.wait(milliseconds: isWaiting ? waking.linger : 0) {
                // Before the first event: its handler takes deadlines and the date from `now`.
                unsafe turn.now = Syscalls.monotonic()
                unsafe turn.arrival = turn.now
            } each: { event in
                self.dispatch(event)
            }
            runJobs()
            fireDeadlines()
            if unsafe jobs.areInInbox {
                takeInbox()
                // The next wake may bring work, which must not run before these jobs.
                runJobs()
            }
            if unsafe count == 0 && isWaiting && jobs.waiting.isEmpty && !jobs.areInInbox { break }
        }
        armTimer()
    }

    @inline(__always)
    private func dispatch(_ event: PollEvent) {
        // An event of this batch may be for a connection that an earlier event has closed.
        guard let client = unsafe clients[event.token] else {
            if event.token == Poller.wakeToken { takeInbox() }
            if event.token == Poller.timerToken { unsafe timers.armed = nil }
            return
        }
        client.handle(event)
    }

    private func takeInbox() {
        unsafe jobs.areInInbox = false
        let (newJobs, work) = inbox.withLock { inbox in
            let taken = (inbox.jobs, inbox.work)
            inbox.jobs = []
            inbox.work = []
            inbox.isSignalled = false
            return taken
        }
        unsafe jobs.waiting += newJobs
        for item in work { item() }
    }

    /// Runs jobs, and the jobs that these enqueue, so that a handler whose content has arrived
    /// continues in the same turn. The rounds are bounded, so that input is not delayed.
    private func runJobs() {
        var rounds = 16
        while unsafe !jobs.waiting.isEmpty, rounds > 0 {
            rounds -= 1
            unsafe jobs.begin()
            for job in unsafe jobs.running { run(job) }
            unsafe jobs.end()
        }
    }

    // MARK: Work

    /// Runs a job on the loop. On the loop's thread, enqueuing takes no lock.
    public func enqueue(_ job: consuming ExecutorJob) {
        add(LoopJob(job: UnownedJob(job), isIsolated: false))
    }

    fileprivate func add(_ job: LoopJob) {
        if isCurrent {
            unsafe jobs.waiting.append(job)
            return
        }
        signal { $0.jobs.append(job) }
    }

    /// Runs a closure on the loop's thread, after the current batch of events.
    package func execute(_ work: @escaping @Sendable () -> Void) {
        signal { $0.work.append(work) }
    }

    private func signal(_ add: (inout Inbox) -> Void) {
        let mustWake = inbox.withLock { inbox in
            add(&inbox)
            let wasSignalled = inbox.isSignalled
            inbox.isSignalled = true
            return !wasSignalled
        }
        // The loop's thread checks the inbox after its events, without a wake.
        if mustWake, isCurrent { unsafe jobs.areInInbox = true } else if mustWake { poller.wake() }
    }

    /// The loop as an executor of actors.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: serialSide)
    }

    private func run(_ job: LoopJob) {
        if job.isIsolated {
            unsafe job.job.runSynchronously(
                isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        } else {
            unsafe job.job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// Traps unless the caller runs on the loop's thread.
    public func checkIsolated() { precondition(isCurrent, "not on the event loop's thread") }

    // MARK: Clients (confined)

    /// Gives a client its token; events and deadlines reach it until `remove`.
    package func insert(_ client: LoopClient) { unsafe clients.insert(client) }

    package func remove(_ client: LoopClient) { unsafe clients.remove(client) }

    /// The client with a token; `nil` when it was removed.
    package func client(_ token: UInt64) -> LoopClient? { unsafe clients[token] }

    // MARK: Deadlines (confined)

    /// Sets the time, in nanoseconds of `now`, at which the client's `deadlineReached` is called.
    @inline(__always)
    package func setDeadline(_ deadline: UInt64, for client: LoopClient) {
        unsafe client.deadline = deadline
        if unsafe deadline < client.scheduled { schedule(client) }
    }

    private func schedule(_ client: LoopClient) {
        let tick = unsafe timers.wheel.insert(
            client.token, at: TimerWheel.tick(of: client.deadline))
        unsafe client.scheduled = tick &* TimerWheel.tick
    }

    private func fireDeadlines() {
        guard unsafe timers.wheel.count > 0, unsafe timers.fire else { return }
        var due: [(UInt64, UInt64)] = []
        unsafe timers.wheel.advance(to: now) { due.append(($0, $1)) }
        for (token, tick) in due { fire(token, tick) }
    }

    private func fire(_ token: UInt64, _ tick: UInt64) {
        guard let client = unsafe clients[token],
            unsafe client.scheduled == tick &* TimerWheel.tick
        else { return }
        unsafe client.scheduled = .max
        guard unsafe client.deadline != .max else { return }
        guard unsafe client.deadline <= now else { return schedule(client) }
        unsafe client.deadline = .max
        client.deadlineReached()
    }

    /// Has the poller wake the loop at the next deadline; called before the thread is given back.
    private func armTimer() {
        let next = unsafe timers.fire ? timers.wheel.next : nil
        guard unsafe next != timers.armed else { return }
        unsafe timers.armed = next
        poller.setTimer(next)
    }

    // MARK: Shared values (confined)

    /// Date and Server as lines, formatted once a second (RFC 9110 section 6.6.1).
    package var commonFields: UnsafeRawBufferPointer { unsafe common.lines(at: now) }

    /// Nanoseconds since the epoch at a time of the monotonic clock; up to a second out of date
    /// after the wall clock was set.
    package func wallTime(of time: UInt64) -> Int64 { unsafe common.wallTime(of: time) }

    /// Returns the shared head parser, which has read part of a head, and replaces it.
    package func exchangeHeadParser() -> HeadParser {
        var fresh = unsafe HeadParser(
            .request, limits: headParser.limits, leniency: headParser.leniency)
        unsafe swap(&fresh, &headParser)
        return fresh
    }

    func forEachClient(_ body: (LoopClient) -> Void) {
        for client in unsafe clients.all { body(client) }
    }
}

/// A job of a task, or of an actor.
private struct LoopJob: Sendable {
    var job: UnownedJob
    /// Whether the job belongs to an actor whose executor is the loop.
    var isIsolated: Bool
}

/// The loop as the executor of actors, separate from the executor of tasks.
///
/// While an actor's job runs, nonisolated code counts as running elsewhere. If all jobs ran as jobs
/// of actors, each call of an async function would be a separate job.
@safe
private final class LoopSerialExecutor: SerialExecutor, @unchecked Sendable {
    /// Unowned: the loop owns this object, and each actor that runs on the loop retains the loop.
    unowned(unsafe) var loop: EventLoop?

    func enqueue(_ job: consuming ExecutorJob) {
        unsafe loop?.add(LoopJob(job: UnownedJob(job), isIsolated: true))
    }

    func checkIsolated() {
        unsafe loop?.checkIsolated()
    }
}

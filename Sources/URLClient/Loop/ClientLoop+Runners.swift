internal import HTTPCodecs
internal import Synchronization

// What runners have from the loop; called in it.
extension ClientLoop {
    func register(_ runner: TransactionRunner) {
        guard runner.place == nil else { return }
        let count = runningCount
        runner.place = count
        unsafe runners.append(runner)
        runnerCount.store(count + 1, ordering: .relaxed)
    }

    func unregister(_ runner: TransactionRunner) {
        guard let place = runner.place, let last = unsafe runners.popLast() else { return }
        runner.place = nil
        runnerCount.store(runningCount - 1, ordering: .relaxed)
        guard last !== runner else { return }
        last.place = place
        unsafe runners[place] = last
    }

    var allRunners: [TransactionRunner] { unsafe runners }

    /// How many runners there are; only who is in the loop changes that.
    var runningCount: Int { runnerCount.load(ordering: .relaxed) }

    func callAfterwards(_ runner: TransactionRunner) {
        afterwards.append(runner)
    }

    func takeHandle() -> EasyHandle? {
        unsafe idleHandles.popLast() ?? multi.flatMap(EasyHandle.init)
    }

    func giveBack(_ handle: EasyHandle) {
        handle.detach()
        guard unsafe idleHandles.count < 64 else { return }
        unsafe idleHandles.append(handle)
    }

    /// How a request reaches its server, where the configuration alone says that.
    func sharedRoute(
        for request: ClientRequest, to origin: Origin, _ target: ConnectTarget?,
        receivesMuch: Bool
    ) -> TransferRoute? {
        if origin.isSecure { mayBeSecure = true }
        guard target == nil else { return nil }
        return unsafe routes.route(request, to: origin, receivesMuch: receivesMuch, configuration)
    }

    /// A task is over; it is said after everything else that is going on.
    func complete(_ runner: TransactionRunner) {
        completions.append(runner)
    }

    /// A request was answered, so long after it was handed over.
    func noteAnswer(after nanoseconds: Int64) {
        unsafe patience.note(answer: nanoseconds)
    }

    func add(_ handle: EasyHandle) -> Bool {
        hasNewTransfers = true
        return multi?.add(handle) ?? false
    }

    func remove(_ handle: EasyHandle) {
        multi?.remove(handle)
    }

    /// As whom a proxy makes the tunnels that are kept.
    struct TunnelUser {
        let name: String?
        /// How many transfers for the user are under way.
        var count = 0
        /// Whether a tunnel was made.
        var isMade = false
    }

    /// A tunnel is about to be asked for. It is noted now, and not when the proxy answers: the tunnels
    /// of two users who ask at the same time would both be kept otherwise, and used for either.
    /// - Returns: whether the proxy makes tunnels for another user, which libcurl would use for this
    ///   one, too.
    func noteAsking(_ proxy: ClientProxy, as user: String?) -> Bool {
        let place = proxy.place
        var known = tunnelUsers[place] ?? TunnelUser(name: user)
        guard known.name.isIdentical(to: user) else { return true }
        known.count += 1
        tunnelUsers[place] = known
        return false
    }

    /// A proxy has made a tunnel.
    func noteTunnel(_ settings: TransferSettings) {
        guard let place = Self.sharedTunnel(settings) else { return }
        tunnelUsers[place]?.isMade = true
    }

    /// A transfer is over. A user for whom no tunnel was made is forgotten.
    func leaveTunnel(_ settings: TransferSettings) {
        guard let place = Self.sharedTunnel(settings) else { return }
        guard var known = tunnelUsers[place] else { return }
        known.count -= 1
        tunnelUsers[place] = known.count > 0 || known.isMade ? known : nil
    }

    /// The proxy of a transaction whose tunnel is kept for its user.
    private static func sharedTunnel(_ settings: TransferSettings) -> Origin? {
        guard settings.tunnels, settings.overrides?.values.needsOwnTunnel == false else {
            return nil
        }
        return settings.route.proxy?.place
    }

    // MARK: deadlines

    /// How far apart two looks at the deadlines are at least.
    static var granularity: Int64 { 10_000_000 }

    /// Has the deadlines looked at no later than at `time`.
    func look(at time: Int64) {
        nextLook = min(nextLook, time)
    }

    /// One look at all of them. Progress only moves a deadline away, so nothing has to be done
    /// about it when it happens.
    func lookAtDeadlines() {
        nextLook = .max
        lookCount &+= 1
        for runner in unsafe runners {
            if let end = runner.pullEnd {
                if end <= now { runner.endPull() } else { nextLook = min(nextLook, end) }
            }
            guard let deadline = runner.nextDeadline() else { continue }
            if deadline.time <= now {
                runner.timedOut(deadline.limit)
            } else {
                nextLook = min(nextLook, deadline.time)
            }
        }
        if nextLook != .max { nextLook = max(nextLook, now + Self.granularity) }
    }
}

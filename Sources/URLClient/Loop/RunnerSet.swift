internal import Synchronization

/// The runners of a loop, and the queues of those that the loop has to call. Only the thread in the
/// loop changes the set.
final class RunnerSet<Runner: LoopMember>: @unchecked Sendable {
    // No other code is called while the array is changed, so accesses cannot overlap.
    @exclusivity(unchecked)
    private var runners: [Runner] = []
    private let atomicCount = Atomic(0)
    /// The runners to call between two calls of libcurl.
    let afterwards = RunnerQueue<Runner>(.afterwards)
    /// The runners whose end has to be reported.
    let completions = RunnerQueue<Runner>(.completion)

    /// The number of runners. Any thread may read it.
    var count: Int { atomicCount.load(ordering: .relaxed) }
    var all: [Runner] { unsafe runners }

    func insert(_ runner: Runner) {
        guard runner.links.index == nil else { return }
        let count = count
        runner.links.index = count
        unsafe runners.append(runner)
        atomicCount.store(count + 1, ordering: .relaxed)
    }

    func remove(_ runner: Runner) {
        guard let index = runner.links.index, let last = unsafe runners.popLast() else { return }
        runner.links.index = nil
        atomicCount.store(count - 1, ordering: .relaxed)
        guard last !== runner else { return }
        last.links.index = index
        unsafe runners[index] = last
    }
}

/// The properties of a runner that the loop's set and queues use.
protocol LoopMember: AnyObject {
    /// The runner's positions in the set and the queues.
    var links: LoopLinks<Self> { get set }
    /// Waiting requests of a higher priority start first.
    var priority: Double { get }
}

/// A runner's positions in the set and the queues of its loop.
struct LoopLinks<Runner: LoopMember> {
    /// The index in the array of all runners.
    var index: Int?
    var afterwards = RunnerLink<Runner>()
    var completion = RunnerLink<Runner>()
}

/// A runner's link in a queue. A runner can be in one queue of each kind at a time.
struct RunnerLink<Runner: LoopMember> {
    /// The runner after this one.
    var next: Runner?
    var isIn = false
}

/// The kinds of queues that a runner can be in.
enum RunnerQueueKind { case afterwards, completion }

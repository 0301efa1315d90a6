internal import Synchronization

/// The runners of a loop, and those of them that wait for something. Only the thread in the loop
/// changes it.
final class RunnerSet<Runner: LoopMember>: @unchecked Sendable {
    // No call leaves the loop while this is changed.
    @exclusivity(unchecked)
    private var runners: [Runner] = []
    private let atomicCount = Atomic(0)
    /// The runners to call between two calls of libcurl.
    let afterwards = RunnerQueue<Runner>(.afterwards)
    /// The runners whose end has to be reported.
    let completions = RunnerQueue<Runner>(.completion)

    /// How many there are; any thread may ask.
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

/// A runner, as the queues of its loop know it.
protocol LoopMember: AnyObject {
    /// Where the loop keeps it.
    var links: LoopLinks<Self> { get set }
    /// Requests of a higher one start first.
    var priority: Double { get }
}

/// A runner's places in its loop.
struct LoopLinks<Runner: LoopMember> {
    /// Its index in the array of all.
    var index: Int?
    var afterwards = RunnerLink<Runner>()
    var completion = RunnerLink<Runner>()
}

/// A runner's place in a queue. It can be in one queue of each kind at a time.
struct RunnerLink<Runner: LoopMember> {
    var next: Runner?
    var isIn = false
}

/// The two queues that a runner can be in.
enum RunnerQueueKind { case afterwards, completion }

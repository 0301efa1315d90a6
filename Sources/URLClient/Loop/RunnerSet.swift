internal import Synchronization

/// The runners of a loop, and those of them that wait for something. Only the thread in the loop
/// changes it.
final class RunnerSet: @unchecked Sendable {
    // No call leaves the loop while this is changed.
    @exclusivity(unchecked)
    private var runners: [TransactionRunner] = []
    private let atomicCount = Atomic(0)
    /// The runners to call between two calls of libcurl.
    let afterwards = RunnerQueue(.afterwards)
    /// The runners whose end has to be reported.
    let completions = RunnerQueue(.completion)

    /// How many there are; any thread may ask.
    var count: Int { atomicCount.load(ordering: .relaxed) }
    var all: [TransactionRunner] { unsafe runners }

    func insert(_ runner: TransactionRunner) {
        guard runner.links.index == nil else { return }
        let count = count
        runner.links.index = count
        unsafe runners.append(runner)
        atomicCount.store(count + 1, ordering: .relaxed)
    }

    func remove(_ runner: TransactionRunner) {
        guard let index = runner.links.index, let last = unsafe runners.popLast() else { return }
        runner.links.index = nil
        atomicCount.store(count - 1, ordering: .relaxed)
        guard last !== runner else { return }
        last.links.index = index
        unsafe runners[index] = last
    }
}

/// A runner's places in its loop.
struct LoopLinks {
    /// Its index in the array of all.
    var index: Int?
    var afterwards = RunnerQueue.Link()
    var completion = RunnerQueue.Link()
}

/// Runners in order of arrival, each at most once. Each runner holds the link to the next one, so
/// that the queue allocates no memory.
final class RunnerQueue<Runner: LoopMember> {
    private let kind: RunnerQueueKind
    private var first: Runner?
    /// The runner before it, or `first`, retains it.
    private unowned(unsafe) var last: Runner?

    init(_ kind: RunnerQueueKind) {
        self.kind = kind
    }

    /// Puts a runner at the end, unless it is in the queue.
    func append(_ runner: Runner) {
        guard !isIn(runner) else { return }
        if let last = unsafe last {
            setNext(of: last, runner)
        } else {
            first = runner
        }
        unsafe last = runner
        setIn(runner, true)
    }

    /// Removes the first runner and returns it.
    func next() -> Runner? {
        guard let runner = first else { return nil }
        first = takeNext(of: runner)
        if first == nil { unsafe last = nil }
        setIn(runner, false)
        return runner
    }

    private func isIn(_ runner: Runner) -> Bool {
        switch kind {
        case .afterwards: runner.links.afterwards.isIn
        case .completion: runner.links.completion.isIn
        }
    }

    private func setIn(_ runner: Runner, _ isIn: Bool) {
        switch kind {
        case .afterwards: runner.links.afterwards.isIn = isIn
        case .completion: runner.links.completion.isIn = isIn
        }
    }

    private func setNext(of runner: Runner, _ next: Runner) {
        switch kind {
        case .afterwards: runner.links.afterwards.next = next
        case .completion: runner.links.completion.next = next
        }
    }

    private func takeNext(of runner: Runner) -> Runner? {
        switch kind {
        case .afterwards: runner.links.afterwards.next.take()
        case .completion: runner.links.completion.next.take()
        }
    }
}

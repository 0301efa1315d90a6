/// Runners in order of arrival, each at most once. Each runner holds the link to the next one, so
/// that the queue allocates no memory.
final class RunnerQueue<Runner: LoopMember> {
    private let kind: RunnerQueueKind
    private var first: Runner?
    private var last: Runner?

    init(_ kind: RunnerQueueKind) {
        self.kind = kind
    }

    /// Puts a runner at the end, unless it is in the queue.
    func append(_ runner: Runner) {
        guard !link(of: runner).isIn else { return }
        setLink(of: runner, RunnerLink(next: nil, isIn: true))
        if let last {
            setLink(of: last, RunnerLink(next: runner, isIn: true))
        } else {
            first = runner
        }
        last = runner
    }

    /// Removes the first runner and returns it.
    func next() -> Runner? {
        guard let runner = first else { return nil }
        first = link(of: runner).next
        if first == nil { last = nil }
        setLink(of: runner, RunnerLink())
        return runner
    }

    private func link(of runner: Runner) -> RunnerLink<Runner> {
        switch kind {
        case .afterwards: runner.links.afterwards
        case .completion: runner.links.completion
        }
    }

    private func setLink(of runner: Runner, _ link: RunnerLink<Runner>) {
        switch kind {
        case .afterwards: runner.links.afterwards = link
        case .completion: runner.links.completion = link
        }
    }
}

/// Runners in order of arrival, each at most once. Each runner holds the link to the next one, so that
/// a place in the queue needs no memory of the queue.
final class RunnerQueue {
    /// A runner's place in a queue. It can be in one queue of each kind at a time.
    struct Link {
        var next: TransactionRunner?
        var isIn = false
    }

    /// The two queues that a runner can be in.
    enum Kind { case afterwards, completion }

    private let kind: Kind
    private var first: TransactionRunner?
    private var last: TransactionRunner?

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// Puts a runner at the end, unless it is in the queue.
    func append(_ runner: TransactionRunner) {
        guard !link(of: runner).isIn else { return }
        setLink(of: runner, Link(next: nil, isIn: true))
        if let last { setLink(of: last, Link(next: runner, isIn: true)) } else { first = runner }
        last = runner
    }

    /// Takes the first one out.
    func next() -> TransactionRunner? {
        guard let runner = first else { return nil }
        first = link(of: runner).next
        if first == nil { last = nil }
        setLink(of: runner, Link())
        return runner
    }

    private func link(of runner: TransactionRunner) -> Link {
        switch kind {
        case .afterwards: runner.links.afterwards
        case .completion: runner.links.completion
        }
    }

    private func setLink(of runner: TransactionRunner, _ link: Link) {
        switch kind {
        case .afterwards: runner.links.afterwards = link
        case .completion: runner.links.completion = link
        }
    }
}

/// Drivers in the order in which they came, each of them once: it knows the next one itself, so that
/// a place costs nothing.
final class DriverQueue {
    /// A driver's place in a queue. It can be in one of each kind at a time.
    struct Link {
        var next: TaskDriver?
        var isIn = false
    }

    /// For what drivers wait.
    enum Kind { case afterwards, completion }

    private let kind: Kind
    private var first: TaskDriver?
    private var last: TaskDriver?

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// Puts a driver at the end, unless it is in the queue.
    func append(_ driver: TaskDriver) {
        guard !link(of: driver).isIn else { return }
        setLink(of: driver, Link(next: nil, isIn: true))
        if let last { setLink(of: last, Link(next: driver, isIn: true)) } else { first = driver }
        last = driver
    }

    /// Takes the first one out.
    func next() -> TaskDriver? {
        guard let driver = first else { return nil }
        first = link(of: driver).next
        if first == nil { last = nil }
        setLink(of: driver, Link())
        return driver
    }

    private func link(of driver: TaskDriver) -> Link {
        switch kind {
        case .afterwards: driver.afterwardsLink
        case .completion: driver.completionLink
        }
    }

    private func setLink(of driver: TaskDriver, _ link: Link) {
        switch kind {
        case .afterwards: driver.afterwardsLink = link
        case .completion: driver.completionLink = link
        }
    }
}

internal import Synchronization

/// Something that happens once.
final class OnceFlag: Sendable {
    private let done = Atomic(false)

    /// True for the first caller.
    func take() -> Bool {
        !done.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Whether it has happened.
    var isTaken: Bool { done.load(ordering: .acquiring) }
}

internal import Synchronization

/// A flag that only one caller can take.
final class OnceFlag: Sendable {
    private let done = Atomic(false)

    /// True for the first caller.
    func take() -> Bool {
        !done.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Whether the flag was taken.
    var isTaken: Bool { done.load(ordering: .acquiring) }
}

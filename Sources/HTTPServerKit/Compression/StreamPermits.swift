internal import Synchronization

/// Bounds how many streams are compressed at once: each holds a compressor of 260 KiB as long as
/// its client reads, which may be long.
final class StreamPermits: Sendable {
    /// A permit of one stream, released with its last reference.
    final class Permit: Sendable {
        private let permits: StreamPermits

        fileprivate init(_ permits: StreamPermits) {
            self.permits = permits
        }

        deinit {
            permits.taken.subtract(1, ordering: .relaxed)
        }
    }

    private let taken = Atomic<Int>(0)
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: `nil` when there are as many streams as may be.
    func take() -> Permit? {
        guard taken.add(1, ordering: .relaxed).newValue <= limit else {
            taken.subtract(1, ordering: .relaxed)
            return nil
        }
        return Permit(self)
    }
}

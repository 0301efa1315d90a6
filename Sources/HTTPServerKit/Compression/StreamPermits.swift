internal import Synchronization

/// Bounds how many streams are compressed at the same time. Each holds a compressor of 260 KiB
/// until its client has read the content, which may take long.
final class StreamPermits: Sendable {
    /// A permit for one stream, released with its last reference.
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

    /// - Returns: `nil` when the limit of streams is reached.
    func take() -> Permit? {
        guard taken.add(1, ordering: .relaxed).newValue <= limit else {
            taken.subtract(1, ordering: .relaxed)
            return nil
        }
        return Permit(self)
    }
}

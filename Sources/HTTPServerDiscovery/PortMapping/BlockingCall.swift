#if os(Linux)
    internal import Dispatch
    internal import HTTPServerCore
    internal import ToolkitSystem

    /// A call that blocks one queue and delivers its result on another, once and before a deadline.
    final class BlockingCall<Value: Sendable>: Sendable {
        typealias Completion = @Sendable (Result<Value, NATPortMappingError>) -> Void

        private let completion: Locked<Completion?>
        private let queue: DispatchQueue
        let deadline: DispatchTime

        /// - Parameters:
        ///   - queue: the queue on which the completion is called.
        ///   - patience: the time after which the call fails with `noAnswer`.
        init(queue: DispatchQueue, patience: Duration, completion: @escaping Completion) {
            self.completion = Locked(completion)
            self.queue = queue
            deadline = .now() + .nanoseconds(Int(clamping: patience.nanoseconds))
            queue.asyncAfter(deadline: deadline) { [weak self] in
                self?.finish(.failure(.noAnswer))
            }
        }

        /// Whether the result is no longer needed.
        var isOver: Bool { completion.withLock { $0 == nil } || isLate }

        /// Whether the deadline has passed.
        var isLate: Bool { DispatchTime.now() >= deadline }

        /// Delivers the result.
        /// - Returns: false if the result is no longer needed.
        @discardableResult
        func finish(_ result: Result<Value, NATPortMappingError>) -> Bool {
            guard let completion = take() else { return false }
            queue.async { completion(result) }
            return true
        }

        /// Cancels the call; the completion is not called, unless it is already enqueued.
        func cancel() { _ = take() }

        private func take() -> Completion? {
            completion.withLock { completion in
                defer { completion = nil }
                return completion
            }
        }
    }
#endif

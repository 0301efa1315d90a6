#if os(Linux)
    internal import Dispatch
    internal import HTTPServerCore
    internal import ToolkitSystem

    /// A call that blocks one queue and has its result delivered on another: once, and by a deadline.
    final class BlockingCall<Value: Sendable>: Sendable {
        typealias Completion = @Sendable (Result<Value, NATPortMappingError>) -> Void

        private let completion: Locked<Completion?>
        private let queue: DispatchQueue
        let deadline: DispatchTime

        /// - Parameters:
        ///   - queue: where the completion is called.
        ///   - patience: after how long the call has failed with `noAnswer`.
        init(queue: DispatchQueue, patience: Duration, completion: @escaping Completion) {
            self.completion = Locked(completion)
            self.queue = queue
            deadline = .now() + .nanoseconds(Int(clamping: patience.nanoseconds))
            queue.asyncAfter(deadline: deadline) { [weak self] in
                self?.finish(.failure(.noAnswer))
            }
        }

        /// Whether the result is not needed any more.
        var isOver: Bool { completion.withLock { $0 == nil } || isLate }

        /// Whether its time is over.
        var isLate: Bool { DispatchTime.now() >= deadline }

        /// Delivers the result.
        /// - Returns: false when it is not needed any more.
        @discardableResult
        func finish(_ result: Result<Value, NATPortMappingError>) -> Bool {
            guard let completion = take() else { return false }
            queue.async { completion(result) }
            return true
        }

        /// Gives up; the completion is not called, unless it is on its way.
        func cancel() { _ = take() }

        private func take() -> Completion? {
            completion.withLock { completion in
                defer { completion = nil }
                return completion
            }
        }
    }
#endif

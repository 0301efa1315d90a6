internal import HTTPCodecs
internal import HTTPServerCore

/// Reads the next batch of a directory while the last one is being used: one is ready at most.
final class MembersAhead: Sendable {
    private enum State: Sendable {
        case reading
        case ready([ResourceMember]?)
        case awaited(CheckedContinuation<[ResourceMember]?, Never>)
        case ended
    }

    private let state: Locked<State>
    private let read: @Sendable () -> [ResourceMember]?

    /// - Parameters:
    ///   - first: a batch that is there already.
    ///   - read: reads the next one, `nil` behind the last; one call ends before the next begins.
    init(
        _ first: [ResourceMember]?, _ read: @escaping @Sendable () -> [ResourceMember]?
    ) {
        state = Locked(.ready(first))
        self.read = read
    }

    /// The next batch; `nil` after the last.
    func next() async -> [ResourceMember]? {
        let batch = await withCheckedContinuation { continuation in
            let found: [ResourceMember]?? = state.withLock { state in
                switch state {
                case .ready(let batch):
                    state = batch == nil ? .ended : .reading
                    return .some(batch)
                case .reading:
                    state = .awaited(continuation)
                    return nil
                case .ended, .awaited: return .some(nil)
                }
            }
            guard let found else { return }
            if found != nil { BlockingPool.files.submit { self.readOn() } }
            continuation.resume(returning: found)
        }
        return batch
    }

    /// Reads until a batch is there that nobody waits for.
    private func readOn() {
        while true {
            let batch = read()
            let waiting: CheckedContinuation<[ResourceMember]?, Never>? = state.withLock { state in
                guard case .awaited(let continuation) = state else {
                    state = .ready(batch)
                    return nil
                }
                state = batch == nil ? .ended : .reading
                return continuation
            }
            guard let waiting else { return }
            waiting.resume(returning: batch)
            if batch == nil { return }
        }
    }
}

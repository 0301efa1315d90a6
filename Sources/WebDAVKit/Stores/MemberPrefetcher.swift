internal import HTTPServerCore
internal import ToolkitSystem

/// Reads the next batch of a directory while the last one is in use: at most one batch is ready.
final class MemberPrefetcher: Sendable {
    /// Members, or the error that ended the listing; `nil` after the last.
    typealias Batch = Result<[ResourceMember], any Error>?

    private enum State: Sendable {
        case reading
        case ready(Batch)
        case awaited(CheckedContinuation<Batch, Never>)
        case ended
    }

    private let state: Locked<State>
    private let read: @Sendable () -> Batch

    /// - Parameters:
    ///   - first: the first batch, which has been read already.
    ///   - read: reads the next batch, `nil` after the last; one call ends before the next begins.
    init(
        _ first: [ResourceMember],
        _ read: @escaping @Sendable () throws -> [ResourceMember]?
    ) {
        state = Locked(.ready(.success(first)))
        self.read = {
            do {
                return try read().map { .success($0) }
            } catch {
                return .failure(error)
            }
        }
    }

    /// The next batch; `nil` after the last.
    func next() async throws -> [ResourceMember]? {
        let batch: Batch = await withCheckedContinuation { continuation in
            let found: Batch? = state.withLock { state in
                switch state {
                case .ready(let batch):
                    state = Self.isLast(batch) ? .ended : .reading
                    return .some(batch)
                case .reading:
                    state = .awaited(continuation)
                    return nil
                case .ended, .awaited: return .some(nil)
                }
            }
            guard let found else { return }
            if !Self.isLast(found) { BlockingPool.files.submit { self.readOn() } }
            continuation.resume(returning: found)
        }
        return try batch?.get()
    }

    private static func isLast(_ batch: Batch) -> Bool {
        if case .success = batch { false } else { true }
    }

    /// Reads until a batch is ready and no caller waits.
    private func readOn() {
        while true {
            let batch = read()
            let waiting: CheckedContinuation<Batch, Never>? = state.withLock { state in
                guard case .awaited(let continuation) = state else {
                    state = .ready(batch)
                    return nil
                }
                state = Self.isLast(batch) ? .ended : .reading
                return continuation
            }
            guard let waiting else { return }
            waiting.resume(returning: batch)
            if Self.isLast(batch) { return }
        }
    }
}

internal import HTTPServerCore
internal import Synchronization

/// The content of a request while it is being received. A newer request may end it.
final class UploadArrival: Sendable {
    /// Content that is on its way is still read, so that the client need not send it again: until
    /// none arrives for `pause`, but for `patience` at most.
    private static let (pause, patience) = (Duration.milliseconds(250), Duration.seconds(2))

    private let request: Request
    private let bytes = Atomic<Int64>(0)
    private let isOver = Atomic<Bool>(false)

    init(_ request: Request) {
        self.request = request
    }

    /// Counts bytes that have arrived.
    func add(_ count: Int) { bytes.add(Int64(count), ordering: .relaxed) }

    /// Notes that no more content will arrive.
    func end() { isOver.store(true, ordering: .relaxed) }

    /// Closes the connection once no more content arrives, after 2 seconds at most. Does nothing if
    /// the content ends before.
    func endSoon() {
        Task {
            let end = ContinuousClock.now + Self.patience
            var last: Int64 = -1
            while ContinuousClock.now < end, !isOver.load(ordering: .relaxed) {
                let count = bytes.load(ordering: .relaxed)
                guard count != last else { break }
                last = count
                guard (try? await Task.sleep(for: Self.pause)) != nil else { break }
            }
            if !isOver.load(ordering: .relaxed) { request.abandon() }
        }
    }
}

internal import HTTPServerCore
internal import Synchronization

/// Content of a request on its way into a part, which a newer request may end.
final class UploadArrival: Sendable {
    /// Content that has been sent already is read before the end, so that it is not sent twice: as
    /// long as more arrives within this time, but no longer in all.
    private static let (pause, patience) = (Duration.milliseconds(250), Duration.seconds(2))

    private let request: Request
    private let bytes = Atomic<Int64>(0)
    private let isOver = Atomic<Bool>(false)

    init(_ request: Request) {
        self.request = request
    }

    /// Some has come.
    func add(_ count: Int) { bytes.add(Int64(count), ordering: .relaxed) }

    /// All has come that will.
    func end() { isOver.store(true, ordering: .relaxed) }

    /// Ends the connection soon, unless the content ends before.
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

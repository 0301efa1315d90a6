import HTTPParser
internal import Synchronization
internal import ToolkitSystem
import URLClient

/// Requests over a number of connections, each sent when the one before it on its connection is
/// answered.
struct BenchRun: Sendable {
    let session: ClientSession
    let request: ClientRequest
    /// How many requests are under way at once.
    let connections: Int
    /// How many are sent in all; `nil` for as many as the time allows.
    let requests: Int?
    /// When it ends; `nil` once all requests are answered.
    let duration: Duration?

    /// The outcome, and the time that it took.
    struct Result: Sendable {
        var tally: BenchTally
        var elapsed: Duration
    }

    /// One request that does not count, so that the connection works and the server is warm.
    /// - Parameter limit: the most time that it takes; `nil` for that of the session.
    /// - Throws: a `ClientError`, such as that the time is over.
    func tryOnce(within limit: Duration?) async throws {
        var request = request
        if let limit {
            var timeouts = session.configuration.timeouts
            timeouts.total = limit
            request.timeouts = timeouts
        }
        let (content, _) = try await session.bytes(for: request)
        for try await _ in content {}
    }

    /// Sends requests until their number or the time is over, or Control-C ends it.
    ///
    /// Requests that are under way then are cut off, and do not count.
    func run() async -> Result {
        let budget = Budget(requests)
        let start = ContinuousClock.now
        let work = Task {
            await withTaskGroup(of: BenchTally.self) { group in
                for _ in 0..<connections { group.addTask { await send(budget) } }
                return await group.reduce(into: BenchTally()) { $0.add($1) }
            }
        }
        let timer = duration.map { duration in
            Task {
                try await Task.sleep(for: duration)
                work.cancel()
            }
        }
        let watch = SignalWatch([.interrupt, .terminate]) { _ in work.cancel() }
        defer { watch.end() }
        let tally = await work.value
        timer?.cancel()
        return Result(tally: tally, elapsed: start.duration(to: .now))
    }

    /// The requests of one connection.
    private func send(_ budget: Budget) async -> BenchTally {
        var tally = BenchTally()
        while !Task.isCancelled, budget.take() {
            let start = ContinuousClock.now
            do {
                var size: Int64 = 0
                let (content, response) = try await session.bytes(for: request)
                for try await piece in content { size += Int64(piece.count) }
                tally.add(
                    status: Int(response.status.code), bytes: size,
                    after: start.duration(to: .now))
            } catch {
                guard !Task.isCancelled else { break }
                tally.add(failure: "\(error)")
                // A server that refuses connections is not asked as fast as it can refuse.
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        return tally
    }

    /// The requests that all connections together have left to send.
    private final class Budget: Sendable {
        private let left: Atomic<Int>

        init(_ requests: Int?) { left = Atomic(requests ?? .max) }

        /// Takes one; `false` when none is left.
        func take() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }
    }
}

import HTTPParser
internal import Synchronization
internal import ToolkitSystem
import URLClient

/// Sends requests over several connections. Each request waits for the previous response on its
/// connection.
struct BenchRun: Sendable {
    let session: ClientSession
    let request: ClientRequest
    /// The number of concurrent requests.
    let connections: Int
    /// The total number of requests; `nil` for as many as `duration` allows.
    let requests: Int?
    /// The time after which the run ends; `nil` to end after the last response.
    let duration: Duration?

    /// The outcome of a run, and its duration.
    struct Result: Sendable {
        var tally: BenchTally
        var elapsed: Duration
    }

    /// Sends one request that does not count, to check the connection and warm up the server.
    /// - Parameter limit: the timeout of the request; `nil` for the session's timeout.
    /// - Throws: a `ClientError`, such as a timeout.
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

    /// Sends requests until the number or the time is reached, or a signal such as Control-C
    /// arrives.
    ///
    /// Requests that are unfinished then are cancelled, and do not count.
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
                // Limits the rate of attempts if the server refuses connections.
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        return tally
    }

    /// The number of requests that all connections together may still send.
    private final class Budget: Sendable {
        private let left: Atomic<Int>

        init(_ requests: Int?) { left = Atomic(requests ?? .max) }

        /// Takes one request; `false` if none is left.
        func take() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }
    }
}

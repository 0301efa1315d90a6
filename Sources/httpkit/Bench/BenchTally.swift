/// The outcome of many requests.
struct BenchTally: Sendable {
    /// The latencies of complete responses.
    var latencies = LatencyHistogram()
    /// How many responses had each status.
    var statuses: [Int: Int] = [:]
    /// How many requests failed, by the text of the error.
    var failures: [String: Int] = [:]
    /// The bytes of content of complete responses.
    var bytes: Int64 = 0

    /// How many responses were complete.
    var responses: Int { latencies.count }

    /// Counts a complete response.
    mutating func add(status: Int, bytes count: Int64, after latency: Duration) {
        latencies.record(latency)
        statuses[status, default: 0] += 1
        bytes += count
    }

    /// Counts a request without a complete response.
    mutating func add(failure: String) {
        failures[failure, default: 0] += 1
    }

    /// Adds the outcome of other requests.
    mutating func add(_ other: BenchTally) {
        latencies.add(other.latencies)
        statuses.merge(other.statuses, uniquingKeysWith: +)
        failures.merge(other.failures, uniquingKeysWith: +)
        bytes += other.bytes
    }
}

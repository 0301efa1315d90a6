/// Counts latencies in buckets less than one percent wide. Memory does not grow with the number of
/// latencies.
///
/// The highest bit of the latency in nanoseconds and the seven bits below it determine the bucket.
/// Latencies below 256 nanoseconds are exact.
struct LatencyHistogram: Sendable {
    /// The number of buckets for each highest bit.
    private static let width = 128

    private var counts: [Int] = []
    /// How many latencies were recorded.
    private(set) var count = 0
    /// The least latency in nanoseconds; `Int64.max` without latencies.
    private(set) var least = Int64.max
    /// The greatest latency in nanoseconds.
    private(set) var most: Int64 = 0
    private var sum = 0.0

    /// The mean in nanoseconds; zero without latencies.
    var mean: Double { count > 0 ? sum / Double(count) : 0 }

    /// Records a latency; a negative one counts as zero.
    mutating func record(_ latency: Duration) {
        // Clamps to about a century, so that the nanoseconds do not overflow.
        let (seconds, attoseconds) = latency.components
        let value = min(seconds, 3_000_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000
        record(nanoseconds: max(0, value))
    }

    private mutating func record(nanoseconds value: Int64) {
        let index = Self.index(of: value)
        if index >= counts.count {
            counts += [Int](repeating: 0, count: index + 1 - counts.count)
        }
        counts[index] += 1
        count += 1
        least = min(least, value)
        most = max(most, value)
        sum += Double(value)
    }

    /// Adds the latencies of another histogram.
    mutating func add(_ other: LatencyHistogram) {
        if other.counts.count > counts.count {
            counts += [Int](repeating: 0, count: other.counts.count - counts.count)
        }
        for (index, number) in other.counts.enumerated() { counts[index] += number }
        count += other.count
        least = min(least, other.least)
        most = max(most, other.most)
        sum += other.sum
    }

    /// The latency in nanoseconds that `permille` of 1000 latencies do not exceed, rounded up to
    /// the end of its bucket; zero without latencies.
    /// - Parameter permille: from 0 to 1000. It is an integer, because in floating point 99.9
    ///   percent of 1000 are more than 999, which would give the next rank.
    func percentile(permille: Int) -> Int64 {
        guard count > 0 else { return 0 }
        let rank = max(1, (permille * count + 999) / 1000)
        var seen = 0
        for (index, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return min(Self.end(of: index), most) }
        }
        return most
    }

    private static func shift(of value: Int64) -> Int {
        max(0, Int64.bitWidth - value.leadingZeroBitCount - 8)
    }

    private static func index(of value: Int64) -> Int {
        let shift = shift(of: value)
        return shift * width + Int(value >> shift)
    }

    /// The greatest value of a bucket.
    private static func end(of index: Int) -> Int64 {
        guard index >= 2 * width else { return Int64(index) }
        let shift = index / width - 1
        return (Int64(index - shift * width + 1) << shift) - 1
    }
}

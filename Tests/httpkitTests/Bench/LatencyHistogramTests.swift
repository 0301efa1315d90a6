import Testing

@testable import httpkit

@Suite("Latencies of a benchmark")
struct LatencyHistogramTests {
    private func histogram(_ values: some Sequence<Int64>) -> LatencyHistogram {
        values.reduce(into: LatencyHistogram()) { $0.record(.nanoseconds($1)) }
    }

    @Test("A percentile is at most one percent above the value of its rank")
    func accuracy() {
        let values = (1...10_000).map { Int64($0) * 7919 }
        let histogram = histogram(values.shuffled())
        for (permille, rank) in [(500, 5_000), (900, 9_000), (990, 9_900), (999, 9_990)] {
            let (found, wanted) = (histogram.percentile(permille: permille), values[rank - 1])
            #expect(found >= wanted && Double(found) <= Double(wanted) * 1.01, "\(permille)")
        }
        #expect(histogram.percentile(permille: 0) <= 7919 + 79)
        #expect(histogram.percentile(permille: 1_000) == values.last)
        #expect(histogram.count == 10_000 && histogram.least == 7919)
        #expect(abs(histogram.mean - 7919 * 5_000.5) < 1)
    }

    /// In floating point 99.9 percent of a thousand are more than 999.
    @Test(
        "The rank of a percentile is exact",
        arguments: [
            (999, 1_000, 999), (999, 1_001, 1_000), (999, 10_000, 9_990), (990, 100, 99),
            (950, 20, 19), (500, 3, 2), (1, 1_000, 1), (1, 1_001, 2), (0, 5, 1), (1_000, 5, 5),
        ])
    func rank(_ permille: Int, _ count: Int, _ rank: Int) {
        // Latencies up to the rank are short, and the others are long.
        let short = [Int64](repeating: 1, count: rank - 1) + [2]
        let histogram = histogram(short + [Int64](repeating: 200, count: count - rank))
        #expect(histogram.count == count && histogram.percentile(permille: permille) == 2)
    }

    @Test(
        "A latency of any magnitude is reported at most 1/128 too high",
        arguments: [0, 1, 127, 128, 255, 256, 257, 511, 512, 1 << 20, (1 << 40) - 1, 1 << 40])
    func edges(_ value: Int64) {
        // The greater value keeps the percentile from being limited to the maximum.
        let histogram = histogram([value, 1 << 50])
        let found = histogram.percentile(permille: 500)
        #expect(found >= value && found - value <= value / 128)
    }

    @Test("Latencies below 256 nanoseconds are exact")
    func exact() {
        let histogram = histogram(0..<256)
        #expect(histogram.percentile(permille: 500) == 127)
        #expect(histogram.percentile(permille: 250) == 63)
    }

    @Test("Without latencies all values are zero; negative and huge latencies do not trap")
    func extremes() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(permille: 500) == 0 && histogram.mean == 0)
        histogram.record(.seconds(-1))
        #expect(histogram.most == 0 && histogram.count == 1)
        histogram.record(.seconds(Int64.max))
        #expect(histogram.percentile(permille: 1_000) == histogram.most)
    }

    @Test("Adding histograms combines their latencies")
    func sum() {
        let (low, high) = (histogram(1...100), histogram((1...100).map { $0 << 20 }))
        var both = LatencyHistogram()
        both.add(low)
        both.add(high)
        #expect(both.count == 200 && both.least == 1 && both.most == 100 << 20)
        #expect(both.percentile(permille: 500) == 100)
        #expect(both.percentile(permille: 505) >= 1 << 20)
    }
}

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
        for (percent, rank) in [(50.0, 5_000), (90, 9_000), (99, 9_900), (99.9, 9_990)] {
            let (found, wanted) = (histogram.percentile(percent), values[rank - 1])
            #expect(found >= wanted && Double(found) <= Double(wanted) * 1.01, "\(percent)")
        }
        #expect(histogram.percentile(0) <= 7919 + 79)
        #expect(histogram.percentile(100) == values.last)
        #expect(histogram.count == 10_000 && histogram.least == 7919)
        #expect(abs(histogram.mean - 7919 * 5_000.5) < 1)
    }

    @Test(
        "Each magnitude has its buckets, and their ends are where the next ones begin",
        arguments: [0, 1, 127, 128, 255, 256, 257, 511, 512, 1 << 20, (1 << 40) - 1, 1 << 40])
    func edges(_ value: Int64) {
        // The greater one keeps the percentile from being cut to the maximum.
        let histogram = histogram([value, 1 << 50])
        let found = histogram.percentile(50)
        #expect(found >= value && found - value <= value / 128)
    }

    @Test("Latencies below 256 nanoseconds are exact")
    func exact() {
        let histogram = histogram(0..<256)
        #expect(histogram.percentile(50) == 127)
        #expect(histogram.percentile(25) == 63)
    }

    @Test("Without latencies all is zero; less than nothing is nothing, and nothing traps")
    func extremes() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(50) == 0 && histogram.mean == 0)
        histogram.record(.seconds(-1))
        #expect(histogram.most == 0 && histogram.count == 1)
        histogram.record(.seconds(Int64.max))
        #expect(histogram.percentile(100) == histogram.most)
    }

    @Test("Histograms add up")
    func sum() {
        let (low, high) = (histogram(1...100), histogram((1...100).map { $0 << 20 }))
        var both = LatencyHistogram()
        both.add(low)
        both.add(high)
        #expect(both.count == 200 && both.least == 1 && both.most == 100 << 20)
        #expect(both.percentile(50) == 100)
        #expect(both.percentile(50.5) >= 1 << 20)
    }
}

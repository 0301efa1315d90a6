import Foundation
import Testing

@testable import httpkit

@Suite("The report of a benchmark")
struct BenchReportTests {
    private struct Decoded: Decodable {
        var requests: Int
        var requestsPerSecond: Double
        var bytes: Int
        var statuses: [String: Int]
        var failures: [String: Int]
        var latency: [String: Double]
    }

    private var tally: BenchTally {
        var tally = BenchTally()
        for number in 1...100 {
            tally.add(status: number == 1 ? 503 : 200, bytes: 13, after: .milliseconds(number))
        }
        var other = BenchTally()
        other.add(failure: "refused")
        other.add(failure: "refused")
        other.add(failure: "timed out")
        tally.add(other)
        return tally
    }

    private func report(_ tally: BenchTally) -> BenchReport {
        BenchReport(url: "http://a/", connections: 50, tally: tally, elapsed: .seconds(2))
    }

    @Test("The text has rate, statuses, percentiles and failures, the most frequent ones first")
    func text() {
        let text = report(tally).text
        for part in [
            "2.00 s, 50 connections, http://a/\n", "Requests   100, 50.0 a second\n",
            "Statuses   200: 99, 503: 1\n", "Content    1.2 KiB, 650 B/s\n",
            "  least    1.000\n", "  mean     50.500\n", "  most     100.000\n",
            "  99.9 %   100.000\n",
            "Failures\n  2  refused\n  1  timed out\n",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }

    @Test("JSON is one line with the same figures, in milliseconds")
    func json() throws {
        let line = report(tally).json.line
        #expect(line.filter { $0 == UInt8(ascii: "\n") }.count == 1)
        let decoded = try JSONDecoder().decode(Decoded.self, from: Data(line))
        #expect(decoded.requests == 100 && decoded.requestsPerSecond == 50)
        #expect(decoded.bytes == 1300 && decoded.statuses == ["200": 99, "503": 1])
        #expect(decoded.failures == ["refused": 2, "timed out": 1])
        #expect(
            Set(decoded.latency.keys)
                == ["min", "mean", "max", "p50", "p75", "p90", "p95", "p99", "p99.9"])
        let median = try #require(decoded.latency["p50"])
        #expect(median >= 50 && median <= 50.5)
    }

    @Test("Without a response there are neither latencies nor a division by zero")
    func nothing() throws {
        let report = BenchReport(
            url: "http://a/", connections: 1, tally: BenchTally(), elapsed: .zero)
        #expect(report.text.contains("Requests   0, 0.0 a second\nStatuses   none\n"))
        #expect(!report.text.contains("Latency"))
        let decoded = try JSONDecoder().decode(Decoded.self, from: Data(report.json.line))
        #expect(decoded.latency["min"] == 0 && decoded.latency["p99"] == 0)
    }

    @Test("Control characters of a server in a failure are replaced")
    func steering() {
        var tally = BenchTally()
        tally.add(failure: "odd\u{1B}[2J\nvalue")
        #expect(report(tally).text.hasSuffix("Failures\n  1  odd?[2J?value\n"))
    }

    @Test(
        "Numbers are rounded to the given number of digits",
        arguments: [
            (0, 1, "0.0"), (0.04, 1, "0.0"), (0.05, 1, "0.1"), (9.996, 2, "10.00"),
            (1.5, 3, "1.500"),
        ])
    func fixed(_ number: Double, _ digits: Int, _ text: String) {
        #expect(BenchReport.fixed(number, digits) == text)
    }
}

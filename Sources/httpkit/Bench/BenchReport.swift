/// The outcome of a benchmark as text and as JSON.
struct BenchReport {
    let url: String
    let connections: Int
    let tally: BenchTally
    let elapsed: Duration

    /// The percentiles that are shown, in thousandths.
    private static let percentiles = [500, 750, 900, 950, 990, 999]

    private var seconds: Double { max(elapsed.inSeconds, 1e-9) }
    private var rate: Double { Double(tally.responses) / seconds }

    /// The report as lines of text.
    var text: String {
        let statuses = tally.statuses.sorted { $0.key < $1.key }
            .map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        var lines = [
            "\(Self.fixed(seconds, 2)) s, \(connections) connections, \(url)",
            "",
            "Requests   \(tally.responses), \(Self.fixed(rate, 1)) a second",
            "Statuses   \(statuses.isEmpty ? "none" : statuses)",
            "Content    \(ProgressLine.size(tally.bytes)), "
                + "\(ProgressLine.size(Int64(Double(tally.bytes) / seconds)))/s",
        ]
        if tally.responses > 0 { lines += ["", "Latency in milliseconds"] + latencies }
        if !tally.failures.isEmpty { lines += ["", "Failures"] + failures }
        return lines.joined(separator: "\n") + "\n"
    }

    private var latencies: [String] {
        let values = tally.latencies
        let named = [
            ("least", Double(values.least)), ("mean", values.mean), ("most", Double(values.most)),
        ]
        let ranked = Self.percentiles.map { permille in
            ("\(Self.percent(permille)) %", Double(values.percentile(permille: permille)))
        }
        return (named + ranked).map { name, value in
            let label = name + String(repeating: " ", count: max(1, 9 - name.count))
            return "  \(label)\(Self.fixed(value / 1e6, 3))"
        }
    }

    private var failures: [String] {
        tally.failures.sorted { ($0.value, $1.key) > ($1.value, $0.key) }
            .map { "  \($0.value)  \(Fetch.harmless($0.key))" }
    }

    /// One object; times of requests are in milliseconds.
    var json: JSONValue {
        let values = tally.latencies
        var latency: [JSONName: JSONValue] = [
            "min": .real(tally.responses > 0 ? Double(values.least) / 1e6 : 0),
            "mean": .real(values.mean / 1e6), "max": .real(Double(values.most) / 1e6),
        ]
        for permille in Self.percentiles {
            let name = JSONName("p\(Self.percent(permille))")
            latency[name] = .real(Double(values.percentile(permille: permille)) / 1e6)
        }
        let statuses = tally.statuses.map { (JSONName("\($0.key)"), JSONValue.integer($0.value)) }
        let failures = tally.failures.map { (JSONName($0.key), JSONValue.integer($0.value)) }
        return .object([
            "url": .text(url), "connections": .integer(connections), "seconds": .real(seconds),
            "requests": .integer(tally.responses), "requestsPerSecond": .real(rate),
            "bytes": .integer(Int(tally.bytes)), "latency": .object(latency),
            "statuses": .object(Dictionary(uniqueKeysWithValues: statuses)),
            "failures": .object(Dictionary(uniqueKeysWithValues: failures)),
        ])
    }

    /// Thousandths as a percentage, without a trailing zero.
    private static func percent(_ permille: Int) -> String {
        permille % 10 == 0 ? "\(permille / 10)" : "\(permille / 10).\(permille % 10)"
    }

    /// A number that is not negative, with this many digits after the decimal point.
    static func fixed(_ number: Double, _ digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let whole = Int(min(number * Double(scale), 1e15).rounded())
        let end = "\(whole % scale)"
        let zeros = String(repeating: "0", count: digits - end.count)
        return "\(whole / scale).\(zeros)\(end)"
    }
}

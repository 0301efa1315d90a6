/// How far a transfer is, in one line of a terminal.
struct ProgressLine {
    /// The cells of the bar.
    private static let barWidth = 24

    var received: Int64 = 0
    /// How many of them have come since the start; nil for all.
    var newlyReceived: Int64?
    /// How many bytes will come, if that is known.
    var toReceive: Int64?
    var sent: Int64 = 0
    /// How many bytes will be sent, if that is known.
    var toSend: Int64?

    /// The line.
    /// - Parameter elapsed: how long it took to come so far.
    func text(elapsed: Duration) -> String {
        let isSending = received == 0 && sent > 0
        let done = isSending ? sent : received
        let whole = isSending ? toSend : toReceive
        // The part that an earlier call has left took none of the time.
        let moved = isSending ? sent : newlyReceived ?? received
        let rate = Double(moved) / max(elapsed.inSeconds, 0.001)
        guard let whole, whole > 0 else { return "\(Self.size(done))  \(Self.size(Int64(rate)))/s" }
        let part = min(1, Double(done) / Double(whole))
        let cells = Int(part * Double(Self.barWidth))
        let bar =
            String(repeating: "#", count: cells)
            + String(repeating: "-", count: Self.barWidth - cells)
        let left = rate > 0 ? Self.time(Double(whole - min(done, whole)) / rate) : "--:--"
        return "[\(bar)] \(Int(part * 100)) %  \(Self.size(done)) of \(Self.size(whole))  "
            + "\(Self.size(Int64(rate)))/s  \(left)"
    }

    /// A number of bytes in the unit that suits it.
    static func size(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(bytes) B" }
        var value = Double(bytes)
        var unit = ""
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 {
            value /= 1024
            unit = next
        }
        let tenths = Int(value * 10)
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }

    /// Seconds as minutes and seconds, with hours where there are some.
    static func time(_ seconds: Double) -> String {
        guard seconds < 360_000 else { return "--:--" }
        let all = Int(seconds.rounded(.up))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let end = "\(two(all / 60 % 60)):\(two(all % 60))"
        return all < 3600 ? end : "\(all / 3600):\(end)"
    }
}

extension Duration {
    /// The same as a number of seconds.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

/// The progress of a transfer, in one line of a terminal.
struct ProgressLine {
    /// The cells of the bar.
    private static let barWidth = 24

    var received: Int64 = 0
    /// The number of bytes that this call has received; `nil` if that is all of `received`.
    var newlyReceived: Int64?
    /// The number of bytes of the whole content, if known.
    var toReceive: Int64?
    var sent: Int64 = 0
    /// The number of bytes to send, if known.
    var toSend: Int64?

    /// The line.
    /// - Parameter elapsed: the time since the start of the transfer.
    func text(elapsed: Duration) -> String {
        let isSending = received == 0 && sent > 0
        let done = isSending ? sent : received
        let whole = isSending ? toSend : toReceive
        // The bytes that an earlier call has received took none of the time.
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

    /// A number of bytes, in a unit that fits its size.
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

    /// Seconds as minutes and seconds, with hours from one hour on.
    static func time(_ seconds: Double) -> String {
        guard seconds < 360_000 else { return "--:--" }
        let all = Int(seconds.rounded(.up))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let end = "\(two(all / 60 % 60)):\(two(all % 60))"
        return all < 3600 ? end : "\(all / 3600):\(end)"
    }
}

extension Duration {
    /// The duration as a number of seconds.
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}

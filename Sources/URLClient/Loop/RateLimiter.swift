/// Keeps a flow of bytes to a rate, as a value: the caller says how many have come and is given the
/// time at which more may come.
package struct RateLimiter: Sendable {
    private let bytesPerSecond: Int64
    /// When all bytes so far would have come at the rate, in nanoseconds.
    private var due: Int64?

    /// The longest delay of the caller that is made up for: pauses end some milliseconds late.
    private static let catchingUp: Int64 = 200_000_000

    /// - Parameter bytesPerSecond: the rate; less than 1 counts as 1.
    package init(bytesPerSecond: Int64) { self.bytesPerSecond = max(1, bytesPerSecond) }

    /// Bytes have come.
    /// - Parameters:
    ///   - count: how many.
    ///   - now: when, in nanoseconds.
    /// - Returns: the time until which nothing more may come; nil if more may come at once.
    package mutating func add(_ count: Int, at now: Int64) -> Int64? {
        let start = max(due ?? now, now - Self.catchingUp)
        // No piece has 1 GiB; the limits keep the sum from overflowing.
        let time = Int64(min(count, 1 << 30)) * 1_000_000_000 / bytesPerSecond
        let end = min(start, 1 << 62) + time
        due = end
        return end > now ? end : nil
    }
}

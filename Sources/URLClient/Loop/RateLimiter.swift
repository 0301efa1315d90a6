/// Limits a flow of bytes to a rate. The caller reports received bytes, and gets the time from
/// which more may be received.
package struct RateLimiter: Sendable {
    private let bytesPerSecond: Int64
    /// When all bytes so far would have been received at the rate, in nanoseconds of the caller's
    /// clock.
    private var due: Int64?

    /// The longest delay that later bytes may make up for, in nanoseconds. Pauses end some
    /// milliseconds late.
    private static let catchingUp: Int64 = 200_000_000

    /// - Parameter bytesPerSecond: the rate; less than 1 counts as 1.
    package init(bytesPerSecond: Int64) { self.bytesPerSecond = max(1, bytesPerSecond) }

    /// Counts received bytes.
    /// - Parameters:
    ///   - count: the number of bytes.
    ///   - now: the current time, in nanoseconds.
    /// - Returns: the time until which receiving must pause; nil if more may be received
    ///   immediately.
    package mutating func add(_ count: Int, at now: Int64) -> Int64? {
        let start = max(due ?? now, now - Self.catchingUp)
        // No piece is as long as 1 GiB. The limits prevent an overflow of the sum.
        let time = Int64(min(count, 1 << 30)) * 1_000_000_000 / bytesPerSecond
        let end = min(start, 1 << 62) + time
        due = end
        return end > now ? end : nil
    }
}

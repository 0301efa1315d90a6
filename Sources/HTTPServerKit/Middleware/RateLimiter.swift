internal import ToolkitSystem

/// Limits the rate of requests with a token bucket for each client. A bucket holds `burst` tokens
/// and gets a new one every `interval`.
///
/// A bucket is stored as one number, the time at which it will be full again (the generic cell rate
/// algorithm). Unused buckets are forgotten: there are two generations of at most `capacity`
/// buckets, and the old one is dropped when the young one is full.
final class RateLimiter: Sendable {
    private struct Buckets: Sendable {
        var young: [PeerNetwork: UInt64] = [:]
        var old: [PeerNetwork: UInt64] = [:]
    }

    /// The nanoseconds between two new tokens.
    private let interval: UInt64
    /// The time that an empty bucket takes to become full, in nanoseconds.
    private let tolerance: UInt64
    private let capacity: Int
    private let buckets = Locked(Buckets())

    init(interval: UInt64, burst: Int, capacity: Int) {
        self.interval = max(interval, 1)
        let (whole, overflows) = self.interval.multipliedReportingOverflow(
            by: UInt64(max(burst, 1)))
        tolerance = overflows ? .max >> 1 : min(whole, .max >> 1)
        self.capacity = max(capacity, 1)
    }

    /// Takes a token.
    /// - Parameter now: the time of a monotonic clock, in nanoseconds.
    /// - Returns: `nil` if a token was taken, else the nanoseconds until the next token.
    func take(_ client: PeerNetwork, now: UInt64) -> UInt64? {
        buckets.withLock { buckets in
            let full = max(buckets.young[client] ?? buckets.old[client] ?? 0, now)
            let next = full + interval
            let wait = next - now > tolerance ? next - now - tolerance : nil
            if wait != nil, buckets.young[client] != nil { return wait }
            // A refused client's bucket also moves to the young generation, so that it is not
            // forgotten.
            if buckets.young.count >= capacity, buckets.young[client] == nil {
                buckets.old = buckets.young
                buckets.young = [:]
            }
            buckets.young[client] = wait == nil ? next : full
            return wait
        }
    }

    /// The number of buckets. A bucket in both generations counts twice.
    var count: Int { buckets.withLock { $0.young.count + $0.old.count } }
}

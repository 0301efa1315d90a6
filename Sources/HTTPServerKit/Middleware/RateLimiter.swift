internal import ToolkitSystem

/// Counts what clients ask for, by a token bucket each: a client may take `burst` at once, and gets
/// new ones at a steady rate.
///
/// A bucket is one number, the time at which it will be full again (the generic cell rate
/// algorithm). Buckets that are not asked for are forgotten: there are two generations of at most
/// `capacity`, and the older one goes when the younger one is full.
final class RateLimiter: Sendable {
    private struct Buckets: Sendable {
        var young: [PeerNetwork: UInt64] = [:]
        var old: [PeerNetwork: UInt64] = [:]
    }

    /// Nanoseconds in which one token comes.
    private let interval: UInt64
    /// How far ahead of now a bucket may be.
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
    /// - Parameter now: nanoseconds of a clock that only goes forward.
    /// - Returns: `nil`, or how many nanoseconds to wait for the next one.
    func take(_ client: PeerNetwork, now: UInt64) -> UInt64? {
        buckets.withLock { buckets in
            let full = max(buckets.young[client] ?? buckets.old[client] ?? 0, now)
            let next = full + interval
            let wait = next - now > tolerance ? next - now - tolerance : nil
            if wait != nil, buckets.young[client] != nil { return wait }
            // A refused client gets a young bucket as well: it must not be forgotten.
            if buckets.young.count >= capacity, buckets.young[client] == nil {
                buckets.old = buckets.young
                buckets.young = [:]
            }
            buckets.young[client] = wait == nil ? next : full
            return wait
        }
    }

    /// How many buckets there are.
    var count: Int { buckets.withLock { $0.young.count + $0.old.count } }
}

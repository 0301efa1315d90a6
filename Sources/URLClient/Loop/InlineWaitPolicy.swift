internal import ToolkitSystem

/// Decides whether the calling thread should briefly wait for a response itself instead of being
/// woken later.
package struct InlineWaitPolicy {
    /// A thread waits only if responses take no longer than this, in nanoseconds; 0 to never wait.
    let limit: Int64
    /// Whether the thread sleeps while it waits; otherwise it polls.
    let blocks: Bool
    /// The longest wait, in nanoseconds. It is much longer than `limit` if the thread sleeps: a
    /// timer that expires before the kernel next checks its clock would have to be set and
    /// cancelled for each response, which costs more than the rest of the wait.
    var longest: Int64 { blocks ? min(limit * 40, 10_000_000) : limit }
    /// A moving average of the response times, in nanoseconds; nil before the first response.
    private var average: Int64?
    private var failures = 0
    /// How many of the next waits are skipped, because earlier ones did not pay off.
    private var skips = 0

    package init(_ limit: Duration, blocks: Bool, average: Int64? = nil) {
        self.average = average
        self.blocks = blocks
        self.limit = min(limit.nanoseconds, 10_000_000)
    }

    /// Whether waits have paid off recently. Reading this advances the back-off: after a wait that
    /// did not pay off, the next few reads return false.
    var isHopeful: Bool {
        mutating get {
            guard limit > 0 else { return false }
            guard skips > 0 else { return true }
            skips -= 1
            return false
        }
    }

    /// Whether the calling thread should wait. Reading this advances the back-off.
    ///
    /// Without polling, both sides sleep, and waking them can double the response time. Polling is
    /// therefore tried with responses that have taken up to twice the limit.
    package var isWorthwhile: Bool {
        mutating get {
            guard let average, average < (blocks ? limit : limit * 2), !SystemThread.isMain
            else { return false }
            return isHopeful
        }
    }

    package mutating func note(answer nanoseconds: Int64) {
        average = average.map { $0 / 4 * 3 + nanoseconds / 4 } ?? nanoseconds
    }

    package mutating func note(isRewarded: Bool) {
        failures = isRewarded ? 0 : min(failures + 1, 10)
        skips = isRewarded ? 0 : 4 << failures
    }
}

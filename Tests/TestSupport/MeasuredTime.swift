#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The processor time of the calling thread: what else the machine does is no part of it.
package enum ThreadTime {
    private static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Duration.seconds(time.tv_sec) + Duration.nanoseconds(time.tv_nsec)
    }

    /// How long this thread is busy with some work.
    package static func measure(_ work: () throws -> Void) rethrows -> Duration {
        let start = now
        try work()
        return now - start
    }
}

/// Whether some work takes less than a limit, once in some attempts: other tests run beside it.
package func takesLess(
    than limit: Duration, attempts: Int = 3, _ work: () async throws -> Void
) async throws -> Bool {
    for _ in 0..<attempts {
        let start = ContinuousClock.now
        try await work()
        if ContinuousClock.now - start < limit { return true }
    }
    return false
}

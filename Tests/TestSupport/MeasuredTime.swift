#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The processor time of the calling thread. Other work of the machine does not count.
package enum ThreadTime {
    private static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Duration.seconds(time.tv_sec) + Duration.nanoseconds(time.tv_nsec)
    }

    /// The processor time that this thread spends on some work.
    package static func measure(_ work: () throws -> Void) rethrows -> Duration {
        let start = now
        try work()
        return now - start
    }
}

/// Whether some work takes less than a limit in at least one of several attempts, because other
/// tests run at the same time.
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

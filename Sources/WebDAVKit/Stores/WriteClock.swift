internal import HTTPCodecs
internal import HTTPServerCore

/// Times of changes that no two files have in common.
///
/// A file system's clock stands still for some milliseconds, in which a file may be replaced more
/// than once and get an inode back that it had: its tag would be that of older content.
enum WriteClock {
    private static let last = Locked<Int64>(0)

    /// Now, and later than the time before.
    static func next() -> (seconds: Int64, nanoseconds: Int64) {
        let now = Syscalls.realtime()
        let time = last.withLock { last in
            last = max(last + 1, now.seconds * 1_000_000_000 + now.nanoseconds)
            return last
        }
        return (time / 1_000_000_000, time % 1_000_000_000)
    }
}

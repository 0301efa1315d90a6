internal import HTTPServerCore
internal import Synchronization
internal import ToolkitSystem

/// Generates unique modification times, so that two versions of a file never share an entity tag.
///
/// A file system's clock may not advance for some milliseconds. In that time a file may be replaced
/// more than once and get an earlier inode again: it would get the tag of older content. If no
/// inode can be reused, the file system's own time is good enough.
package final class UniqueTimestamps: Sendable {
    private let last = Locked<Int64>(0)
    private let removals = Atomic(0)
    private let lastRemoval = Atomic<UInt64>(0)
    private let stillness: UInt64
    /// The clock of a test; `nil` for the system's clock.
    private let clock: (@Sendable () -> (seconds: Int64, nanoseconds: Int64))?
    /// How far a result may be ahead of the clock, in nanoseconds.
    private static let longestLead: Int64 = 1_000_000_000

    /// Shared, because several stores may use one folder.
    package static let shared = UniqueTimestamps()

    /// - Parameters:
    ///   - stillness: the longest time for which such a clock does not advance, in nanoseconds.
    ///   - clock: returns the current time; `nil` for the system's clock.
    package init(
        stillness: UInt64 = 100_000_000,
        clock: (@Sendable () -> (seconds: Int64, nanoseconds: Int64))? = nil
    ) {
        self.stillness = stillness
        self.clock = clock
    }

    /// The current time, later than the previous result. If the clock was set back by more than a
    /// second, it is the clock's time, so that files do not get a wrong time until then.
    func next() -> (seconds: Int64, nanoseconds: Int64) {
        let now = clock?() ?? Syscalls.realtime()
        let current = now.seconds * 1_000_000_000 + now.nanoseconds
        let time = last.withLock { last in
            last = last - current > Self.longestLead ? current : max(last + 1, current)
            return last
        }
        return (time / 1_000_000_000, time % 1_000_000_000)
    }

    /// Runs a body that removes files, whose inodes may then be reused.
    func removing<Result, Fault: Error>(
        _ body: () throws(Fault) -> Result
    ) throws(Fault) -> Result {
        removals.add(1, ordering: .sequentiallyConsistent)
        defer {
            lastRemoval.store(Syscalls.monotonic(), ordering: .sequentiallyConsistent)
            removals.subtract(1, ordering: .sequentiallyConsistent)
        }
        return try body()
    }

    /// Renames a file over another one, which is removed.
    func replace(
        _ target: FilePlace, by source: FilePlace
    ) throws(SystemError) {
        try removing { () throws(SystemError) in
            try source.directory.rename(source.name, to: target, .replacing)
        }
    }

    /// Whether a new file may get the inode of one that was just removed.
    package var mayRepeat: Bool {
        if removals.load(ordering: .sequentiallyConsistent) > 0 { return true }
        let last = lastRemoval.load(ordering: .sequentiallyConsistent)
        return last > 0 && Syscalls.monotonic() &- last < stillness
    }
}

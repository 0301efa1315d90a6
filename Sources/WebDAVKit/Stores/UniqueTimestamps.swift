internal import HTTPServerCore
internal import Synchronization
internal import ToolkitSystem

/// Generates unique modification times, so that two versions of a file never share an entity tag.
///
/// A file system's clock stands still for some milliseconds. Within them a file may be replaced
/// more than once and get back an earlier inode: its tag would be that of older content. Where no
/// inode can be reused, the file system's own time is good enough.
package final class UniqueTimestamps: Sendable {
    private let last = Locked<Int64>(0)
    private let removals = Atomic(0)
    private let lastRemoval = Atomic<UInt64>(0)
    private let stillness: UInt64

    /// Shared, because several stores may use one folder.
    package static let shared = UniqueTimestamps()

    /// - Parameter stillness: the longest time that any such clock stands still, in nanoseconds.
    package init(stillness: UInt64 = 100_000_000) {
        self.stillness = stillness
    }

    /// The current time, later than the previous result.
    func next() -> (seconds: Int64, nanoseconds: Int64) {
        let now = Syscalls.realtime()
        let time = last.withLock { last in
            last = max(last + 1, now.seconds * 1_000_000_000 + now.nanoseconds)
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

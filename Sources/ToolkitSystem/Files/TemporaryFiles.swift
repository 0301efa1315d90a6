/// Counts the temporary files and folders of this process that still exist. A server that stops
/// waits for their removal, because the process may end right afterwards.
package enum TemporaryFiles {
    private static let count = Locked(0)
    private static let changes = EventCount()
    /// Folders that were swept already.
    private static let swept = Locked<Set<String>>([])

    /// The age in seconds from which files that another process has left count as abandoned.
    package static let age: Int64 = 86_400

    /// Counts a file or folder that was created.
    package static func made() {
        count.withLock { $0 += 1 }
    }

    /// Subtracts a file or folder that was removed, or is no longer temporary.
    package static func ended() {
        count.withLock { $0 -= 1 }
        changes.advance()
    }

    /// Runs a removal outside of the event loop: removing a large file takes a while.
    package static func remove(_ body: @escaping @Sendable () -> Void) {
        BlockingPool.files.submit {
            body()
            ended()
        }
    }

    /// Waits until none is left, or until `end`, because the program may keep some.
    package static func waitForRemovals(until end: ContinuousClock.Instant) async {
        while true {
            let known = changes.count
            guard count.withLock({ $0 > 0 }), end > .now else { return }
            await changes.wait(for: known + 1, until: end)
        }
    }

    /// Removes the folders that earlier processes have left, in the background and once for each
    /// parent.
    package static func sweep(below parent: String?) {
        let path = Syscalls.temporaryParent(parent)
        let isNew = swept.withLock { $0.count < 64 && $0.insert(path).inserted }
        guard isNew else { return }
        BlockingPool.files.submit { Syscalls.sweepTemporaryFolders(below: path, olderThan: age) }
    }
}

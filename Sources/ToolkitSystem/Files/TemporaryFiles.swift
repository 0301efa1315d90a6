/// The temporary files and folders of this process that are still there. A server that stops waits
/// for them to be removed: the process may end right afterwards.
package enum TemporaryFiles {
    private static let count = Locked(0)
    private static let changes = EventCount()
    /// Folders that were swept already.
    private static let swept = Locked<Set<String>>([])

    /// How long what another process has left is not taken for abandoned, in seconds.
    package static let age: Int64 = 86_400

    /// One more is there.
    package static func made() {
        count.withLock { $0 += 1 }
    }

    /// One is no temporary file any more.
    package static func ended() {
        count.withLock { $0 -= 1 }
        changes.advance()
    }

    /// Removes one, outside of the event loop: to remove a large file takes a while.
    package static func remove(_ body: @escaping @Sendable () -> Void) {
        BlockingPool.files.submit {
            body()
            ended()
        }
    }

    /// Waits until all are gone, or the time is up: the program may keep some.
    package static func waitForRemovals(until end: ContinuousClock.Instant) async {
        while true {
            let known = changes.count
            guard count.withLock({ $0 > 0 }), end > .now else { return }
            await changes.wait(for: known + 1, until: end)
        }
    }

    /// Removes, some time soon, the folders that processes before this one have left, once for each
    /// parent.
    package static func sweep(below parent: String?) {
        let path = Syscalls.temporaryParent(parent)
        let isNew = swept.withLock { $0.count < 64 && $0.insert(path).inserted }
        guard isNew else { return }
        BlockingPool.files.submit { Syscalls.sweepTemporaryFolders(below: path, olderThan: age) }
    }
}

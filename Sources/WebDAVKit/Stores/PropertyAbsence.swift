internal import HTTPServerCore
package import ToolkitSystem

/// Files that were seen to have no dead properties, by which most members of a collection need not
/// be asked for them each time that it is listed.
///
/// To give a file a property changes the time of the last change of its status. So what was seen
/// holds as long as that time is the same; it counts only where the time was long past when it was
/// seen, so that a change just after it has another one, however coarse the file system's clock is.
package final class PropertyAbsence: Sendable {
    private struct Seen: Sendable {
        var inode: UInt64 = 0
        var changed: Int64 = 0
    }

    private static let slotCount = 1 << 14
    private static let coarsestClock: Int64 = 2

    private let slots = Locked<[Seen]>([])

    package init() {}

    /// Whether a file is known to have none.
    package func holds(_ status: FileStatus) -> Bool {
        let seen = Self.seen(status)
        return slots.withLock { slots in
            guard !slots.isEmpty else { return false }
            let slot = slots[Self.index(status)]
            return slot.inode == seen.inode && slot.changed == seen.changed
        }
    }

    /// Notes that a file has none.
    /// - Parameter now: seconds since the epoch at a time before it was looked at.
    package func note(_ status: FileStatus, now: Int64) {
        guard status.changedSeconds < now - Self.coarsestClock else { return }
        let seen = Self.seen(status)
        slots.withLock { slots in
            if slots.isEmpty { slots = [Seen](repeating: Seen(), count: Self.slotCount) }
            slots[Self.index(status)] = seen
        }
    }

    private static func index(_ status: FileStatus) -> Int {
        Int(truncatingIfNeeded: status.inode) & (slotCount - 1)
    }

    /// Inodes of other volumes are other ones.
    private static func seen(_ status: FileStatus) -> Seen {
        let changed = status.changedSeconds &* 1_000_000_000 &+ status.changedNanoseconds
        return Seen(inode: status.inode &+ status.device << 32, changed: changed)
    }
}
